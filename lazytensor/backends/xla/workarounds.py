"""Workarounds for XLA:CPU, which joins, repeats or splits instructions that should stay whole.

Each function writes a value, or a combination of two, in a form that XLA leaves alone. Each has a
test in `tests/xla/test_workarounds.py` that compiles a program without it, and fails once XLA no
longer needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.attributes import comparison, direction
from lazytensor.backends.xla.builder import Builder, Value, barrier
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, F32, F64, FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType

Combine = Callable[..., Value]
"""`combine(builder, type, x, y)`: a reduction's function of two elements."""
S8: Final = np.dtype("int8")
WIDTHS: Final = {F32: (8, 23), F64: (11, 52)}
"""Bits of the exponent and of the mantissa."""


# --- constants -----------------------------------------------------------------------------------


def hide_constant(value: Value) -> Value:
    """The constant `value`, hidden from XLA.

    XLA joins the constants of a sum or product: `(x + 1e16) - 1e16` becomes `x`.
    """
    value.opaque = value.type.dtype in FLOATS | COMPLEX
    return value


def opaque(b: Builder, x: Value) -> Value:
    """The float `x`, its instruction hidden from its uses. It costs nothing, and fuses.

    XLA joins constants across instructions, and turns `x / y / z` into `x / (y * z)`. What hides it
    on a CPU would be a kernel of its own on a GPU: plain forms round x to its own format.
    """
    if b.is_plain and x.constant is None:
        return loop_of_its_own(b, x) if b.platform != "tpu" else x
    return _barred(b, x) if x.type.dtype in FLOATS else x


def hide_from_windows(b: Builder, x: Value) -> Value:
    """The operand of a reduction by windows. XLA aborts if it is a constant that was reshaped."""
    return _barred(b, x)


def divisor(b: Builder, type: TensorType, x: Value, y: Value) -> Value:
    """The divisor `y` of the floats `x`, hidden from XLA.

    XLA multiplies by the inexact reciprocal of a constant or broadcast divisor. In plain forms the
    body of a composite is not exact to the last bit: other compilers know a softmax or a mean by
    its plain quotient.
    """
    if b.is_plain and b.depth:
        return y
    flag = type.with_dtype(BOOL)
    nan = b.op(
        "compare",
        flag,
        x,
        x,
        comparison_direction=direction("NE"),
        compare_type=comparison(type.dtype),
    )
    return b.op("select", type, nan, x, y)


def fixed(x: Node) -> Node:
    """`x`, rounded to its own format, which changes nothing and costs nothing.

    XLA joins no constants across it: `(1 + x) - 1` stays. XLA also ends its loop at a division that
    is used twice, and writes it to memory; so use the `fixed` quotient instead.
    """
    exponent, mantissa = WIDTHS[x.type.dtype]
    return ops.reduce_precision(x, exponent_bits=exponent, mantissa_bits=mantissa)


def flag_as_integer(b: Builder, x: Value) -> Value:
    """A flag, to be converted to a number that may be multiplied.

    XLA replaces a product with a converted flag by a select between the other factor and 0, so
    that NaN times False is 0.
    """
    return b.op("convert", x.type.with_dtype(S8), x)


# --- loops ---------------------------------------------------------------------------------------


def computed_once(b: Builder, x: Value) -> Value:
    """The float `x`, computed once and kept if several loops need it.

    XLA:CPU repeats additions and products in each loop that needs their result, but no divisions:
    sums of sines over each of two axes would compute all sines twice. So x is divided by ones that
    are hidden from XLA. LLVM sees them later, so the division costs nothing. Other compilers would
    store the ones: in plain forms x stays as it is.
    """
    if b.is_plain:
        return x
    one = Value(b, x.type.with_shape(()), None, np.ones((), x.type.dtype))
    ones = b.op("broadcast_in_dim", x.type, one, broadcast_dimensions=ir.DenseI64ArrayAttr.get([]))
    return b.op("divide", x.type, x, _barred(b, ones))


