"""References of sorting and searching; on CPUs they are also what runs (see `backends`)."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.dtypes import BF16, F32, S64
from lazytensor.core.interpret import REFERENCES

Array = np.ndarray

_PROBED: Final = 256
"""Elements looked at to guess whether there are equal ones."""


def _key(x: Array) -> Array:
    """`x`, of a dtype that NumPy sorts with NaN last."""
    return x.astype(F32) if x.dtype == BF16 else x


def _sort(*xs: Array, axis: int, keys: int, descending: bool) -> Any:
    if len(xs) == 1 and xs[0].dtype != BF16:
        found = np.sort(xs[0], axis)
        return np.flip(found, axis) if descending else found
    order = _order(xs[:keys], axis, descending)
    results = tuple(np.take_along_axis(x, order, axis) for x in xs)
    return results if len(xs) > 1 else results[0]


def _order(keys: tuple[Array, ...], axis: int, descending: bool) -> Array:
    """Indices that sort by `keys`, the first one first, keeping the order of equal elements."""
    columns = [_key(x) for x in keys]
    if descending:  # backwards twice: once for the order, once so that equal elements keep theirs
        columns = [np.flip(x, axis) for x in columns]
    order = _argsort(columns[0], axis) if len(columns) == 1 else np.lexsort(columns[::-1], axis)
    return columns[0].shape[axis] - 1 - np.flip(order, axis) if descending else order


def _argsort(x: Array, axis: int) -> Array:
    """A stable argsort. NumPy sorts numbers by vector instructions, but only if unstable."""
    if x.dtype.itemsize <= 2:
        return np.argsort(_integers(x), axis, kind="stable")  # by digits
    if x.dtype.itemsize == 4:
        return _argsort_words(x, axis)
    if _has_equal(np.sort(x.ravel()[:: max(x.size // _PROBED, 1)])):
        return np.argsort(x, axis, kind="stable")
    order = np.argsort(x, axis)
    found = np.moveaxis(np.take_along_axis(x, order, axis), axis, -1)
    return np.argsort(x, axis, kind="stable") if _has_equal(found) else order


def _has_equal(sorted_lines: Array) -> bool:
    """Whether two neighbours are equal, or NaN both."""
    left, right = sorted_lines[..., :-1], sorted_lines[..., 1:]
    return bool(((left == right) | (left != left)).any())


def _argsort_words(x: Array, axis: int) -> Array:
    """Sort words whose high half is the key, and whose low half is the index."""
    words = _integers(x).astype(S64)
    words <<= 32
    places = np.arange(x.shape[axis])
    words |= places.reshape(-1, *(1,) * (x.ndim - axis - 1))
    words.sort(axis)
    words &= 2**32 - 1
    return words


def _integers(x: Array) -> Array:
    """Integers that order as `x` does, 0.0 and -0.0 being equal and NaN the last."""
    if x.dtype == np.uint32:
        return x.astype(S64) - 2**31
    if x.dtype.kind != "f":
        return x
    bits = (x + np.zeros((), x.dtype)).view(f"i{x.dtype.itemsize}")  # -0.0 + 0.0 is 0.0
    largest = np.iinfo(bits.dtype).max
    return np.where(x != x, largest, bits ^ ((bits >> (x.dtype.itemsize * 8 - 1)) & largest))


def _top_k(x: Array, *, k: int) -> tuple[Array, Array]:
    *outer, n = x.shape
    lines = _key(x).reshape(math.prod(outer), n)
    order = np.empty((len(lines), k), S64)
    for row, line in enumerate(lines):
        near = _largest(line, k) if 0 < 4 * k < n else np.arange(n)
        order[row] = near[_order((line[near],), 0, True)[:k]]
    order = order.reshape(*outer, k)
    return np.take_along_axis(x, order, -1), order


def _largest(line: Array, k: int) -> Array:
    """Ascending indices of at least the `k` largest of `line`, the first of equal ones."""
    bound = np.partition(line, len(line) - k)[len(line) - k]
    above = ~(line <= bound) if bound == bound else line != line
    return np.flatnonzero(above | (line == bound))


def _searchsorted(line: Array, values: Array, *, side: Any) -> Array:
    return np.searchsorted(_key(line), _key(values), side)


REFERENCES.update(
    {
        ops.sort: _sort,
        ops.argsort: lambda x, *, axis, descending: _order((x,), axis, descending),
        ops.top_k: _top_k,
        ops.searchsorted: _searchsorted,
    }
)
