"""References of sorting and searching; on CPUs they are also what runs (see `backends`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.dtypes import BF16, F32, S64, U64

Array = np.ndarray


def _key(x: Array) -> Array:
    """`x`, of a dtype that NumPy sorts with NaN last."""
    return x.astype(F32) if x.dtype == BF16 else x


def _sort(*xs: Array, axis: int, keys: int, descending: bool) -> Any:
    if len(xs) == 1 and xs[0].dtype != BF16:
        digits = xs[0].dtype.itemsize == 1  # a radix sort is much faster for bytes
        found = np.sort(xs[0], axis, kind="stable" if digits else None)
        return np.flip(found, axis) if descending else found
    order = _order(xs[:keys], axis, descending)
    results = tuple(np.take_along_axis(x, order, axis) for x in xs)
    return results if len(xs) > 1 else results[0]


def _order(keys: tuple[Array, ...], axis: int, descending: bool) -> Array:
    """Indices that sort by `keys`, the first one first, keeping the order of equal elements."""
    columns = [_key(x) for x in keys]
    if descending:  # flip before and after the sort, so that equal elements keep their order
        columns = [np.flip(x, axis) for x in columns]
    order = _argsort(columns[0], axis) if len(columns) == 1 else _lexsort(columns, axis)
    return columns[0].shape[axis] - 1 - np.flip(order, axis) if descending else order


def _lexsort(columns: list[Array], axis: int) -> Array:
    """A stable sort by each key, the last one first; by one key only if its values all differ."""
    telling = [x for x in columns if x.size and (x != x.flat[0]).any()] or columns[:1]
    order = _argsort(telling[0], axis)
    lines = np.moveaxis(np.take_along_axis(telling[0], order, axis), axis, -1)
    if len(telling) == 1 or not _has_equal(lines):
        return order
    order = _argsort(telling[-1], axis)
    for column in telling[-2::-1]:
        found = _argsort(np.take_along_axis(column, order, axis), axis)
        order = np.take_along_axis(order, found, axis)
    return order


def _has_equal(sorted_lines: Array) -> bool:
    """Whether two neighbours are equal or a NaN is there, which may equal another."""
    left, right = sorted_lines[..., :-1], sorted_lines[..., 1:]
    return bool(((left == right) | (left != left)).any())


def _argsort(x: Array, axis: int) -> Array:
    """A stable argsort: NumPy's own is several times slower than its vectorized sort of words."""
    if x.dtype.itemsize <= 2:
        return np.argsort(_integers(x), axis, kind="stable")  # a radix sort
    if not x.size:
        return np.zeros(x.shape, S64)
    lines = np.ascontiguousarray(np.moveaxis(_integers(x), axis, -1))
    order = np.moveaxis(_order_of_lines(lines), -1, axis)
    return np.ascontiguousarray(order)


def _order_of_lines(lines: Array) -> Array:
    """Indices that sort lines of integers along the last axis.

    It sorts words: the index in the low bits, and above it the key's upper bits that fit. Elements
    with equal words are then ordered by the key's other bits.
    """
    n = lines.shape[-1]
    keys = (lines.astype(S64, copy=False) - S64.type(lines.min())).view(U64)
    index = (n - 1).bit_length()
    left_out = max(int(keys.max()).bit_length() + index - 64, 0)
    words = keys >> U64.type(left_out)
    words <<= U64.type(index)
    words |= np.arange(n, dtype=U64)
    words.sort(-1)
    order: Array = (words & U64.type((1 << index) - 1)).view(S64)
    if left_out:
        words >>= U64.type(index)
        _order_ties(order, keys, words, left_out)
    return order


def _order_ties(order: Array, keys: Array, sorted_words: Array, left_out: int) -> None:
    """Rearrange, in place, runs of equal words by the `left_out` low bits of their keys."""
    same = np.zeros(order.shape, bool)
    np.equal(sorted_words[..., 1:], sorted_words[..., :-1], out=same[..., 1:])
    if not same.any():
        return
    member = same.copy()
    member[..., :-1] |= same[..., 1:]
    places = np.flatnonzero(member)
    n = order.shape[-1]
    found = order.reshape(-1)[places]
    low = keys.reshape(-1)[places // n * n + found] & U64.type((1 << left_out) - 1)
    runs = np.cumsum(~same.reshape(-1)[places]).astype(U64)
    count = (len(places) - 1).bit_length()
    if int(runs[-1]).bit_length() + left_out + count > 64:
        again = np.lexsort((low, runs))
    else:
        words = (runs << U64.type(left_out) | low) << U64.type(count)
        words |= np.arange(len(places), dtype=U64)
        words.sort()
        again = (words & U64.type((1 << count) - 1)).view(S64)
    order.reshape(-1)[places] = found[again]


def _integers(x: Array) -> Array:
    """Signed integers that order as `x` does, 0.0 and -0.0 being equal and NaN the last."""
    if x.dtype == U64:
        turned: Array = x ^ U64.type(2**63)
        return turned.view(S64)
    if x.dtype == np.uint32:
        return x.astype(S64)
    if x.dtype.kind != "f":
        return x
    bits = (x + np.zeros((), x.dtype)).view(f"i{x.dtype.itemsize}")  # -0.0 + 0.0 is 0.0
    largest = np.iinfo(bits.dtype).max
    return np.where(x != x, largest, bits ^ ((bits >> (x.dtype.itemsize * 8 - 1)) & largest))


def _order_statistics(x: Array, *, ranks: tuple[int, ...]) -> Array:
    """By partition, which is several times faster than a sort."""
    if x.dtype == BF16:
        return _order_statistics(_key(x), ranks=ranks).astype(BF16)
    found: Array = np.partition(x, sorted(set(ranks)), -1)[..., list(ranks)]
    return found


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
    """Ascending indices of the `k` largest of `line`, and of all others equal to the least."""
    bound = np.partition(line, len(line) - k)[len(line) - k]
    above = ~(line <= bound) if bound == bound else line != line
    return np.flatnonzero(above | (line == bound))


def _searchsorted(line: Array, values: Array, *, side: Any) -> Array:
    return np.searchsorted(_key(line), _key(values), side)


ROWS: Rows = {
    ops.sort: _sort,
    ops.argsort: lambda x, *, axis, descending: _order((x,), axis, descending),
    ops.order_statistics: _order_statistics,
    ops.top_k: _top_k,
    ops.searchsorted: _searchsorted,
}