def loop_of_its_own(b: Builder, x: Value) -> Value:
    """`x`, rounded to its own format: it changes nothing, and ends a call of the sums' library.

    Such a call includes the instructions before and after a sum, and stores numbers and sums as
    arrays of the full shape.
    """
    if x.type.dtype not in WIDTHS:
        return x
    exponent, mantissa = _widths(*WIDTHS[x.type.dtype])
    return b.op("reduce_precision", x.type, x, exponent_bits=exponent, mantissa_bits=mantissa)


def materialized(b: Builder, x: Value) -> Value:
    """`x`, written to memory. XLA would merge two transposes, or a transpose and a product."""
    return _barred(b, x)


# --- reductions ----------------------------------------------------------------------------------


def added_by_loop(b: Builder, type: TensorType, x: Value, y: Value) -> Value:
    """`x + y` within a reduction, as `x - (-y)`: XLA gives sums over any axis to a library.

    The library is slow over axes other than the last.
    """
    return b.op("subtract", type, x, b.op("negate", type, y))


def multiplied_by_loop(b: Builder, type: TensorType, x: Value, y: Value) -> Value:
    """`x * y` within a reduction, as `-(x * -y)`."""
    return b.op("negate", type, b.op("multiply", type, x, b.op("negate", type, y)))


def inverted(name: str) -> Combine:
    """Within a reduction, the dual of the instruction `name`: `-name(-x, -y)`; `not` for integers.

    XLA gives extremes over any axis to a library, which loses NaN.
    """

    def combine(b: Builder, type: TensorType, x: Value, y: Value) -> Value:
        inverse = "negate" if type.dtype in FLOATS else "not"
        found = b.op(name, type, b.op(inverse, type, x), b.op(inverse, type, y))
        return b.op(inverse, type, found)

    return combine


# --- writes --------------------------------------------------------------------------------------

WRITE: Final = "stablehlo.dynamic_update_slice"
PRODUCT: Final = "stablehlo.dot_general"
MOVES: Final = frozenset(["stablehlo.reshape", "stablehlo.transpose"])


def read_shared(block: ir.Block) -> None:
    """Have products read an array written in place from memory, if it has other uses too.

    XLA puts the write into the loop that makes a product's operand, often a mere reshape, as for a
    cache of keys that grows by a word. Then it writes twice, and copies the base for each write.
    Rounding to the array's own format makes a separate loop, which reads the written array.
    """
    for line in [*block.operations]:
        written = line.operation.results[0] if line.operation.name == WRITE else None
        uses = [] if written is None else [*written.uses]
        multiplied = [use for use in uses if _is_multiplied(use.owner)]
        if multiplied and len(uses) > 1:
            _read(line.operation, written, multiplied)


def _is_multiplied(op: Any) -> bool:
    """Whether this is a product, or moves elements for products."""
    todo = [op.operation]
    while todo:
        op = todo.pop()
        if op.name == PRODUCT:
            return True
        if op.name in MOVES:
            todo += [use.owner.operation for use in op.results[0].uses]
    return False


def _read(write: Any, written: Any, uses: list[Any]) -> None:
    """Put a loop between a write and its uses."""
    bits = {"f32": WIDTHS[F32], "f64": WIDTHS[F64]}.get(
        str(ir.ShapedType(written.type).element_type)
    )
    if bits is None:
        return
    with ir.InsertionPoint(write), write.location:
        read = hlo.ReducePrecisionOp(written, *_widths(*bits)).operation
    read.move_after(write)
    for use in uses:
        use.owner.operation.operands[use.operand_number] = read.results[0]


def _widths(exponent: int, mantissa: int) -> tuple[ir.Attribute, ir.Attribute]:
    width = ir.IntegerType.get_signless(32)
    return ir.IntegerAttr.get(width, exponent), ir.IntegerAttr.get(width, mantissa)


def _barred(b: Builder, x: Value) -> Value:
    return Value(b, x.type, barrier(x.ir))
