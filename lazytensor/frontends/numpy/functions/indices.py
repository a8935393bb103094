"""Arrays of indices: checked and made non-negative, at once if they are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.arrays.conversion import operand
from lazytensor.frontends.numpy.ufuncs.promotion import convert, host_leaf

CAST = "Cannot cast array data from {!r} to dtype('int64') according to the rule 'safe'"


def known(x: Any) -> np.ndarray | None:
    """The value of an array-like, if it is known without computing."""
    if not issubclass(type(x), Lazy):
        return np.asarray(x)
    value = x.node.value
    if value is None or not isinstance(value, np.ndarray | int | float | bool):
        return None
    return np.asarray(value)


def whole(x: Any) -> Any:
    """`x` as an array of integers. Raises: TypeError."""
    array = x if issubclass(type(x), Lazy) else np.asarray(x)
    if array.size == 0 and not issubclass(type(x), Lazy | np.ndarray):
        return np.asarray(x, np.int64)
    if array.dtype.kind not in "iub":
        raise TypeError(CAST.format(array.dtype))
    return array


def within(x: Any, n: int, mode: str = "raise", text: str = "", error: Any = IndexError) -> Node:
    """Indices into `n` elements as s64 from 0 to n - 1; `mode` as in `numpy.take`.

    Out-of-range indices raise `error` at once if they are known, else when they are computed.
    """
    x = whole(x)
    text = text or f"index is out of bounds for an axis of size {n}"
    value = known(x)
    if value is not None:
        return host_leaf(_host_within(value.astype(np.int64), n, mode, text, error))
    node = convert(operand(x), S64)
    made = bounded(node, n, mode)
    if made is not None:
        return made
    zero, length = scalar(0, S64), scalar(n, S64)
    _check_mode(mode)
    low = node >= -n
    fine = every(low & (node < length))
    found = ops.select(node < zero, node + length, node)
    inside = ops.clamp(zero, found, scalar(max(n - 1, 0), S64))  # read before the guard
    return ops.guarded(inside, ops.guard(fine, error=error, text=text))


def bounded(node: Node, n: int, mode: str) -> Node | None:
    """Indices into `n` elements, brought into range by mode wrap or clip; None for other modes."""
    if mode == "wrap":
        return node % n
    if mode == "clip":
        return ops.clamp(scalar(0, S64), node, scalar(n - 1, S64))
    return None


def every(node: Node) -> Node:
    """Whether all elements are true."""
    return ops.reduce_and(convert(node, BOOL), axes=tuple(range(node.type.ndim)))


def _host_within(value: np.ndarray, n: int, mode: str, text: str, error: Any) -> np.ndarray:
    if mode == "wrap":
        return np.asarray(np.mod(value, n)) if n else value
    if mode == "clip":
        return np.asarray(np.minimum(np.maximum(value, 0), max(n - 1, 0)))
    _check_mode(mode)
    if ((value < -n) | (value >= n)).any():
        raise error(text)
    return np.where(value < 0, value + n, value)


def _check_mode(mode: Any) -> None:
    if mode != "raise":
        np.take([1], [0], mode=mode)  # raises
