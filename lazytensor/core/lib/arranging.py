"""Elements put in other places: joined, repeated, rolled, padded, picked, in blocks.

What is known to the host is sliced and joined rather than gathered: slices fuse with their
neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import starts
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import like

Ints = tuple[int, ...]
Axes = int | tuple[int, ...] | None
Pairs = Sequence[Sequence[int]]
MOST_RUNS: Final = 8
"""Runs of equally spaced indices up to which `picked` slices and joins instead of gathering."""


def axes_of(x: Node, axis: Axes) -> Ints:
    """The axes that `axis` names, negative ones counted from the last; None is all."""
    if axis is None:
        return tuple(range(x.type.ndim))
    return normalize_axis_tuple(axis, x.type.ndim)


def joined(xs: Sequence[Node], axis: int) -> Node:
    """Nodes of one dtype one after the other along an axis; one alone stays as it is."""
    return ops.concatenate(*xs, axis=axis) if len(xs) > 1 else xs[0]


def stacked(xs: Sequence[Node], axis: int) -> Node:
    """Nodes of one type side by side along a new axis."""
    return joined([ops.new_axis(x, axis) for x in xs], axis)


def split(x: Node, sizes: Sequence[int], axis: int) -> list[Node]:
    """Neighbouring parts of these sizes along an axis."""
    begins = np.cumsum([0, *sizes]).tolist()
    return [ops.part(x, axis, at, size) for at, size in zip(begins, sizes, strict=False)]


def repeated(x: Node, count: int, axis: int) -> Node:
    """Every element `count` times along an axis."""
    shape = x.type.shape
    before, after = shape[: axis + 1], shape[axis + 1 :]
    wide = ops.broadcast(ops.new_axis(x, axis + 1), shape=(*before, count, *after))
    return ops.reshape(wide, shape=(*shape[:axis], shape[axis] * count, *after))


def tiled(x: Node, times: Sequence[int]) -> Node:
    """`x` as often as `times` says along each axis. `times` may have more axes, but not fewer."""
    shape = (1,) * (len(times) - x.type.ndim) + x.type.shape
    thick = ops.reshape(x, shape=tuple(n for size in shape for n in (1, size)))
    pairs = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    whole = tuple(n * t for n, t in zip(shape, times, strict=True))
    return ops.reshape(ops.broadcast(thick, shape=pairs), shape=whole)


def rolled(x: Node, shift: int, axis: int) -> Node:
    """`x` moved on by `shift` along an axis; what leaves at the end enters at the beginning."""
    n = x.type.shape[axis]
    by = shift % n if n else 0
    if not by:
        return x
    first, last = split(x, (n - by, by), axis)
    return ops.concatenate(last, first, axis=axis)


def cropped(x: Node, begin: Ints, sizes: Shape) -> Node:
    """The block of these sizes that begins there."""
    return ops.slice(x, starts(begin), sizes=sizes, strides=(1,) * x.type.ndim)


def padded(x: Node, value: Node, pairs: Pairs) -> Node:
    """`x` with `value` before and after it along each axis. value: dtype of x, 0-d."""
    low, high = (tuple(int(pair[i]) for pair in pairs) for i in (0, 1))
    if not any(low) and not any(high):
        return x
    return ops.pad(x, value, low=low, high=high, interior=(0,) * x.type.ndim)


def padded_with_itself(x: Node, pairs: Pairs, mode: str) -> Node:
    """`x` with its own elements around it.

    mode: as numpy.pad has it: `edge`, `reflect` (without the edge's element), `symmetric` (with
    it) or `wrap`.
    """
    for axis, (low, high) in enumerate(pairs):
        if low or high:
            line = np.arange(x.type.shape[axis])
            x = picked(x, np.pad(line, (low, high), mode), axis)  # type: ignore[call-overload]
    return x


def taken(x: Node, places: Node, axis: int) -> Node:
    """The parts of `x` at `places` along an axis, which the axes of `places` replace."""
    found = ops.gather(x, places, axes=(axis,))
    front = places.type.ndim
    if not axis or not front:
        return found
    order = (*range(front, front + axis), *range(front), *range(front + axis, found.type.ndim))
    return ops.transpose(found, axes=order)


def picked(x: Node, indices: np.ndarray, axis: int) -> Node:
    """The parts of `x` at `indices`, known, in range and 1-d, along an axis."""
    runs = _runs(indices)
    if len(runs) > MOST_RUNS:
        return taken(x, ops.leaf(indices.astype(np.int64)), axis)
    return joined([_run(x, axis, *run) for run in runs], axis)


def _runs(indices: np.ndarray) -> list[tuple[int, int, int]]:
    """(start, count, step) of each run of equally spaced indices."""
    if not indices.size:
        return [(0, 0, 1)]
    found: list[tuple[int, int, int]] = []
    begin, size = 0, indices.size
    while begin < size and len(found) <= MOST_RUNS:
        if begin + 1 == size:
            found.append((int(indices[begin]), 1, 1))
            break
        step = int(indices[begin + 1] - indices[begin])
        same = np.diff(indices[begin:]) == step
        count = (size - begin) if same.all() else int(same.argmin()) + 1
        if count == 2 and abs(step) > 1:  # two elements that are not adjacent are no run
            count, step = 1, 1
        found.append((int(indices[begin]), count, step))
        begin += count
    return found


def _run(x: Node, axis: int, start: int, count: int, step: int) -> Node:
    shape = x.type.shape
    if step == 0:
        wide = (*shape[:axis], count, *shape[axis + 1 :])
        return ops.broadcast(ops.part(x, axis, start, 1), shape=wide)
    begin = tuple(start if i == axis else 0 for i in range(len(shape)))
    strides = tuple(step if i == axis else 1 for i in range(len(shape)))
    sizes = (*shape[:axis], count, *shape[axis + 1 :])
    return ops.slice(x, starts(begin), sizes=sizes, strides=strides)


def space_to_blocks(x: Node, blocks: Sequence[int], axis: int) -> tuple[Node, list[int]]:
    """Each axis from `axis` on as two: the number of blocks, and a block. The block's axes."""
    apart: list[int] = []
    for size, b in zip(x.type.shape[axis:], blocks, strict=False):
        apart += [size // b, b]
    m = len(blocks)
    shape = (*x.type.shape[:axis], *apart, *x.type.shape[axis + m :])
    return ops.reshape(x, shape=shape), list(range(axis + 1, axis + 2 * m, 2))


def blocks_to_space(x: Node, blocks: Sequence[int], axis: int) -> Node:
    """Each axis from `axis` on with the block's axis after it, as one."""
    shape = list(x.type.shape[:axis])
    for i, b in enumerate(blocks):
        shape.append(x.type.shape[axis + 2 * i] * b)
    return ops.reshape(x, shape=(*shape, *x.type.shape[axis + 2 * len(blocks) :]))


def space_to_depth(x: Node, block: int) -> Node:
    """Blocks of images side by side in their channels: [n, h, w, c]."""
    parts, inner = space_to_blocks(x, (block, block), 1)
    made = ops.transpose(parts, axes=(0, 1, 3, *inner, 5))
    n, h, w = made.type.shape[:3]
    return ops.reshape(made, shape=(n, h, w, prod(made.type.shape[3:])))


def depth_to_space(x: Node, block: int) -> Node:
    """The inverse of `space_to_depth`."""
    n, h, w, c = x.type.shape
    apart = ops.reshape(x, shape=(n, h, w, block, block, c // block**2))
    return blocks_to_space(ops.transpose(apart, axes=(0, 1, 3, 2, 4, 5)), (block, block), 1)


def space_to_batch(x: Node, blocks: Sequence[int]) -> Node:
    """Blocks of space, the axes after the first, side by side in the batch."""
    parts, inner = space_to_blocks(x, blocks, 1)
    rest = [axis for axis in range(1, parts.type.ndim) if axis not in inner]
    made = ops.transpose(parts, axes=(*inner, 0, *rest))
    m = len(blocks)
    return ops.reshape(made, shape=(prod(made.type.shape[: m + 1]), *made.type.shape[m + 1 :]))


def batch_to_space(x: Node, blocks: Sequence[int]) -> Node:
    """The inverse of `space_to_batch`."""
    m, (n, *sizes) = len(blocks), x.type.shape
    apart = ops.reshape(x, shape=(*blocks, n // prod(blocks), *sizes))
    pairs = [axis for i in range(m) for axis in (m + 1 + i, i)]
    made = ops.transpose(apart, axes=(m, *pairs, *range(2 * m + 1, apart.type.ndim)))
    return blocks_to_space(made, blocks, 1)


def fitted(x: Node, axis: int, n: int) -> Node:
    """`x` with an axis cut, or filled with zeros, to length `n`."""
    more = n - x.type.shape[axis]
    if more <= 0:
        return ops.part(x, axis, 0, n) if more else x
    return padded(x, like(0, x), [(0, more if i == axis else 0) for i in range(x.type.ndim)])


def checked_places(places: Node, size: int, error: type[Exception], text: str = "") -> Node:
    """Indices of an axis, s64, negative ones counted from its end; checked when they are computed.

    Raises, then: `error`, with `text` or one that names the size.
    """
    places = ops.select(places < 0, places + size, places)
    inside = ops.reduce_and((places >= 0) & (places < size), axes=tuple(range(places.type.ndim)))
    text = text or f"an index is out of bounds for an axis of {size} elements"
    return ops.guarded(places, ops.guard(inside, error=error, text=text))


def at_points(x: Node, places: Sequence[Node]) -> Node:
    """The parts of `x` at these indices of its first axes; a number has one axis for them.

    places: s64, shapes that broadcast.
    """
    x = x if x.type.ndim else ops.new_axis(x)
    return ops.gather(x, *places, axes=tuple(range(len(places))))


def with_points(x: Node, places: Sequence[Node], updates: Node) -> Node:
    """`x` with updates, of its dtype, at these indices of its first axes; see `at_points`."""
    axes, shape = tuple(range(len(places))), x.type.shape
    front = np.broadcast_shapes(*(place.type.shape for place in places))
    updates = ops.broadcast(updates, shape=(*front, *shape[len(places) :]))
    x = x if shape else ops.new_axis(x)
    made = ops.scatter(x, updates, *places, axes=axes, mode="set")
    return made if shape else ops.reshape(made, shape=())
