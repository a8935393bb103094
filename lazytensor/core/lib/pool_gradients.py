"""The gradient of the largest of each window: to the element that it was.

XLA:CPU scatters an element at a time, and wants the indices as pairs. Where few windows share an
element, each asks all of these instead whether it was theirs: comparisons, which fuse.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import starts
from lazytensor.core.lib.numbers import cast_to, filled

Ints = tuple[int, ...]

LARGEST_OVERLAP: Final = 16
"""PoolWindows that an element may be in."""


class PoolWindows(NamedTuple):
    """Per axis of space: a window's elements and how far apart they are, steps, and padding."""

    sizes: Ints
    gaps: Ints
    steps: Ints
    pads: Ints


def place_dtype(space: Ints) -> np.dtype:
    """The dtype in which places in a plane are compared: narrow, as memory bounds it."""
    return S32 if prod(space) < 2**31 else S64


def scattered_planes(grad: Node, indices: Node, shape: Ints, n: int) -> Node:
    """`grad` added up at `indices` of planes: the last `n` axes of `shape`, as one."""
    outer, inner = prod(shape[: len(shape) - n]), prod(shape[len(shape) - n :])
    many = prod(grad.type.shape[grad.type.ndim - n :])
    places = ops.reshape(indices, shape=(outer, many))
    lines = ops.iota(dtype=S64, shape=(outer, many), axis=0)
    zeros = filled((outer, inner), 0, grad.type.dtype)
    updates = ops.reshape(grad, shape=(outer, many))
    made = ops.scatter(zeros, updates, lines, places, axes=(0, 1), mode="add")
    return ops.reshape(made, shape=shape)


def largest_backward(grad: Node, indices: Node, shape: Ints, windows: PoolWindows) -> Node:
    """The gradient for an operand of `shape` of the largest of each window, times `grad`.

    indices: s64, places in a plane, each within its window. Features are made
    the last axis, which is how convolutions lie: the transposes meet theirs and are gone.
    """
    n = len(windows.sizes)
    shared = prod(-(-k // s) for k, s in zip(windows.sizes, windows.steps, strict=True))
    if shared > LARGEST_OVERLAP or len(shape) != n + 2 or 0 in shape:
        return scattered_planes(grad, indices, shape, n)
    order = (0, *range(2, n + 2), 1)
    space = shape[2:]
    own = ops.convert(indices, dtype=place_dtype(space))
    given, places = (ops.transpose(x, axes=order) for x in (grad, own))
    counts = tuple(
        -(-(m + p) // s) for m, p, s in zip(space, windows.pads, windows.steps, strict=True)
    )
    parts = {
        (0, *phase, 0): _phase(given, places, phase, counts, space, windows)
        for phase in product(*map(range, windows.steps))
    }
    made = ops.interleaved(parts, (1, *windows.steps, 1))
    begin = starts((0, *windows.pads, 0))
    rows = ops.slice(made, begin, sizes=(shape[0], *space, shape[1]), strides=(1,) * (n + 2))
    return ops.transpose(rows, axes=(0, n + 1, *range(1, n + 1)))


def _taps(phase: Ints, windows: PoolWindows) -> Iterator[Ints]:
    """By how many windows those lie back that have an element of this phase, for each of theirs."""
    lines = [
        [(g * i - r) // s for i in range(k) if (g * i - r) % s == 0]
        for k, g, s, r in zip(windows.sizes, windows.gaps, windows.steps, phase, strict=True)
    ]
    return product(*lines)


def _phase(
    grad: Node, places: Node, phase: Ints, counts: Ints, space: Ints, windows: PoolWindows
) -> Node:
    """The gradient at every `steps`-th element from `phase` on, padding included."""
    here = _positions(phase, counts, space, windows)
    zero = cast_to(0, grad.type.dtype)
    total = None
    for back in _taps(phase, windows):
        of, at = _moved(grad, 0, back, counts), _moved(places, -1, back, counts)
        share = ops.select(ops.equal(at, here), of, zero)
        total = share if total is None else total + share
    if total is None:  # steps are longer than windows
        return filled((grad.type.shape[0], *counts, grad.type.shape[-1]), 0, grad.type.dtype)
    return total


def _positions(phase: Ints, counts: Ints, space: Ints, windows: PoolWindows) -> Node:
    """Where in its plane each element of a phase is."""
    n, dtype = len(counts), place_dtype(space)
    flat = cast_to(0, dtype)
    for axis, (r, m, s, p) in enumerate(
        zip(phase, space, windows.steps, windows.pads, strict=True)
    ):
        line = tuple(c if i == axis else 1 for i, c in enumerate(counts))
        steps = ops.iota(dtype=dtype, shape=(*line, 1), axis=axis) * cast_to(s, dtype)
        flat = flat * cast_to(m, dtype) + (steps + cast_to(r - p, dtype))
    return ops.broadcast(flat, shape=(*counts, 1)) if n else flat


def _moved(x: Node, value: int, by: Ints, counts: Ints) -> Node:
    """`x`, (batch, space, features), moved on within `counts` places; `value` elsewhere."""
    space = x.type.shape[1:-1]
    short = [max(0, b + m - c) for b, m, c in zip(by, space, counts, strict=True)]
    begin = [max(0, -b) for b in by]
    sizes = [m - a - b for m, a, b in zip(space, begin, short, strict=True)]
    low = [max(0, b) for b in by]
    batch, features = x.type.shape[0], x.type.shape[-1]
    if sizes != list(space):
        x = ops.slice(
            x, starts((0, *begin, 0)), sizes=(batch, *sizes, features), strides=(1,) * x.type.ndim
        )
    high = [c - a - m for c, a, m in zip(counts, low, sizes, strict=True)]
    return ops.pad(
        x, cast_to(value, x.type.dtype), low=(0, *low, 0), high=(0, *high, 0),
        interior=(0,) * x.type.ndim,
    )  # fmt: skip
