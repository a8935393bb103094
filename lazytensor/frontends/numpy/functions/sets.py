"""Sets and counts: how many elements a result has is data, so these are computed at once."""

from __future__ import annotations

import numpy as np

from lazytensor.frontends.numpy.functions.entry import Function, hosted

HOST: dict[str, Function] = {
    name: hosted(name, getattr(np, name))
    for name in (
        "bincount histogram histogram2d histogram_bin_edges histogramdd intersect1d poly "
        "polydiv polyfit polymul roots setdiff1d "
        "setxor1d union1d unique unique_all unique_counts unique_inverse unique_values"
    ).split()
}
