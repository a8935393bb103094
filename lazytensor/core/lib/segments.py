"""Reductions of neighbouring elements, by the lengths of segments or by where they begin."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node
from lazytensor.core.ir.dtypes import F32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, filled, like, whole
from lazytensor.core.ops.movement import part

IDENTITIES: Final[dict[str, tuple[str, float]]] = {
    "sum": ("add", 0.0),
    "mean": ("add", 0.0),
    "prod": ("mul", 1.0),
    "max": ("max", -np.inf),
    "amax": ("max", -np.inf),
    "min": ("min", np.inf),
    "amin": ("min", np.inf),
}
"""Per reduction: the mode of scattering, and what an empty segment gives."""


class _Segments(NamedTuple):
    """Segments along an axis. `places`: the segment of each element of the data.

    `inside`: whether an element is in any segment, [..., n, 1, ...]. `lengths`: number of elements
    of each segment, [..., s, 1, ...].
    """

    places: list[Node]
    inside: Node
    lengths: Node

    def of(self, x: Node) -> Node:
        """For each element of the data, what `x` has for its segment."""
        return ops.gather(x, *self.places, axes=tuple(range(len(self.places))))

    def combined(self, start: Node, values: Node, mode: str) -> Node:
        """`start`, an element each segment, with the values in it brought in."""
        axes = tuple(range(len(self.places)))
        return ops.scatter(start, values, *self.places, axes=axes, mode=mode)


def _segments(data: Node, bounds: Node, offsets: bool) -> _Segments:
    """`bounds`: lengths s64[..., s], or offsets s64[..., s + 1]."""
    axis = bounds.type.ndim - 1
    outer, n = data.type.shape[:axis], data.type.shape[axis]
    if offsets:
        count = bounds.type.shape[axis] - 1
        first, ends = part(bounds, axis, 0, count), part(bounds, axis, 1, count)
        lengths = ends - first
    else:
        count, lengths, ends = bounds.type.shape[axis], bounds, ops.cumsum(bounds, axis=axis)
        first = ends - lengths
    here = ops.iota(dtype=S64, shape=(*outer, n), axis=axis)
    found = ops.bisect(ends, here, behind="not greater")
    if count:
        begun = ops.take_along(first, ops.minimum(found, whole(count - 1)), axis=axis)
        inside = (found < count) & (here >= begun)
    else:
        inside = filled(here.type.shape, False, np.dtype(bool))
    at = ops.select(inside, found, whole(count))  # dropped
    places = [ops.iota(dtype=S64, shape=here.type.shape, axis=i) for i in range(axis)]
    ones = (1,) * (data.type.ndim - axis - 1)
    return _Segments(
        [*places, at],
        ops.reshape(inside, shape=(*inside.type.shape, *ones)),
        ops.reshape(lengths, shape=(*outer, count, *ones)),
    )


def _wide(x: Node) -> Node:
    """In f32 at least: what is added up of 16 bits would be rounded each time."""
    return cast_to(x, F32) if x.type.dtype.itemsize < 4 else x


@one_node
def segment_reduce(
    data: Node, bounds: Node, initial: Node, *, reduce: str, offsets: bool, given: bool
) -> Node:
    """The sum, mean, product or extreme of each segment along the last axis of `bounds`.

    data: floats[..., n, ...]. bounds: s64, lengths [..., s] or, with `offsets`, where segments
    begin and end [..., s + 1]. initial: 0-d, what each segment begins with; `given`: also the
    mean of an empty one. reduce: a name of `IDENTITIES`. Result: dtype of data[..., s, ...].
    """
    segments = _segments(data, bounds, offsets)
    axis = bounds.type.ndim - 1
    count = segments.lengths.type.shape[axis]
    shape = (*data.type.shape[:axis], count, *data.type.shape[axis + 1 :])
    values = _wide(data)
    start = ops.broadcast(cast_to(initial, values.type.dtype), shape=shape)
    made = segments.combined(start, values, IDENTITIES[reduce][0])
    if reduce == "mean":
        length = cast_to(segments.lengths, values.type.dtype)
        empty = ops.equal(length, like(0, length))
        made = made / ops.select(empty, like(1, length), length)
        if not given:
            made = ops.select(empty, like(np.nan, made), made)
    return cast_to(made, data.type.dtype)


def _without_one(data: Node, segments: _Segments, initial: Node, shape: tuple[int, ...]) -> Node:
    """For elements that are zero or NaN, the product of all others of the segment."""
    zero, nan = ops.equal(data, like(0, data)), ops.is_nan(data)
    one = like(1, data)
    plain = ops.select(zero | nan, one, data)
    made = segments.of(
        segments.combined(
            ops.broadcast(cast_to(initial, data.type.dtype), shape=shape), plain, "mul"
        )
    )
    for flags, factor in ((zero, 0.0), (nan, np.nan)):
        numbers = cast_to(flags, S64)
        all_ = segments.of(segments.combined(filled(shape, 0, S64), numbers, "add"))
        others = all_ - numbers > 0
        made = made * ops.select(others, like(factor, data), one)
    return made


@one_node
def segment_reduce_backward(
    grad: Node, output: Node, data: Node, bounds: Node, initial: Node, *, reduce: str,
    offsets: bool,
) -> Node:  # fmt: skip
    """The gradient of `segment_reduce`, whose result was `output`, at `data`, times `grad`."""
    segments = _segments(data, bounds, offsets)
    if not output.type.size:
        return filled(data.type.shape, 0, grad.type.dtype)
    mode = IDENTITIES[reduce][0]
    change = segments.of(grad)
    if reduce == "mean":
        length = ops.broadcast(cast_to(segments.lengths, grad.type.dtype), shape=output.type.shape)
        change = change / segments.of(length)
    elif mode in ("max", "min"):
        best = ops.is_nan(data) | ops.equal(data, segments.of(output))
        numbers = ops.select(best, like(1, data), like(0, data))
        several = segments.of(
            segments.combined(filled(output.type.shape, 0, data.type.dtype), numbers, "add")
        )
        # As torch has it, only positive gradients are shared among equal elements.
        shared = change / cast_to(several, grad.type.dtype)
        change = ops.select(change > 0, shared, change)
        change = ops.select(best, change, like(0, change))
    elif mode == "mul":
        rest = _without_one(data, segments, initial, output.type.shape)
        special = ops.is_nan(data) | ops.equal(data, like(0, data))
        product = segments.of(output) / data
        change = change * ops.select(special, rest, product)
    return ops.select(segments.inside, change, like(0, change))
