"""Elements chosen by a mask.

NumPy branches at each element, which takes ten times as long where the mask has no pattern. Here
the bits of large operands are multiplied by the mask: that takes as long for all masks.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import InPlaceRows, Rows

Array = np.ndarray[Any, np.dtype[Any]]
LEAST_ELEMENTS: Final = 2**12
"""Elements of a mask below which three passes take longer than NumPy's one."""
MIXED_BYTES: Final = 4
"""Bytes of an element up to which three passes over memory pay."""
MASKED_BYTES: Final = 8
"""Bytes of an element up to which there are integers of its size."""


def _bits(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def _is_zero(x: Array) -> bool:
    """Whether this is one number, all of its bits 0."""
    return not any(x.strides) and x.size > 0 and not _bits(x).item(0)


def _choose(chosen: Array, x: Array, other: Array) -> Any:
    size = x.dtype.itemsize
    if chosen.size < LEAST_ELEMENTS or size > MASKED_BYTES:
        return np.where(chosen, x, other)
    if _is_zero(other):
        return _masked(chosen, x, other)
    if _is_zero(x):
        return _masked(~chosen, other, x)
    if size > MIXED_BYTES:
        return np.where(chosen, x, other)
    mixed = np.multiply(_bits(x) ^ _bits(other), chosen)
    return np.bitwise_xor(mixed, _bits(other), out=mixed).view(x.dtype)


def _masked(kept: Array, x: Array, zero: Array) -> Any:
    made = np.multiply(_bits(x), kept)
    if zero.ndim > made.ndim or zero.size > made.size:
        made = np.broadcast_to(made, np.broadcast_shapes(made.shape, zero.shape))
    return made.view(x.dtype)


def _choose_into_first(chosen: Array, x: Array, other: Array) -> Array:
    return _choose_into_second(~chosen, other, x)


def _choose_into_second(chosen: Array, x: Array, other: Array) -> Array:
    same = chosen.shape == other.shape and (x.shape == other.shape or x.size == 1)
    size = other.dtype.itemsize if other.size >= LEAST_ELEMENTS else MASKED_BYTES + 1
    if same and size <= MASKED_BYTES and _is_zero(x):
        there = _bits(other)
        there *= ~chosen
    elif same and size <= MIXED_BYTES:
        there = _bits(other)
        there ^= np.multiply(_bits(x) ^ there, chosen)
    elif same:
        np.putmask(other, chosen, x)  # faster than `copyto`, unless few are chosen
    else:
        np.copyto(other, x, where=chosen)
    return other


ROWS: Rows = {ops.select: _choose}
IN_PLACE: InPlaceRows = {ops.select: lambda: {2: _choose_into_second, 1: _choose_into_first}}
