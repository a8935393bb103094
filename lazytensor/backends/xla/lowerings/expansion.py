"""Lowerings written in ops: for what StableHLO lacks, has otherwise than the core, or has slowly.

XLA:CPU calls one scalar function an element for most of mathematics; what is written here in
additions, products and bit operations becomes vector instructions, 5 to 30 times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lazytensor.backends.xla.emit import INEXACT, Emitter, Lowering, Value, emit
from lazytensor.core import ops
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import BF16, F16, F32, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program

WIDTHS: Final = {F32: (8, 23), F64: (11, 52)}
"""Bits of the exponent and of the mantissa."""


def expansion(body: Callable[..., Any]) -> Lowering:
    """A row: the instructions of `body`, a function of nodes, traced once per signature.

    The body's constants are emitted as they are: there are none in it that XLA may not join.
    """
    traced: dict[tuple[Any, ...], Program] = {}

    def lower(e: Emitter, type: Any, *operands: Value, **attrs: Any) -> Any:
        types = tuple(x.type for x in operands)
        key = (types, *attrs.items())
        program = traced.get(key)
        if program is None:
            program = traced[key] = trace_types(body, types, attrs)
        constants = [
            _plain(e, e.constant(value, program.instructions[i][3].dtype))
            for i, value in zip(program.slots, program.constants, strict=True)
        ]
        results = emit(e, program, operands, constants)
        return tuple(results) if program.multiple else results[0]

    return lower


def _plain(e: Emitter, x: Value) -> Value:
    return Value(e, x.type, x.ir) if x.type.dtype in INEXACT else x


def widened(body: Callable[..., Any]) -> Lowering:
    """A row: an expansion that computes f16 and bf16 in f32."""

    def wide(*operands: Node) -> Node:
        dtype = operands[0].type.dtype
        if dtype not in (F16, BF16):
            return body(*operands)
        return ops.convert(body(*(ops.convert(x, dtype=F32) for x in operands)), dtype=dtype)

    return expansion(wide)


def costly(body: Callable[..., Any]) -> Lowering:
    """A row: `widened`, for what XLA had better compute once."""
    plain = widened(body)

    def lower(e: Emitter, type: Any, *operands: Value) -> Value:
        return once(e, plain(e, type, *operands))

    return lower


def once(e: Emitter, x: Value) -> Value:
    """The float `x`, which XLA will compute once and keep if several loops need it.

    XLA:CPU repeats additions and products wherever their result is used, so a stencil of sines
    would compute each sine several times; but not divisions. So x is divided by ones of which XLA
    does not see what they are. LLVM does, later, and the division costs nothing.
    """
    ones = e.op("optimization_barrier", x.type, e.full(1, x.type))
    return e.op("divide", x.type, x, ones)


def number(value: complex, like: Node) -> Node:
    """A constant of the dtype of `like`."""
    return ops.scalar(value, like.type.dtype)


def fixed(x: Node) -> Node:
    """`x`, through an instruction that does nothing, and costs nothing.

    XLA joins no constants across it: `(1 + x) - 1` stays. And XLA ends its loop at a division, say,
    that is used twice, and writes it to memory; so divide, `fixed`, and use that.
    """
    exponent, mantissa = WIDTHS[x.type.dtype]
    return ops.reduce_precision(x, exponent_bits=exponent, mantissa_bits=mantissa)


def polynomial(x: Node, coefficients: Sequence[float]) -> Node:
    """The polynomial with these coefficients, lowest power first.

    By Estrin's rule, neighbours in pairs: Horner's has fewer products, but each waits for the last.
    """
    terms = [number(c, x) for c in coefficients]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        rest = terms[-1:] if len(terms) % 2 else []
        terms = [low + high * x for low, high in pairs] + rest
        x = x * x
    return terms[0]


def not_a_number(x: Node) -> Node:
    """Whether the float `x` is NaN."""
    return ops.not_equal(x, x)
