"""Reading a grid of places out of images and volumes, and the gradients.

Each axis has taps: where an element is read, what it weighs, and how that changes with the place.
A sample is the sum over all combinations of taps, whose weights are multiplied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, S64
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.tensor import TORCH

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
_CUBIC = -0.75


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
    if padding == BORDER:
        return _clipped(x, size)
    if padding == REFLECTION:
        return _reflected(x, size, align)
    return x, like(1, x)


def _cubic(distance: Node) -> tuple[Node, Node]:
    """The weight of an element at this distance, from -2 to 2, and its slope."""
    size = ops.abs(distance)
    a = _CUBIC
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


def _check(x: Node, grid: Node) -> None:
    """Raise torch's errors for what cannot be sampled, or not there."""
    shape, places, n = list(x.type.shape), list(grid.type.shape), x.type.ndim - 2
    if places[0] != shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {shape} and grid with sizes {places}"
        )
    if places[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with "
            f"sizes {places}"
        )
    if 0 in shape[2:]:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {shape} with dimension {shape.index(0, 2)} being empty"
        )
    if x.type.dtype != grid.type.dtype:
        names = [dtype_name(TORCH[t.type.dtype]) for t in (x, grid)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}")


class _Corners:
    """An input, and where the grid reads it."""

    def __init__(self, x: Any, grid: Any, interpolation: int, padding: int, align: bool) -> None:
        given, places = operand(x), operand(grid)
        _check(given, places)
        if interpolation == BICUBIC and given.type.ndim > 4:
            raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
        self.dtype = given.type.dtype
        wide = F32 if self.dtype in (F16, BF16) else self.dtype
        self.input, self.grid = cast_to(given, wide), cast_to(places, wide)
        self.sizes = given.type.shape[2:]
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


def _sample(x: Any, grid: Any, interpolation: int, padding: int, align: bool) -> Node:
    plan = _Corners(x, grid, interpolation, padding, bool(align))
    total: Any = None
    for taps, places, inside in plan.corners():
        weight = ops.broadcast(_product([tap.weight for tap in taps]), shape=inside.type.shape)
        part = plan.read(places, inside) * ops.new_axis(weight)
        total = part if total is None else total + part
    n = plan.n
    made = ops.transpose(total, axes=(0, n + 1, *range(1, n + 1)))
    return cast_to(made, plan.dtype)


def _backward(
    grad: Any, x: Any, grid: Any, interpolation: int, padding: int, align: bool,
    output_mask: Sequence[bool],
) -> tuple[Node | None, Node | None]:  # fmt: skip
    plan = _Corners(x, grid, interpolation, padding, bool(align))
    n = plan.n
    given = cast_to(operand(grad), plan.input.type.dtype)
    given = ops.transpose(given, axes=(0, *range(2, n + 2), 1))
    of_input = filled(plan.input.type.shape, 0, plan.input.type.dtype)
    slopes: list[Any] = [like(0, given)] * n
    for taps, places, inside in plan.corners():
        weight = ops.broadcast(_product([tap.weight for tap in taps]), shape=inside.type.shape)
        if output_mask[0]:
            updates = given * ops.new_axis(weight)
            updates = ops.select(ops.new_axis(inside), updates, like(0, updates))
            of_input = ops.scatter(of_input, updates, *places, axes=plan.axes, mode="add")
        if output_mask[1] and interpolation != NEAREST:
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
    made = cast_to(of_input, plan.dtype), cast_to(of_grid, operand(grid).type.dtype)
    return (made[0] if output_mask[0] else None), (made[1] if output_mask[1] else None)


ROWS: dict[str, Row] = {
    "grid_sampler_2d": _sample,
    "grid_sampler_3d": _sample,
    "grid_sampler_2d_backward": _backward,
    "grid_sampler_3d_backward": _backward,
}


rows(ROWS, composed=True)
