"""Functions that run NumPy's own Python code over lazy arrays (see `rebound.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.functions.creation import empty
from lazytensor.frontends.numpy.functions.entry import Function, lazily
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly

NAMES = (
    "allclose angle append apply_along_axis apply_over_axes argwhere array_equal array_equiv "
    "array_split astype column_stack common_type corrcoef cov cumulative_prod cumulative_sum "
    "diag_indices_from dsplit dstack ediff1d expand_dims fix flatnonzero flip fliplr flipud hsplit "
    "hstack imag iscomplexobj isfortran isneginf isposinf isreal isrealobj ix_ logspace "
    "matrix_transpose meshgrid moveaxis nan_to_num piecewise polyadd polyder polyint polysub "
    "polyval real real_if_close rollaxis rot90 row_stack sinc size sort_complex split stack "
    "trapezoid tril_indices_from trim_zeros triu_indices_from unstack unwrap vsplit vstack"
)
WRITES_INTO_EMPTY = "delete insert vander"
"""Functions that write lazy arrays into an empty one."""

_real_poly = rebound("poly")


def poly(seq_of_zeros: Any) -> Any:
    """See numpy.poly. For complex zeros and for a matrix, the dtype depends on data."""
    node = operand(seq_of_zeros)
    if node.type.ndim > 1 or node.type.dtype.kind == "c":
        raise HostOnly("poly: the dtype is data")
    return _real_poly(seq_of_zeros)


LAZY: dict[str, Function] = {
    **{name: rebound(name) for name in NAMES.split() if hasattr(np, name)},
    **{name: rebound(name, empty=empty) for name in WRITES_INTO_EMPTY.split()},
    "block": rebound("block", "empty"),
    "iscomplex": rebound("iscomplex", "zeros"),
    "poly": lazily("poly", poly, np.poly),
    "select": rebound("select", "full"),
}
