"""Sets, counts and polynomials: computed at once, as the size of their results is data."""

from __future__ import annotations

import numpy as np

from lazytensor.frontends.numpy.functions.entry import Function, hosted

NAMES = (
    "bincount intersect1d polydiv "
    "polyfit polymul roots setdiff1d setxor1d union1d unique unique_all unique_counts "
    "unique_inverse unique_values"
)

HOST: dict[str, Function] = {name: hosted(name, getattr(np, name)) for name in NAMES.split()}
