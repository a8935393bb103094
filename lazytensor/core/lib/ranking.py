"""Elements by their order: the largest few, medians, modes, running extremes, members of sets."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib.numbers import cast_to, is_inexact, whole
from lazytensor.core.ops.movement import part

Pair = tuple[Node, Node]


def places_along(x: Node, axis: int) -> Node:
    """For each element where it is on `axis`: s64."""
    return ops.iota(dtype=S64, shape=x.type.shape, axis=axis)


def ordered(x: Node, axis: int, descending: bool = False) -> Pair:
    """The elements in order, equal ones as they were, and where they were. NaN is the largest."""
    values, places = ops.sort(x, places_along(x, axis), axis=axis, descending=descending)
    return values, places


def first_ordered(x: Node, count: int, axis: int, descending: bool) -> Pair:
    """The first `count` of the elements in order, and where they were."""
    values, places = ordered(x, axis, descending)
    return part(values, axis, 0, count), part(places, axis, 0, count)


def _at(pair: Pair, axis: int, k: Node) -> Pair:
    """Number `k` of each line, which is data; the axis is dropped."""
    value, place = (_without(ops.take_along(x, k, axis=axis), axis) for x in pair)
    return value, place


def _without(x: Node, axis: int) -> Node:
    return ops.reshape(x, shape=(*x.type.shape[:axis], *x.type.shape[axis + 1 :]))


def kth_smallest(x: Node, k: int, axis: int) -> Pair:
    """The element that `k` others of its line go before, and its place; the axis is dropped."""
    value, place = (ops.at_index(t, axis, k) for t in ordered(x, axis))
    return value, place


def lower_median(x: Node, axis: int, skipping: bool) -> Pair:
    """The lower median of each line and its place: NaN if there is one that is not skipped."""
    n = x.type.shape[axis]
    if not is_inexact(x.type.dtype):
        return kth_smallest(x, (n - 1) // 2, axis)
    flags = cast_to(ops.is_nan(x), S64)
    missing = ops.kept(ops.reduce_sum(flags, axes=(axis,)), x, (axis,))
    counted = n - missing  # NaNs are last in order
    k = ops.maximum(counted - 1, whole(0)) / 2
    if not skipping:
        k = ops.select(ops.equal(missing, whole(0)), k, counted)
    return _at(ordered(x, axis), axis, k)


def mode(x: Node, axis: int) -> Pair:
    """The most frequent element, the least of several, and the last of its places."""
    values, places = ordered(x, axis)
    n = x.type.shape[axis]
    often = at = places_along(x, axis)
    if n > 1:
        differ = ops.not_equal(part(values, axis, 1, n - 1), part(values, axis, 0, n - 1))
        begins = ops.select(differ, part(at, axis, 1, n - 1), whole(0))
        first = part(at, axis, 0, 1)
        often = at - ops.cummax(ops.concatenate(first, begins, axis=axis), axis=axis)
    best = ops.kept(ops.argmax(often, axis=axis), x, (axis,))
    return _at((values, places), axis, best)


def running_extreme(op: Op, x: Node, axis: int) -> Pair:
    """`cummax` or `cummin`, and the last place so far of each extreme."""
    made = op(x, axis=axis)
    here = ops.equal(x, made)
    if is_inexact(x.type.dtype):
        here = here | ops.is_nan(x)
    places = ops.select(here, places_along(x, axis), whole(0))
    return made, ops.cummax(places, axis=axis)


def is_in(x: Node, among: Node) -> Node:
    """Which elements are elements of `among`, too; NaN never is. x, among: ordered, one dtype."""
    n = among.type.size
    if not n:
        return ops.broadcast(cast_to(False, BOOL), shape=x.type.shape)
    line = ops.sort(ops.reshape(among, shape=(n,)), axis=0)
    at = ops.searchsorted(line, x, side="left")
    nearest = ops.gather(line, ops.minimum(at, whole(n - 1)), axes=(0,))
    return ops.equal(nearest, x)


def unraveled(places: Node, shape: tuple[int, ...]) -> list[Node]:
    """For each axis of `shape` where the places, of the axes taken as one, are on it."""
    columns, rest = [], places
    for n in reversed(shape):
        size = whole(max(n, 1))
        columns.append(ops.remainder(rest, size))
        rest = rest / size
    return columns[::-1]


def true_places(x: Node, size: int, filling: int) -> Node:
    """The indices of the first `size` elements that are not 0, then `filling`: s64[size, ndim]."""
    flags = cast_to(ops.line(x), BOOL)
    count = ops.cumsum(cast_to(flags, S64), axis=0)
    wanted = ops.iota(dtype=S64, shape=(size,), axis=0)
    place = ops.bisect(count, wanted + 1, behind="not greater or equal")
    there = place < whole(x.type.size)
    columns = [ops.select(there, c, whole(filling)) for c in unraveled(place, x.type.shape)]
    if not columns:
        return ops.broadcast(whole(filling), shape=(size, 0))
    return ops.concatenate(*map(ops.new_axis, columns), axis=1)


def repeated_places(counts: Node, size: int) -> Node:
    """Each place as often as `counts` says, `size` in all: s64[size]. counts: s64[n]."""
    places = ops.iota(dtype=S64, shape=(size,), axis=0)
    return ops.bisect(ops.cumsum(counts, axis=0), places, behind="not greater")


def lined(x: Node, axes: tuple[int, ...]) -> Node:
    """`x` with `axes` joined into one last axis."""
    rest = tuple(i for i in range(x.type.ndim) if i not in axes)
    order = (*rest, *axes)
    if order != tuple(range(x.type.ndim)):
        x = ops.transpose(x, axes=order)
    shape = x.type.shape[: len(rest)]
    return ops.reshape(x, shape=(*shape, int(np.prod(x.type.shape[len(rest) :], dtype=np.int64))))


def interpolated(low: Node, high: Node, share: Node) -> Node:
    """From `low` to `high` by `share`, exactly at both ends. Their difference has their own dtype.

    low, high: numbers of one type. share: floats. Result: dtype of share.
    """
    one, half = (cast_to(value, share.type.dtype) for value in (1.0, 0.5))
    apart, low, high = (cast_to(x, share.type.dtype) for x in (high - low, low, high))
    up = low + apart * share
    down = high - apart * (one - share)
    return ops.select(share >= half, down, up)
