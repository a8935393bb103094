"""Lowerings written in ops, where StableHLO's instruction is missing, different or slow.

XLA:CPU calls a scalar function for each element of most mathematical functions. Written here in
additions, products and bit operations, they become vector instructions, 5 to 30 times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import INEXACT, Emitter, Lowering, emit
from lazytensor.core import ops
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import BF16, F16, F32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program


def expansion(body: Callable[..., Any]) -> Lowering:
    """A row: the instructions of `body`, a function of nodes, traced once per signature.

    The body's constants are not hidden from XLA, which may join all of them.
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
    """A row: `widened`, with a result that is computed once, even if several loops need it."""
    plain = widened(body)

    def lower(e: Emitter, type: Any, *operands: Value) -> Value:
        return workarounds.computed_once(e, plain(e, type, *operands))

    return lower


def number(value: complex, like: Node) -> Node:
    """A constant of the dtype of `like`."""
    return ops.scalar(value, like.type.dtype)


def polynomial(x: Node, coefficients: Sequence[float]) -> Node:
    """The polynomial with these coefficients, lowest power first.

    By Estrin's rule, neighbours in pairs: in Horner's each product waits for the one before.
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
