"""View steps that show elements at strides: slices, reshapes, transposes and broadcasts where there
are any, else each element by its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import ViewStep, view_step
from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.shapes import rows
from lazytensor.core.ir.types import Shape
from lazytensor.core.ops import bitcast_step, reshape_step, slice_step, strided_step, transpose_step

Ints = tuple[int, ...]

Steps = tuple[ViewStep, ...]


def order_of(size: Sequence[int], stride: Sequence[int]) -> Ints | None:
    """The axes from the slowest to the fastest, where the elements lie without gaps; or None."""
    axes = sorted(range(len(size)), key=lambda axis: (-stride[axis], -size[axis]))
    step = 1
    for axis in reversed(axes):
        if size[axis] > 1:
            if stride[axis] != step:
                return None
            step *= size[axis]
    return tuple(axes)


@remembered(4096)
def steps_of(
    base: Shape, lies: Ints, old: np.dtype, size: Shape, stride: Ints, offset: int, new: np.dtype
) -> Steps:
    """The steps that show `size` elements at `stride` from `offset` on.

    base, lies, old: shape, strides and dtype of all elements there are, which lie without gaps.
    new: the dtype that their bits are shown as, and that `stride` and `offset` count in.
    """
    if old == new:
        return tuple(_steps(base, lies, size, stride, offset))
    ratio = old.itemsize // new.itemsize
    if ratio == 1:
        return bitcast_step(new), *_steps(base, lies, size, stride, offset)
    if ratio:  # the parts of an element are a last axis
        lies = (*(s * ratio for s in lies), 1)
        return bitcast_step(new), *_steps((*base, ratio), lies, size, stride, offset)
    ratio = new.itemsize // old.itemsize
    pairs = prod(base) // ratio, ratio
    line = [*_sorted(base, lies), reshape_step(pairs), bitcast_step(new)]
    return *line, *_steps(pairs[:1], (1,), size, stride, offset)


class _Shown(NamedTuple):
    """An axis of a view: its elements are `step` apart in the storage."""

    size: int
    step: int
    dim: int


class _Factor(NamedTuple):
    """An axis that a part is reshaped to: `shown` of its elements are seen, as `dim` if any."""

    size: int
    start: int
    shown: int
    dim: int | None


class _Part(NamedTuple):
    """What is shown of one axis of the base."""

    start: int
    size: int
    step: int
    factors: tuple[_Factor, ...]


def _steps(base: Shape, lies: Ints, size: Shape, stride: Ints, offset: int) -> Iterator[ViewStep]:
    if size == base and stride == lies and not offset:
        return
    if 0 in size:
        yield from (reshape_step((prod(base),)), slice_step((0,), (0,), (1,)), reshape_step(size))
        return
    axes = [_Shown(n, s, dim) for dim, (n, s) in enumerate(zip(size, stride, strict=True))]
    wanted = sorted((a for a in axes if a.size > 1 and a.step), key=lambda a: (-a.step, a.dim))
    blocks = list(zip(base, lies, strict=True))
    parts = _parts(blocks, wanted, offset)
    if isinstance(parts, int):
        yield from _sorted(base, lies)
        blocks, parts = _merged(sorted(blocks, key=lambda b: (-b[1], -b[0])), wanted, offset)
        yield reshape_step(tuple(n for n, _ in blocks))
    if isinstance(parts, int):
        yield strided_step(offset, size, stride)
        return
    yield from _cut(blocks, parts)
    yield from _placed([f for part in parts for f in part.factors], size, stride)


def _sorted(base: Shape, lies: Ints) -> Iterator[ViewStep]:
    """The axes from the slowest to the fastest."""
    order = order_of(base, lies)
    assert order is not None, "a storage has no gaps"
    if order != tuple(range(len(base))):
        yield transpose_step(order)


def _merged(
    blocks: list[tuple[int, int]], wanted: list[_Shown], offset: int
) -> tuple[list[tuple[int, int]], list[_Part] | int]:
    """The axes, slowest first, joined as far as what is shown reaches across them."""
    while True:
        parts = _parts(blocks, wanted, offset)
        if not isinstance(parts, int) or len(blocks) == 1:
            return blocks, parts
        at = max(parts, 1)  # that of the slowest axis reaches too far: all become a line
        (slow, _), (fast, step) = blocks[at - 1 : at + 1]
        blocks = [*blocks[: at - 1], (slow * fast, step), *blocks[at + 1 :]]


def _parts(blocks: list[tuple[int, int]], wanted: list[_Shown], offset: int) -> list[_Part] | int:
    """What is shown of each axis; or the place of one that what is shown reaches across."""
    starts, groups = [0] * len(blocks), [list[_Shown]() for _ in blocks]
    by_stride = sorted(range(len(blocks)), key=lambda i: (-blocks[i][1], -blocks[i][0]))
    for i in by_stride:
        if blocks[i][0] > 1:
            starts[i], offset = divmod(offset, blocks[i][1])
    for axis in wanted:
        for i in by_stride:
            n, step = blocks[i]
            if n > 1 and axis.step % step == 0:
                groups[i].append(_Shown(axis.size, axis.step // step, axis.dim))
                break
        else:
            return 0
    found = []
    for i, (n, _) in enumerate(blocks):
        part = _part(n, starts[i], groups[i])
        if part is None:
            return i
        found.append(part)
    return found


def _part(n: int, start: int, group: list[_Shown]) -> _Part | None:
    """What `group` shows of `n` elements from `start` on; None where it takes more axes."""
    if start + sum((a.size - 1) * a.step for a in group) >= n:
        return None
    if not group:
        return _Part(start, 1, 1, (_Factor(1, 0, 1, None),))
    first = group[0]
    if len(group) == 1:
        whole = _Factor(first.size, 0, first.size, first.dim)
        return _Part(start, first.size, first.step, (whole,))
    hull = first.size * first.step
    begin = min(start, n - hull)
    if begin < 0 or start - begin >= first.step:
        return None
    factors, inner, step = (
        [_Factor(first.size, 0, first.size, first.dim)],
        start - begin,
        first.step,
    )
    for axis in group[1:]:
        place, inner = divmod(inner, axis.step)
        room = step // axis.step
        if step % axis.step or place + axis.size > room:
            return None
        factors.append(_Factor(room, place, axis.size, axis.dim))
        step = axis.step
    if step > 1:
        factors.append(_Factor(step, inner, 1, None))
    return _Part(begin, hull, 1, tuple(factors))


def _cut(blocks: list[tuple[int, int]], parts: list[_Part]) -> Iterator[ViewStep]:
    sizes = tuple(part.size for part in parts)
    if sizes != tuple(n for n, _ in blocks):
        starts, steps = tuple(part.start for part in parts), tuple(part.step for part in parts)
        yield slice_step(starts, sizes, steps)
    factors = [factor for part in parts for factor in part.factors]
    if len(factors) == len(parts):
        return
    yield reshape_step(tuple(f.size for f in factors))
    if any(f.shown != f.size for f in factors):
        counts = tuple(f.shown for f in factors)
        yield slice_step(tuple(f.start for f in factors), counts, (1,) * len(factors))


def _placed(factors: list[_Factor], size: Shape, stride: Ints) -> Iterator[ViewStep]:
    """The axes in the order of the view, with the ones that show one element, and repeats."""
    now = tuple(f.shown for f in factors)
    single = tuple(n if s else 1 for n, s in zip(size, stride, strict=True))
    dims = [f.dim for f in factors if f.dim is not None]
    if dims == sorted(dims):
        if now != single:
            yield reshape_step(single)
    else:
        ones = [i for i, f in enumerate(factors) if f.dim is None]
        if len(ones) + len(dims) != len(single):
            now, ones = tuple(f.shown for f in factors if f.dim is not None), []
            factors = [f for f in factors if f.dim is not None]
            yield reshape_step(now)
        places = {f.dim: i for i, f in enumerate(factors) if f.dim is not None}
        spare = iter(ones)
        order = [places[d] if d in places else next(spare, None) for d in range(len(single))]
        axes = tuple(i for i in order if i is not None)
        yield transpose_step(axes)
        if tuple(now[i] for i in axes) != single:
            yield reshape_step(single)
    if single != size:
        yield view_step(ops.broadcast, None, (("shape", size),))


in_rows: Final = remembered(4096)(rows)
"""The strides of elements in rows, in elements; see `shapes.rows`."""


def in_order(shape: Shape, order: Ints) -> Ints:
    """The strides of elements that lie in rows once the axes are in `order`."""
    rows = in_rows(tuple(shape[axis] for axis in order))
    return tuple(rows[order.index(axis)] for axis in range(len(shape)))


Operands = tuple[tuple[Shape, Ints], ...]


@remembered(4096)
def kept_strides(shape: Shape, operands: Operands) -> Ints:
    """The strides of an elementwise result: its axes in the operands' order.

    operands: size and strides of each tensor. An order is taken from the first that has one.
    """
    if all(size == shape and stride == operands[0][1] for size, stride in operands) and (
        order_of(*operands[0]) is not None
    ):
        return operands[0][1]
    ndim = len(shape)
    spread = []
    for size, stride in operands:
        extra = ndim - len(size)
        both = zip(size, shape[extra:], stride, strict=True)
        spread.append([0] * extra + [s if n == m else 0 for n, m, s in both])
    axes = list(range(ndim))[::-1]  # fastest first; an insertion sort, as not all can be compared
    for i in range(1, ndim):
        at = i
        for before in range(i - 1, -1, -1):
            found = _compared(shape, spread, axes[before], axes[at])
            if found < 0:
                break
            if found > 0:
                axes[before], axes[at] = axes[at], axes[before]
                at = before
    return in_order(shape, tuple(axes[::-1]))


def _compared(shape: Shape, strides: list[list[int]], slow: int, fast: int) -> int:
    for own in strides:
        first, second = own[slow], own[fast]
        if first == 0 or second == 0:
            continue
        if first != second:
            return -1 if first < second else 1
        if shape[slow] > shape[fast]:
            return 1
    return 0
