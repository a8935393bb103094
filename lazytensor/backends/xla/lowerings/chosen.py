"""Means of chosen elements: total and count in one loop, because both need the flags.

Two sums would compute the flags twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows, emit_body
from lazytensor.backends.xla.lowerings.reduction import (
    COMBINE,
    HALF_DTYPES,
    OWN_LOOP,
    pieces_of,
    reduced,
)
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, FLOATS, S32
from lazytensor.core.ir.types import TensorType, tensor_type

Ints = tuple[int, ...]


def _chosen_mean(
    e: Emitter, type: TensorType, x: Value, flags: Value, *, axes: Ints, keepdims: bool
) -> Value:
    """A row: along the last axes in one loop, else the composite's body."""
    found = _in_one_loop(e, x, flags, axes)
    if found is None:
        attrs = {"axes": axes, "keepdims": keepdims}
        return emit_body(e, ops.chosen_mean.program((x.type, flags.type), attrs), [x, flags])[0]
    return e.reshape(e.convert(found[0], type.dtype), type.shape)


def _counted_mean(
    e: Emitter, types: Sequence[TensorType], x: Value, flags: Value, *, axes: Ints, keepdims: bool
) -> Sequence[Value]:
    """A row: the same, with the count."""
    found = _in_one_loop(e, x, flags, axes)
    if found is None:
        attrs = {"axes": axes, "keepdims": keepdims}
        return emit_body(e, ops.counted_mean.program((x.type, flags.type), attrs), [x, flags])
    pairs = zip(found, types, strict=True)
    return [e.reshape(e.convert(value, type.dtype), type.shape) for value, type in pairs]


def _in_one_loop(e: Emitter, x: Value, flags: Value, axes: Ints) -> tuple[Value, Value] | None:
    """Mean and count along the last axes; None along other axes, and on other platforms."""
    first = x.type.ndim - len(axes)
    outer, length = x.type.shape[:first], math.prod(x.type.shape[first:])
    pieces = pieces_of(length) if axes == tuple(range(first, x.type.ndim)) else 0
    plain = x.type.dtype in FLOATS and flags.type.shape == x.type.shape
    turned = x.turned is not None or flags.turned is not None
    if e.is_plain or not pieces or not plain or turned:
        return None
    wide = F32 if x.type.dtype in HALF_DTYPES else x.type.dtype
    parts = (*outer, pieces, length // pieces)
    x, flags = e.reshape(e.convert(x, wide), parts), e.reshape(flags, parts)
    chosen = e.op("select", x.type, flags, x, e.full(0, x.type))
    total, count = _folded(e, chosen, e.convert(flags, S32))
    total, count = (reduced(e, y, (y.type.ndim - 1,), "sum") for y in (total, count))
    return e.op("divide", total.type, total, e.convert(count, wide)), count


def _folded(e: Emitter, *values: Value) -> tuple[Value, ...]:
    """The sums of `values`, of one shape, over their last axis but one."""
    units = [tensor_type(x.type.dtype) for x in values]
    *outer, _, n = values[0].type.shape
    adding = [OWN_LOOP["sum"] if unit.dtype in FLOATS else COMBINE["sum"] for unit in units]

    def body(*pairs: Value) -> Sequence[Value]:
        halves = zip(adding, units, pairs[: len(units)], pairs[len(units) :], strict=True)
        return [add(e, unit, a, b) for add, unit, a, b in halves]

    return e.region_op(
        "reduce",
        [unit.with_shape((*outer, n)) for unit in units],
        [*values, *(e.constant(0, unit.dtype) for unit in units)],
        [([*units, *units], body)],
        dimensions=i64s([len(outer)]),
    )


ROWS: Rows = {ops.chosen_mean: _chosen_mean, ops.counted_mean: _counted_mean}
