"""A module as TFLite's converter takes it: without what only XLA needs.

Roundings to a format's own width, barriers, and selects of a divisor change no value. They keep
XLA from rewriting arithmetic, which other compilers do not rewrite. Where slices start is said in
32 bits: TFLite reads sizes of 32 bits beside starts of 64 bits as 64 bits each.
"""

from __future__ import annotations

from typing import Any, Final

from jaxlib.mlir import ir

from lazytensor.backends.xla import client
from lazytensor.backends.xla.builder import operations
from lazytensor.backends.xla.portable.modules import parsed, serialized, tidy

OWN_FORMATS: Final = {"f32": (8, 23), "f64": (11, 52), "f16": (5, 10), "bf16": (8, 7)}

SLICES: Final = {"stablehlo.dynamic_slice": 1, "stablehlo.dynamic_update_slice": 2}


def simplified(data: bytes) -> bytes:
    """The program without what changes no value."""
    module = parsed(data)
    with client.context(), ir.Location.unknown():
        for op in list(operations(module)):
            if op.name in SLICES:
                _narrow(op, SLICES[op.name])
                continue
            same = _operand(op)
            if same is None:
                continue
            for result, operand in zip(op.results, same, strict=True):
                result.replace_all_uses_with(operand)
            op.erase()
    tidy(module)
    return serialized(module)


def _narrow(op: Any, first: int) -> None:
    """Convert where a slice starts to 32 bits. first: the position of its first start."""
    type = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
    with ir.InsertionPoint(op), op.location:
        for at in range(first, len(op.operands)):
            if op.operands[at].type != type:
                made = ir.Operation.create("stablehlo.convert", [type], [op.operands[at]])
                op.operands[at] = made.result


def _operand(op: Any) -> list[Any] | None:
    """What an operation gives unchanged; None if it computes something."""
    if op.name == "stablehlo.optimization_barrier":
        return list(op.operands)
    if op.name == "stablehlo.reduce_precision":
        given = tuple(
            ir.IntegerAttr(op.attributes[k]).value for k in ("exponent_bits", "mantissa_bits")
        )
        element = str(ir.RankedTensorType(op.operands[0].type).element_type)
        return list(op.operands) if OWN_FORMATS.get(element) == given else None
    if op.name == "stablehlo.select":
        return _divisor(op)
    return None


def _divisor(op: Any) -> list[Any] | None:
    """`y` of `select(x != x, x, y)`, where that is the divisor of `x`."""
    flag, x, y = op.operands
    maker: Any = flag.owner
    if getattr(maker, "name", "") != "stablehlo.compare":
        return None
    is_nan = maker.operands[0] == maker.operands[1] == x
    is_unequal = "NE" in str(maker.attributes["comparison_direction"])
    uses = [use.owner for use in op.results[0].uses]
    divides = all(user.name == "stablehlo.divide" and user.operands[0] == x for user in uses)
    return [y] if is_nan and is_unequal and divides else None
