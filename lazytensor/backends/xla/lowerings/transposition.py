"""Lowering of transpose, and ops that pass through it.

XLA:CPU reads a transposed operand element by element across the rows of memory, which makes a large
`x.T + x` 10 to 20 times slower than `x + x`. So a large matrix is transposed in blocks that fit a
cache: once into a row of blocks, each transposed, and from there into the result. Ops that can work
on the source instead (slices, reductions, products, elementwise functions) find it in `turned`.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.core import ops
from lazytensor.core.ir.types import TensorType

Ints = tuple[int, ...]
BLOCKED_ELEMENTS: Final = 2**16
"""Elements of a matrix from which it is transposed in blocks."""
BLOCKS: Final = range(64, 15, -1)
"""Sizes of a block, the best first; a block must divide its axis."""


def transpose(e: Emitter, type: TensorType, x: Value, *, axes: Ints) -> Value:
    """`x` with its axes in another order."""
    if x.turned is not None:
        x, before = x.turned
        axes = tuple(before[axis] for axis in axes)
    if axes == tuple(range(len(axes))):
        return x
    if x.folded is not None and axes[0] == 0:
        return _of_folded(e, type, x, x.folded, axes)
    made = _plain(e, x, axes) if e.is_plain else _written(e, x, axes)
    made.turned = x, axes
    return made


def _of_folded(e: Emitter, type: TensorType, x: Value, apart: Value, axes: Ints) -> Value:
    """The transpose of an array whose first axis is several ones: of the array that has them."""
    more = apart.type.ndim - x.type.ndim
    moved = (*range(more + 1), *(axis + more for axis in axes[1:]))
    shape = tuple(apart.type.shape[axis] for axis in moved)
    return e.reshape(transpose(e, type.with_shape(shape), apart, axes=moved), type.shape)


def _written(e: Emitter, x: Value, axes: Ints) -> Value:
    """The transpose, with adjacent axes merged, in blocks where that pays."""
    shape = tuple(x.type.shape[axis] for axis in axes)
    groups = _groups(x.type.shape, axes)
    order = sorted(groups)
    sizes = tuple(math.prod(x.type.shape[axis] for axis in group) for group in order)
    x, axes = e.reshape(x, sizes), tuple(order.index(group) for group in groups)
    type = x.type.with_shape(tuple(sizes[axis] for axis in axes))
    blocks = _blocks(type, axes)
    # Move the last axis alone first, in blocks; moving the others then copies whole rows.
    first = (*(axis for axis in range(len(axes)) if axis != axes[-1]), axes[-1])
    if blocks is not None:
        made = _in_blocks(e, type, x, axes, blocks)
    elif first != axes and axes[-1] != len(axes) - 1 and type.size >= BLOCKED_ELEMENTS:
        made = _plain(e, _written(e, x, first), tuple(first.index(axis) for axis in axes))
    else:
        made = _plain(e, x, axes)
    return e.reshape(made, shape)


def _groups(shape: Ints, axes: Ints) -> list[Ints]:
    """The operand's axes in the result's order, neighbours that stay neighbours in one group."""
    groups: list[Ints] = []
    for axis in axes:
        if groups and groups[-1][-1] + 1 == axis:
            groups[-1] = (*groups[-1], axis)
        else:
            groups.append((axis,))
    return groups


def _plain(e: Emitter, x: Value, axes: Ints) -> Value:
    turned = x.type.with_shape(tuple(x.type.shape[axis] for axis in axes))
    return e.op("transpose", turned, x, permutation=i64s(axes))


def _blocks(type: TensorType, axes: Ints) -> dict[int, int] | None:
    """Per axis of the operand that is cut into blocks, their size; None if blocks do not pay."""
    last = len(axes) - 1
    if type.size < BLOCKED_ELEMENTS or axes[-1] == last:
        return None
    lengths = {axes[-1]: type.shape[-1], last: type.shape[axes.index(last)]}
    sizes = {axis: next((b for b in BLOCKS if n % b == 0), 0) for axis, n in lengths.items()}
    return sizes if all(sizes.values()) else None


def _in_blocks(e: Emitter, type: TensorType, x: Value, axes: Ints, blocks: dict[int, int]) -> Value:
    pieces: list[tuple[int, int]] = []  # axis, and whether it is inside a block
    shape: list[int] = []
    for axis, n in enumerate(x.type.shape):
        inside = blocks.get(axis)
        pieces += [(axis, 0)] if inside is None else [(axis, 0), (axis, 1)]
        shape += [n] if inside is None else [n // inside, inside]
    wanted = [piece for axis in axes for piece in pieces if piece[0] == axis]
    first = [p for p in wanted if not p[1]] + [p for p in wanted if p[1]]
    cut = e.reshape(x, tuple(shape))
    rows = _plain(e, cut, tuple(pieces.index(piece) for piece in first))
    rows = workarounds.materialized(e, rows)
    whole = _plain(e, rows, tuple(first.index(piece) for piece in wanted))
    return e.reshape(whole, type.shape)


def sliced(
    e: Emitter, x: Value, begin: Value, sizes: Ints, strides: Ints
) -> tuple[Value, Value, Ints, Ints]:
    """A slice of a transpose as a slice of its source: its operands and attributes."""
    assert x.turned is not None
    assert begin.constant is not None
    source, axes = x.turned
    places = [axes.index(axis) for axis in range(len(axes))]
    moved = e.constant(np.array([begin.constant[p] for p in places], begin.type.dtype))
    sizes, strides = (tuple(given[p] for p in places) for given in (sizes, strides))
    return source, moved, sizes, strides


ROWS: Rows = {ops.transpose: transpose}
