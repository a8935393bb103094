"""Lowerings of the elementwise ops: arithmetic, comparison, choice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import comparison, direction, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Lowering, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion, not_a_number, number
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, FLOATS, INTS, SIGNED, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import TensorType, tensor_type

Parts = tuple[Value, Value]
Do = Callable[..., Value]
"""Emits an instruction, by name, on real parts."""


def direct(name: str) -> Lowering:
    """A row: one instruction over the operands, broadcast to the result's shape."""

    def lower(e: Emitter, type: TensorType, *operands: Value) -> Value:
        return e.op(name, type, *(e.expand(x, type.shape) for x in operands))

    return lower


def real_or_complex(real: Lowering, other: Lowering | str) -> Lowering:
    """A row: `real` for floats; for complex numbers another lowering, or one instruction.

    Other platforms use that instruction for floats too. `real` is for XLA:CPU, which calls a scalar
    function for each element.
    """
    whole = direct(other) if isinstance(other, str) else other

    def lower(e: Emitter, type: TensorType, *operands: Value) -> Value:
        library = isinstance(other, str) and e.is_plain
        return (whole if library or type.dtype in COMPLEX else real)(e, type, *operands)

    return lower


def exact(name: str) -> Lowering:
    """A row: arithmetic that XLA must do as written, without joining constants."""

    def lower(e: Emitter, type: TensorType, *operands: Value) -> Value:
        hidden = (x if x.constant is None else workarounds.opaque(e, x) for x in operands)
        return e.op(name, type, *(e.expand(x, type.shape) for x in hidden))

    return lower


def by_parts(whole: Lowering, formula: Callable[..., Parts]) -> Lowering:
    """A row: `whole`, and for complex numbers real arithmetic on the parts.

    LLVM does not vectorise a loop over pairs; by parts it is several times faster.
    """

    def lower(e: Emitter, type: TensorType, *operands: Value) -> Value:
        if type.dtype not in COMPLEX or e.is_plain:
            return whole(e, type, *operands)
        part = type.with_dtype(real_of(type.dtype))
        given: list[Value] = []
        for x in operands:
            halves = parts_of(e, x) if x.type.dtype in COMPLEX else (x,)
            given += (e.expand(half, type.shape) for half in halves)
        found = formula(lambda name, *xs: e.op(name, part, *xs), *given)
        made = e.op("complex", type, *found)
        made.parts = found
        return made

    return lower


def parts_of(e: Emitter, x: Value) -> Parts:
    """The real and the imaginary part of a complex value."""
    if x.parts is None:
        part = x.type.with_dtype(real_of(x.type.dtype))
        x.parts = e.op("real", part, x), e.op("imag", part, x)
    return x.parts


def _product(do: Do, a: Value, b: Value, c: Value, d: Value) -> Parts:
    real = do("subtract", do("multiply", a, c), do("multiply", b, d))
    return real, do("add", do("multiply", a, d), do("multiply", b, c))


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


def any_of(e: Emitter, flags: Value) -> Value:
    """Whether one of the flags is set: `pred[]`."""
    flag = tensor_type(BOOL)
    either = ([flag, flag], lambda p, q: [e.op("or", flag, p, q)])
    axes = i64s(range(flags.type.ndim))
    operands = [flags, e.constant(False)]
    return e.region_op("reduce", [flag], operands, [either], dimensions=axes)[0]


def _sign(x: Node) -> Node:
    zero = number(0, x)
    if x.type.dtype in COMPLEX:
        size = ops.abs(x)
        flat = ops.complex_(size, number(0, size))
        return ops.select(ops.equal(x, zero), zero, x / flat)
    above = ops.convert(x > zero, dtype=x.type.dtype)
    below = ops.convert(x < zero, dtype=x.type.dtype)
    found = above - below
    return ops.select(not_a_number(x), x, found) if x.type.dtype in FLOATS else found


def _reciprocal(x: Node) -> Node:
    return 1 / x


