"""Lowerings of the reductions."""

from __future__ import annotations

from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Value
from lazytensor.core import ops
from lazytensor.core.types import TensorType, tensor_type


def _reduce_sum(e: Emitter, type: TensorType, x: Value, *, axes: tuple[int, ...]) -> Value:
    unit = tensor_type(type.dtype)
    body = ([unit, unit], lambda a, b: [e.op("add", unit, a, b)])
    zero = e.constant(0, type.dtype)
    return e.region_op("reduce", [type], [x, zero], [body], dimensions=i64s(axes))[0]


LOWERINGS[ops.reduce_sum] = _reduce_sum
