"""Reading a grid of places out of images and volumes, and the gradients.

Each axis has taps: where an element is read, what it weighs, and how that changes with the place.
A sample is the sum over all combinations of taps, whose weights are multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any, Final, NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, filled, like, widened

BILINEAR: Final = 0
NEAREST: Final = 1
BICUBIC: Final = 2
"""Interpolations."""
OUTSIDE_ZEROS: Final = 0
OUTSIDE_BORDER: Final = 1
OUTSIDE_REFLECTION: Final = 2
"""What is read beyond the edges."""
_CUBIC_SLOPE: Final = -0.75


class Tap(NamedTuple):
    """Where an axis is read, with what weight, and the weight's slope."""

    place: Node
    weight: Node
    slope: Node


def _clipped(x: Node, size: int) -> tuple[Node, Node]:
    """A coordinate within the axis, and how it changes with the one outside."""
    last = like(size - 1, x)
    free = (x > 0) & (x < last)
    return ops.clamp(like(0, x), x, last), cast_to(free, x.type.dtype)


def _reflected(x: Node, size: int, align: bool) -> tuple[Node, Node]:
    low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
    if high <= low:
        zero = x * 0
        return zero, zero
    span = like(high - low, x)
    apart = x - like(low, x)
    distance, turn = ops.abs(apart), ops.sign(apart)
    flips = ops.floor(distance / span)
    extra = ops.remainder(distance, span)
    even = ops.equal(ops.remainder(flips, like(2, x)), like(0, x))
    inside = ops.select(even, extra, span - extra)
    turn = ops.select(even, turn, -turn)
    made, free = _clipped(inside + like(low, x), size)
    return made, turn * free


def _padded(x: Node, size: int, padding: int, align: bool) -> tuple[Node, Node]:
    if padding == OUTSIDE_BORDER:
        return _clipped(x, size)
    if padding == OUTSIDE_REFLECTION:
        return _reflected(x, size, align)
    return x, like(1, x)


def _cubic(distance: Node) -> tuple[Node, Node]:
    """The weight of an element at this distance, from -2 to 2, and its slope."""
    size = ops.abs(distance)
    a = _CUBIC_SLOPE
    near, near_slope = (1, 0, -(a + 3), a + 2), (0, -2 * (a + 3), 3 * (a + 2))
    far, far_slope = (-4 * a, 8 * a, -5 * a, a), (8 * a, -10 * a, 3 * a)
    inner = size < 1
    slope = ops.select(inner, _horner(size, near_slope), _horner(size, far_slope))
    weight = ops.select(inner, _horner(size, near), _horner(size, far))
    return weight, slope * ops.sign(distance)


def _horner(x: Node, coefficients: Sequence[float]) -> Node:
    made = like(coefficients[-1], x)
    for c in reversed(coefficients[:-1]):
        made = made * x + like(c, x)
    return made


def _taps(
    grid: Node, size: int, interpolation: int, padding: int, align: bool
) -> tuple[list[Tap], Node]:
    """The taps of an axis, and how its coordinate changes with the grid."""
    one = grid + 1
    factor = (size - 1) / 2 if align else size / 2
    at = one * like(factor, grid)
    if not align:
        at = at - 0.5
    rate = like(factor, grid)
    if interpolation == BICUBIC:
        below = ops.floor(at)
        share = at - below
        taps = []
        for i in (-1, 0, 1, 2):
            weight, slope = _cubic(share - like(i, grid))
            place, _ = _padded(below + like(i, grid), size, padding, align)
            taps.append(Tap(place, weight, slope))
        return taps, rate
    at, free = _padded(at, size, padding, align)
    zero = at * 0
    if interpolation == NEAREST:
        return [Tap(ops.round_even(at), like(1, grid), zero)], rate
    below = ops.floor(at)
    share = at - below
    minus, plus = like(-1, grid), like(1, grid)
    taps = [
        Tap(below, plus - share, minus),
        Tap(below + plus, share, plus),
    ]
    return taps, rate * free


