"""Functions that run as NumPy's own Python over lazy arrays (see `rebound.py`)."""

from __future__ import annotations

import numpy as np

from lazytensor.frontends.numpy.functions.creation import empty
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.rebound import rebound

NAMES = (
    "allclose angle apply_along_axis apply_over_axes array_equal array_equiv array_split "
    "common_type diag_indices_from dsplit ediff1d fix flip fliplr flipud hsplit iscomplexobj "
    "isrealobj nan_to_num piecewise polyadd polyder polyint polysub polyval real_if_close "
    "rollaxis rot90 row_stack sinc split trapezoid tril_indices_from trim_zeros triu_indices_from "
    "unstack unwrap vsplit"
)
WRITING = "delete insert vander"
"""They write lazy arrays into an empty one."""

LAZY: dict[str, Function] = {
    **{name: rebound(name) for name in NAMES.split() if hasattr(np, name)},
    **{name: rebound(name, empty=empty) for name in WRITING.split()},
    "block": rebound("block", "empty"),
}