def _complex(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    halves = e.expand(x, type.shape), e.expand(y, type.shape)
    made = e.op("complex", type, *halves)
    made.parts = halves
    return made


def _part(name: str) -> Lowering:
    def lower(e: Emitter, type: TensorType, x: Value) -> Value:
        if x.type.dtype in COMPLEX:
            return parts_of(e, x)[name == "imag"]
        return x if name == "real" else e.full(0, type)

    return lower


def _abs(e: Emitter, type: TensorType, x: Value) -> Value:
    return x if type.dtype in INTS - SIGNED else e.op("abs", type, x)


def _conj(e: Emitter, type: TensorType, x: Value) -> Value:
    return e.op("chlo.conj", type, x) if type.dtype in COMPLEX else x


def _either_part(test: str) -> Lowering:
    """A row: whether a float, or a part of a complex number, passes the test."""
    op = getattr(ops, test)

    def body(x: Node) -> Node:
        if x.type.dtype in COMPLEX:
            join = ops.and_ if test == "is_finite" else ops.or_
            return join(op(ops.real(x)), op(ops.imag(x)))
        if test == "is_nan":
            return ops.not_equal(x, x)
        return ops.equal(ops.abs(x), number(np.inf, x))

    return expansion(body)


def _is_finite(e: Emitter, type: TensorType, x: Value) -> Value:
    return (_finite_parts if x.type.dtype in COMPLEX else direct("is_finite"))(e, type, x)


_finite_parts = _either_part("is_finite")


def _ignoring_nan(extreme: Op) -> Lowering:
    """A row: an extreme of two numbers, the other one where one is NaN."""

    def body(x: Node, y: Node) -> Node:
        found = extreme(x, y)
        if x.type.dtype not in FLOATS:
            return found
        return ops.select(not_a_number(x), y, ops.select(not_a_number(y), x, found))

    return expansion(body)


def _heaviside(x: Node, y: Node) -> Node:
    zero = number(0, x)
    step = ops.convert(x > zero, dtype=x.type.dtype)
    return ops.select(ops.equal(x, zero), y, ops.select(not_a_number(x), x, step))


ROWS: Rows = {
    ops.abs: _abs,
    ops.negate: by_parts(direct("negate"), lambda do, a, b: (do("negate", a), do("negate", b))),
    ops.sign: expansion(_sign),
    ops.square: expansion(lambda x: x * x),
    ops.reciprocal: expansion(_reciprocal),
    ops.conj: by_parts(_conj, lambda do, a, b: (a, do("negate", b))),
    ops.real: _part("real"),
    ops.imag: _part("imag"),
    ops.floor: direct("floor"),
    ops.ceil: direct("ceil"),
    ops.trunc: expansion(lambda x: ops.select(ops.sign_bit(x), ops.ceil(x), ops.floor(x))),
    ops.round_even: direct("round_nearest_even"),
    ops.round_away: direct("round_nearest_afz"),
    ops.is_finite: _is_finite,
    ops.is_inf: _either_part("is_inf"),
    ops.is_nan: _either_part("is_nan"),
    ops.add: by_parts(exact("add"), lambda do, a, b, c, d: (do("add", a, c), do("add", b, d))),
    ops.subtract: by_parts(
        exact("subtract"), lambda do, a, b, c, d: (do("subtract", a, c), do("subtract", b, d))
    ),
    ops.multiply: by_parts(exact("multiply"), _product),
    ops.maximum: direct("maximum"),
    ops.minimum: direct("minimum"),
    ops.fmax: _ignoring_nan(ops.maximum),
    ops.fmin: _ignoring_nan(ops.minimum),
    ops.heaviside: expansion(_heaviside),
    ops.complex_: _complex,
    ops.equal: compare("EQ"),
    ops.not_equal: compare("NE"),
    ops.less: compare("LT"),
    ops.less_equal: compare("LE"),
    ops.greater: compare("GT"),
    ops.greater_equal: compare("GE"),
    ops.select: by_parts(
        direct("select"),
        lambda do, m, a, b, c, d: (do("select", m, a, c), do("select", m, b, d)),
    ),
    ops.clamp: expansion(lambda low, x, high: ops.minimum(ops.maximum(x, low), high)),
    ops.guard: lambda e, type, ok, **_: ok,
    ops.guarded: lambda e, type, x, ok: x,
}
