"""Lowerings of gather and scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, HostRules, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion
from lazytensor.backends.xla.lowerings.reduction import COMBINE
from lazytensor.backends.xla.lowerings.sharding import whole_along
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.shapes import without
from lazytensor.core.ir.types import TensorType, tensor_type

Ints = tuple[int, ...]
LEAST_ON_HOST = 2**10
"""Elements from which NumPy reduces segments faster; XLA adds them one by one."""


def _gather(e: Emitter, type: TensorType, x: Value, *indices: Value, axes: Ints) -> Value:
    if not type.size:
        return e.full(0, type)
    places = _places(e, indices)
    front = places.type.ndim - 1
    numbers = hlo.GatherDimensionNumbers.get(
        list(range(front, type.ndim)), sorted(axes), [], [], list(axes), front
    )
    sizes = [1 if axis in axes else n for axis, n in enumerate(x.type.shape)]
    return e.op(
        "gather",
        type,
        x,
        places,
        dimension_numbers=numbers,
        slice_sizes=i64s(sizes),
        indices_are_sorted=ir.BoolAttr.get(False),
    )


def _take_along(e: Emitter, type: TensorType, x: Value, indices: Value, *, axis: int) -> Value:
    if not type.size:
        return e.full(0, type)
    outer = [i for i in range(type.ndim) if i != axis]
    shape = without(type.shape, (axis,))
    x = e.expand(x, (*shape[:axis], x.type.shape[axis], *shape[axis:]))
    indices = e.expand(indices, type.shape)
    numbers = hlo.GatherDimensionNumbers.get([], [axis], outer, outer, [axis], type.ndim)
    return e.op(
        "gather",
        type,
        x,
        e.reshape(indices, (*type.shape, 1)),
        dimension_numbers=numbers,
        slice_sizes=i64s([1] * type.ndim),
        indices_are_sorted=ir.BoolAttr.get(False),
    )


def _places(e: Emitter, indices: Sequence[Value]) -> Value:
    """The indices, broadcast and side by side in a last axis."""
    ndim = max(index.type.ndim for index in indices)
    shape = [1] * ndim
    for index in indices:
        for axis, n in enumerate(index.type.shape, ndim - index.type.ndim):
            shape[axis] = n if n != 1 else shape[axis]
    columns = [e.reshape(e.expand(index, tuple(shape)), (*shape, 1)) for index in indices]
    if len(columns) == 1:
        return columns[0]
    type = tensor_type(S64, (*shape, len(columns)))
    return e.op("concatenate", type, *columns, dimension=i64(ndim))


def _scatter(
    e: Emitter, type: TensorType, x: Value, updates: Value, *indices: Value, axes: Ints, mode: str
) -> Value:
    if not type.size or not updates.type.size:
        return x
    if mode == "set" and e.is_plain:
        return _last_wins(e, type, x, updates, *indices, axes=axes)
    x, places = whole_along(e, x, axes), _places(e, indices)
    front = places.type.ndim - 1
    numbers = hlo.ScatterDimensionNumbers.get(
        list(range(front, updates.type.ndim)), sorted(axes), [], [], list(axes), front
    )
    unit = tensor_type(type.dtype)

    def bring_in(old: Value, new: Value) -> list[Value]:
        if mode == "set":  # XLA:CPU applies the updates in order, so the last one stays
            return [new]
        return [COMBINE[_KINDS.get(mode, mode)](e, unit, old, new)]

    (made,) = e.region_op(
        "scatter",
        [type],
        [x, places, updates],
        [([unit, unit], bring_in)],
        scatter_dimension_numbers=numbers,
        indices_are_sorted=ir.BoolAttr.get(False),
        unique_indices=ir.BoolAttr.get(False),
    )
    return whole_along(e, made, axes)


_KINDS = {"add": "sum", "mul": "prod"}


def _set_last(x: Node, updates: Node, *indices: Node, axes: Ints) -> Node:
    """Number the updates: the one with the largest number at a place stays there."""
    front = updates.type.ndim - (x.type.ndim - len(axes))
    shape = updates.type.shape[:front]
    numbers = ops.reshape(ops.iota(dtype=S64, shape=(math.prod(shape),), axis=0), shape=shape)
    places = tuple(x.type.shape[axis] for axis in axes)
    none = ops.broadcast(ops.scalar(-1, S64), shape=places)
    last = ops.scatter(none, numbers, *indices, axes=tuple(range(len(axes))), mode="max")
    flat = ops.reshape(updates, shape=(math.prod(shape), *updates.type.shape[front:]))
    chosen = ops.gather(flat, ops.maximum(last, ops.scalar(0, S64)), axes=(0,))
    order = (*axes, *(i for i in range(x.type.ndim) if i not in axes))
    back = tuple(order.index(i) for i in range(x.type.ndim))
    shown = ops.reshape(last, shape=places + (1,) * (x.type.ndim - len(axes)))
    written = shown >= 0
    return ops.select(ops.transpose(written, axes=back), ops.transpose(chosen, axes=back), x)


_last_wins = expansion(_set_last)


def _segments(x: Node, places: Node, *, axis: int, mode: str) -> Node:
    """The first element of each segment, into which the others are scattered."""
    order = (axis, *(i for i in range(x.type.ndim) if i != axis))
    rows = ops.transpose(x, axes=order)
    count, zero = ops.scalar(places.type.size, S64), ops.scalar(0, S64)
    row = ops.iota(dtype=S64, shape=(rows.type.shape[0],), axis=0)
    found = ops.searchsorted(places, row, side="right")
    segment = found - 1
    first = ops.gather(places, ops.maximum(segment, zero), axes=(0,))
    left = (segment < zero) | ops.equal(first, row)
    heads = ops.gather(rows, places, axes=(0,))
    target = ops.select(left, count, segment)  # an index beyond the last is dropped
    made = ops.scatter(heads, rows, target, axes=(0,), mode=mode)
    return ops.transpose(made, axes=tuple(order.index(i) for i in range(len(order))))


HOST: HostRules = {
    ops.reduce_segments: lambda x, places, **_: x.size >= LEAST_ON_HOST,
}
ROWS: Rows = {
    ops.gather: _gather,
    ops.scatter: _scatter,
    ops.take_along: _take_along,
    ops.reduce_segments: expansion(_segments),
}
