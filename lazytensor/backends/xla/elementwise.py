"""Lowerings of the elementwise ops."""

from __future__ import annotations

from lazytensor.backends.xla.attributes import comparison, direction
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Lowering, Value
from lazytensor.core import ops
from lazytensor.core.dtypes import BOOL
from lazytensor.core.types import TensorType


def direct(name: str) -> Lowering:
    """A row: one instruction over the operands, broadcast to the result's shape."""

    def lower(e: Emitter, type: TensorType, *operands: Value) -> Value:
        return e.op(name, type, *(e.expand(x, type.shape) for x in operands))

    return lower


def compare(name: str) -> Lowering:
    """A row: a comparison."""

    def lower(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
        return e.op(
            "compare",
            type,
            e.expand(x, type.shape),
            e.expand(y, type.shape),
            comparison_direction=direction(name),
            compare_type=comparison(x.type.dtype),
        )

    return lower


def _convert(e: Emitter, type: TensorType, x: Value, **_: object) -> Value:
    return e.convert(x, type.dtype)


LOWERINGS.update(
    {
        ops.exp: direct("exponential"),
        ops.sin: direct("sine"),
        ops.negate: direct("negate"),
        ops.add: direct("add"),
        ops.subtract: direct("subtract"),
        ops.multiply: direct("multiply"),
        ops.divide: direct("divide"),
        ops.less: compare("LT"),
        ops.select: direct("select"),
        ops.convert: _convert,
        ops.guard: lambda e, type, ok, **_: ok,
        ops.guarded: lambda e, type, x, ok: x,
    }
)