class _Corners:
    """An input, and where the grid reads it."""

    def __init__(self, x: Any, grid: Any, interpolation: int, padding: int, align: bool) -> None:
        self.input, self.grid = widened(x), widened(grid)
        self.sizes = x.type.shape[2:]
        n = self.n = len(self.sizes)
        outer = self.grid.type.shape[:-1]
        parts = [ops.at_index(self.grid, n + 1, n - 1 - i) for i in range(n)]
        found = [
            _taps(part, size, interpolation, padding, align)
            for part, size in zip(parts, self.sizes, strict=True)
        ]
        self.taps = [taps for taps, _ in found]
        self.rates = [rate for _, rate in found]
        self.lines = ops.iota(dtype=S64, shape=outer, axis=0)
        self.axes = (0, *range(2, n + 2))

    def corners(self) -> Iterator[tuple[tuple[Tap, ...], list[Node], Node]]:
        """For each combination of taps: these, the indices, and which of them are inside."""
        for taps in product(*self.taps):
            inside: Node = filled(self.lines.type.shape, True, BOOL)
            places = [self.lines]
            for tap, size in zip(taps, self.sizes, strict=True):
                low, high = like(0, tap.place), like(size - 1, tap.place)
                within = (tap.place >= low) & (tap.place <= high)
                inside = inside & within
                safe = ops.select(within, tap.place, low)
                places.append(cast_to(safe, S64))
            yield taps, places, inside

    def read(self, places: list[Node], inside: Node) -> Node:
        """The channels at the indices, as a last axis; zeros outside."""
        found = ops.gather(self.input, *places, axes=self.axes)
        return ops.select(ops.new_axis(inside), found, like(0, found))


def _product(factors: Sequence[Node]) -> Node:
    return reduce(ops.multiply, factors)


def grid_sample(x: Node, grid: Node, interpolation: int, padding: int, align: bool) -> Node:
    """The elements of `x` at the places of a grid, interpolated.

    x: floats[n, channels, *space]. grid: dtype of x[n, *outer, axes of space], coordinates from -1
    to 1, the last axis of space first. interpolation: BILINEAR, NEAREST, BICUBIC. padding: what is
    beyond the edges. align: -1 and 1 are the middles of the outer elements, not their edges.
    Result: dtype of x[n, channels, *outer].
    """
    plan = _Corners(x, grid, interpolation, padding, align)
    total: Node | None = None
    for taps, places, inside in plan.corners():
        weight = ops.broadcast(_product([tap.weight for tap in taps]), shape=inside.type.shape)
        part = plan.read(places, inside) * ops.new_axis(weight)
        total = part if total is None else total + part
    n = plan.n
    assert total is not None
    made = ops.transpose(total, axes=(0, n + 1, *range(1, n + 1)))
    return cast_to(made, x.type.dtype)


def grid_sample_backward(
    grad: Node, x: Node, grid: Node, interpolation: int, padding: int, align: bool,
    wanted: Sequence[bool],
) -> tuple[Node | None, Node | None]:  # fmt: skip
    """The gradients of `grid_sample` times `grad`, for `x` and for the grid, those `wanted`."""
    plan = _Corners(x, grid, interpolation, padding, align)
    n = plan.n
    given = cast_to(grad, plan.input.type.dtype)
    given = ops.transpose(given, axes=(0, *range(2, n + 2), 1))
    of_input = filled(plan.input.type.shape, 0, plan.input.type.dtype)
    slopes: list[Any] = [like(0, given)] * n
    for taps, places, inside in plan.corners():
        weight = ops.broadcast(_product([tap.weight for tap in taps]), shape=inside.type.shape)
        if wanted[0]:
            updates = given * ops.new_axis(weight)
            updates = ops.select(ops.new_axis(inside), updates, like(0, updates))
            of_input = ops.scatter(of_input, updates, *places, axes=plan.axes, mode="add")
        if wanted[1] and interpolation != NEAREST:
            seen = plan.read(places, inside) * given
            along = ops.reduce_sum(seen, axes=(n + 1,))
            for i, tap in enumerate(taps):
                others = [t.weight for j, t in enumerate(taps) if j != i]
                slope = _product([along, tap.slope, *others])
                slopes[i] = slopes[i] + slope
    shape = plan.lines.type.shape
    changes = [s * rate for s, rate in zip(slopes, plan.rates, strict=True)]
    columns = [ops.new_axis(ops.broadcast(c, shape=shape)) for c in reversed(changes)]
    of_grid = ops.concatenate(*columns, axis=n + 1)
    made = cast_to(of_input, x.type.dtype), cast_to(of_grid, grid.type.dtype)
    return (made[0] if wanted[0] else None), (made[1] if wanted[1] else None)
