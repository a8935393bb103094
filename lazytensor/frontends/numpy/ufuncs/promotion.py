"""Dtypes that can be lazy, and casts of nodes with NumPy's warnings."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core.ir.dtypes import STORED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.ops.casting import cast
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly

CANONICAL: Final = {dtype: dtype for dtype in STORED}
"""By dtype that can be lazy, in any spelling (`q`, `l`): the one object that nodes use."""

WEAK: Final[dict[Any, Any]] = {int: 0, float: 0.0, complex: 0j}
"""Python's number types, which adapt to the other operand's dtype."""

PYTHON_NUMBERS: Final[dict[Any, np.dtype]] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}
"""Python's number types, and the dtypes of arrays of them."""


def canonical(dtype: Any) -> np.dtype:
    """`dtype` as the dtype object that nodes use. Raises: HostOnly if XLA lacks it."""
    found = CANONICAL.get(dtype)
    if found is None:
        if dtype is None or not isinstance(dtype, np.dtype):
            return canonical(np.dtype(dtype))
        raise HostOnly(f"arrays of {dtype} are NumPy's own")
    return found


def supported(dtype: np.dtype) -> bool:
    """Whether arrays of this dtype can be lazy."""
    return dtype in CANONICAL


def is_special(x: Any) -> bool:
    """Whether `x` is of an array class of its own, so that NumPy determines its results."""
    if type(x) is np.ndarray or not isinstance(x, np.ndarray):
        return False
    priority: float = x.__array_priority__
    return priority >= 0  # `np.memmap` has a lower one, as its results are plain arrays


def host_leaf(array: np.ndarray) -> Node:
    """A leaf of a real array that is written to nowhere else. Raises: HostOnly."""
    dtype = canonical(array.dtype)
    return leaf(array if array.dtype is dtype else array.view(dtype))


def number(value: Any, dtype: np.dtype) -> Node:
    """A Python number as a scalar of `dtype`, checked and converted as NumPy does."""
    if type(value) is float and dtype.kind == "f" and dtype.itemsize == 8:
        return scalar(value, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return scalar(np.array(value, dtype).item() if dtype.kind != "V" else float(value), dtype)


def convert(node: Node, dtype: Any) -> Node:
    """`node` with its elements as `dtype`; `node` itself if they are already."""
    return cast(node, canonical(dtype))


def recast(node: Node, dtype: Any) -> Node:
    """`convert`, with NumPy's warning where an imaginary part is lost."""
    if node.type.dtype.kind == "c" and canonical(dtype).kind not in "cb":
        text = "Casting complex values to real discards the imaginary part"
        warn_user(text, np.exceptions.ComplexWarning)
    return convert(node, dtype)


given_warnings: Final = [0]
"""How often `warn_user` was called: a call that warns has no recipe, as it warns every time."""


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn at the user's line."""
    given_warnings[0] += 1
    place = user_place()
    if place is not None:
        warn_at(place, text, category)
