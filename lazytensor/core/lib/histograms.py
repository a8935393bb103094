"""Numbers of elements, or their weights, in bins."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, filled, is_inexact, like, number, whole
from lazytensor.core.ops.movement import part


def counted(places: Node, inside: Node, weights: Node | None, bins: int) -> Node:
    """The number of elements in each of `bins` bins, s64, or the sum of their weights.

    places: s64[n]. inside: bools[n], which of them count. weights: numbers[n].
    """
    shares = cast_to(inside, S64) if weights is None else weights
    if weights is not None:
        shares = ops.select(inside, weights, like(0, weights))
    return ops.scatter(filled((bins,), 0, shares.type.dtype), shares, places, axes=(0,), mode="add")


def ends(edges: Node) -> tuple[Node, Node]:
    """The first and the last of the edges, 0-d."""
    return ops.at_index(edges, 0, 0), ops.at_index(edges, 0, edges.type.size - 1)


def bin_of(x: Node, edges: Node) -> tuple[Node, Node]:
    """The bin of each element, and whether it is in any. The last bin includes both its edges.

    x: ordered[n]. edges: dtype of x[bins + 1], rising. Result: s64[n], bools[n].
    """
    low, high = ends(edges)
    places = ops.searchsorted(edges, x, side="right") - 1
    last = whole(edges.type.size - 2)
    return ops.clamp(whole(0), places, last), (x >= low) & (x <= high)


def bin_of_even(x: Node, edges: Node) -> tuple[Node, Node]:
    """`bin_of` for evenly spaced edges: by arithmetic, moved by one where rounding has missed.

    x: floats[n]. edges: dtype of x[bins + 1].
    """
    low, high = ends(edges)
    n = edges.type.size - 1
    share = (x - low) / (high - low) * float(n)
    share = ops.select(ops.is_finite(share), share, like(0.0, x))
    zero, last = whole(0), whole(n - 1)
    place = ops.clamp(zero, cast_to(share, S64), last)
    below = x < ops.gather(edges, place, axes=(0,))
    place = place - cast_to(below, S64)
    following = ops.gather(edges, ops.maximum(place, zero) + 1, axes=(0,))
    above = (x >= following) & ops.not_equal(place, last)
    place = ops.clamp(zero, place + cast_to(above, S64), last)
    return place, (x >= low) & (x <= high)


def joint_bin(columns: Sequence[Node], edges: Sequence[Node]) -> tuple[Node, Node]:
    """The bin of each point among the bins of all axes, taken as one; whether it is in any."""
    place, inside = whole(0), number(True, BOOL)
    for column, line in zip(columns, edges, strict=True):
        found, fits = bin_of(column, line)
        place = place * (line.type.size - 1) + found
        inside = inside & fits
    return place, inside


def widths(edges: Node) -> Node:
    """The widths of the bins between the edges."""
    count = edges.type.size - 1
    return part(edges, 0, 1, count) - part(edges, 0, 0, count)


def over_widths(counts: Node, edges: Sequence[Node]) -> Node:
    """Counts of the bins of several axes, divided by the widths along each. floats."""
    for axis, line in enumerate(edges):
        sizes = tuple(line.type.size - 1 if i == axis else 1 for i in range(len(edges)))
        share = ops.reshape(widths(line), shape=sizes)
        counts = counts / cast_to(share, counts.type.dtype)
    return counts


def joint_histogram(columns: Sequence[Node], edges: Sequence[Node], weights: Node | None) -> Node:
    """The number of points in each bin of several axes, s64, or the sum of their weights.

    columns: the points' coordinates on each axis, ordered[n]. edges: of each axis, rising.
    Result: an axis for each of `edges`.
    """
    shape = tuple(line.type.size - 1 for line in edges)
    place, inside = joint_bin(columns, edges)
    return ops.reshape(counted(place, inside, weights, prod(shape)), shape=shape)


def widened_range(low: Node, high: Node, around: float) -> tuple[Node, Node]:
    """A range; one of a single value is widened by `around` on both sides."""
    same = ops.equal(low, high)
    apart = ops.select(same, like(around, low), like(0, low))
    return low - apart, high + apart


def even_edges(low: Node, high: Node, bins: int) -> Node:
    """The edges of equal bins, counted from both ends to the middle. low, high: floats, 0-d."""
    step = (high - low) / like(bins, low)
    places = ops.iota(dtype=S64, shape=(bins + 1,), axis=0)
    up, down = (cast_to(n, low.type.dtype) for n in (places, bins - places))
    return ops.select(places < (bins + 1) // 2, low + step * up, high - step * down)


def counted_evenly(x: Node, low: Node, high: Node, bins: int) -> Node:
    """The number of elements in each of equal bins from `low` to `high`, both included.

    x: s64 or floats[n]. low, high: dtype of x, 0-d. Result: s64[bins].
    """
    apart, span, count = x - low, high - low, like(bins, x)
    if is_inexact(x.type.dtype):
        places = cast_to(ops.floor(apart / span * count), S64)
    else:
        places = apart * count // span
    places = ops.clamp(whole(0), places, whole(bins - 1))
    return counted(places, (x >= low) & (x <= high), None, bins)
