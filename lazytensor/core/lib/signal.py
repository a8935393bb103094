"""Lines of evenly spaced numbers: differences, slopes, interpolation, convolution."""

from __future__ import annotations

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import COMPLEX, NUMBERS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, like
from lazytensor.core.ops.movement import part


def spaced(first: Node, last: Node, step: Node, count: int, exact: bool) -> Node:
    """`first + i * step` for each i below `count`, along a new first axis.

    first, last, step: numbers of one type. exact: the final number is `last`.
    """
    dtype, rank = first.type.dtype, first.type.ndim
    if count == 1:
        return ops.new_axis(first, 0)
    places = ops.iota(dtype=dtype, shape=(count, *[1] * rank), axis=0)
    made = places * step + first
    if not exact:
        return made
    return ops.select(ops.equal(places, like(count - 1, places)), last, made)


def spaced_from_both_ends(first: Node, last: Node, step: Node, count: int) -> Node:
    """`count` numbers from `first` to `last`, 0-d: each half is counted from its own end."""
    index = ops.iota(dtype=S64, shape=(count,), axis=0)
    places = cast_to(index, first.type.dtype)
    rising = first + step * places
    if count == 1:
        return rising
    falling = last - step * (like(count - 1, places) - places)
    return ops.select(index < count // 2, rising, falling)


def central_slopes(x: Node, distance: Node, twice: Node, axis: int) -> Node:
    """Central differences over twice the distance of neighbours; one-sided ones at both ends.

    x: floats or complex, two elements or more along the axis. distance, twice: dtype of x, 0-d.
    """
    n = x.type.shape[axis]
    ends = (part(x, axis, 0, 2), part(x, axis, n - 2, 2))
    first, last = ((part(y, axis, 1, 1) - part(y, axis, 0, 1)) / distance for y in ends)
    if n == 2:
        return ops.concatenate(first, last, axis=axis)
    inside = (part(x, axis, 2, n - 2) - part(x, axis, 0, n - 2)) / twice
    return ops.concatenate(first, inside, last, axis=axis)


def interpolated_line(x: Node, xp: Node, fp: Node, low: Node, high: Node) -> Node:
    """Linear interpolation between the points (xp, fp), with numbers beyond both ends.

    x, xp: f64. fp, low, high: f64 or c128. Result: dtype of fp, shape of x.
    """
    if fp.type.dtype in COMPLEX:
        parts = ([of(n) for n in (fp, low, high)] for of in (ops.real, ops.imag))
        return ops.complex_(*(interpolated_line(x, xp, *three) for three in parts))
    return ops.reshape(ops.interp(x, xp, fp, low, high), shape=x.type.shape)


def slid_products(x: Node, y: Node, low: int, high: int) -> Node:
    """Inner products of the line `y` with the windows of `x`, with zeros around it.

    x, y: lines of one dtype; flags are counted. Result: dtype of x.
    """
    dtype = x.type.dtype
    if dtype not in NUMBERS:
        x, y = cast_to(x, S64), cast_to(y, S64)
    data, kernel = (ops.reshape(t, shape=(1, 1, t.type.size)) for t in (x, y))
    total = ops.convolution(data, kernel, strides=(1,), padding=((low, high),))
    return cast_to(ops.line(total), dtype)
