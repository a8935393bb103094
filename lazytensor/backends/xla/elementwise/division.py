"""Lowerings of division and of the remainders.

A remainder of floats is `x - q * y` with q = trunc(x / y), computed without error. That is 20 times
faster than C's function, which XLA calls for each element. If q has too many bits, the remainder by
`y * 2**s` is computed first, and C's function does the rest. (An f64 y below 2**-969 has a lower
half that is subnormal, hence zero; there the result is not exact.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.arithmetic import any_of, compare
from lazytensor.backends.xla.elementwise.exponential import FORMATS, power_of_two
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion, not_a_number, number
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, F64, INTS, S32, SIGNED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.approximation import head

Branch = tuple[list[TensorType], Callable[..., list[Value]]]
BRANCH_ELEMENTS: Final = 2**14
"""Elements from which a branch pays for its compile time."""


def _divide(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    x, divisor = e.expand(x, type.shape), e.expand(y, type.shape)
    if type.dtype in INTS:
        return _unless_zero(e, type, "divide", x, divisor, y.constant)
    divisor = workarounds.divisor(e, type, x, divisor)
    return workarounds.opaque(e, e.op("divide", type, x, divisor))


def _unless_zero(
    e: Emitter, type: TensorType, name: str, x: Value, y: Value, known: np.ndarray | None
) -> Value:
    """An instruction on integers whose result XLA leaves undefined where y is 0: 0 there.

    The instruction gets no y of 0, because XLA's compiler divides constants and would crash.
    """
    if known is not None and known.all():
        return e.op(name, type, x, y)
    empty = compare("EQ")(e, type.with_dtype(BOOL), y, e.full(0, type))
    found = e.op(name, type, x, e.op("select", type, empty, e.full(1, type), y))
    return found if name == "remainder" else e.op("select", type, empty, e.full(0, type), found)


def _remainder(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    x, divisor = e.expand(x, type.shape), e.expand(y, type.shape)
    if type.dtype in INTS:
        return _unless_zero(e, type, "remainder", x, divisor, y.constant)
    if type.dtype in (F16, BF16):
        wide = (e.convert(v, F32) for v in (x, divisor))
        return e.convert(_float_remainder(e, type.with_dtype(F32), *wide), type.dtype)
    return _float_remainder(e, type, x, divisor)


def _float_remainder(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    """Two steps of 26 bits; C's function for longer quotients, and for small arrays."""
    if type.size < BRANCH_ELEMENTS or e.is_plain:
        return e.op("remainder", type, x, y)
    rest = workarounds.computed_once(e, _step(e, type, _step(e, type, x, y), y))
    unfinished = any_of(e, _too_large(e, type.with_dtype(BOOL), rest, y))
    done: Branch = ([], lambda: [rest])
    more: Branch = ([], lambda: [e.op("remainder", type, rest, y)])
    return e.region_op("case", [type], [e.convert(unfinished, S32)], [done, more])[0]


def _remainder_step(x: Node, y: Node) -> Node:
    """The remainder of x by y, or by a multiple of y if the quotient has too many bits."""
    size, divisor = ops.abs(x), ops.abs(y)
    multiple = _near_multiple(size, divisor)
    rest = _rest(size, multiple)
    # A quotient rounded up to the next whole number leaves a negative rest.
    rest = ops.select(rest < 0, rest + multiple, rest)
    rest = ops.select(size < divisor, size, rest)
    undefined = ops.equal(divisor, number(0, x)) | ops.equal(size, number(np.inf, x))
    rest = ops.select(undefined, number(np.nan, x), rest)
    return ops.copysign(ops.select(not_a_number(y), y, rest), x)


def _near_multiple(x: Node, y: Node) -> Node:
    """y times the least power of two, at least 1, that makes the quotient less than 2**26."""
    form = FORMATS[x.type.dtype]
    shift = ops.scalar(form.mantissa, form.integer)
    bits = (ops.bitcast(v, dtype=form.integer) for v in (x, y))
    apart = ops.subtract(*(v >> shift for v in bits))
    s = ops.maximum(apart - 25, number(0, apart))
    half = s >> 1
    y = y * power_of_two(half, x)
    return y * power_of_two(s - half, x)


def _rest(x: Node, y: Node) -> Node:
    """`x - floor(x / y) * y`, exactly: y's halves are so short that their products are exact."""
    if x.type.dtype == F32:
        wide = _rest(*(ops.convert(v, dtype=F64) for v in (x, y)))
        return ops.convert(wide, dtype=F32)
    q = ops.floor(x / y)
    upper = head(y)
    lower = y - upper
    return x - q * upper - q * lower


_step = expansion(_remainder_step)
_too_large = expansion(lambda x, y: ops.abs(x) >= ops.abs(y))


def _divmod_ints(x: Node, y: Node) -> tuple[Node, Node]:
    """Quotient and rest, rounding down; both 0 where y is 0."""
    zero = number(0, x)
    quotient = x / y
    rest = ops.select(ops.equal(y, zero), zero, x - quotient * y)
    if x.type.dtype not in SIGNED:
        return quotient, rest
    opposite = (rest ^ y) < zero
    down = ops.not_equal(rest, zero) & opposite
    quotient = quotient - ops.convert(down, dtype=x.type.dtype)
    return quotient, rest + ops.select(down, y, zero)


def _divmod_floats(x: Node, y: Node) -> tuple[Node, Node]:
    """Quotient and rest by the steps of NumPy and of Python's floats."""
    zero, one = number(0.0, x), number(1.0, x)
    rest = ops.remainder(x, y)
    quotient = workarounds.fixed((x - rest) / y)
    unlike = (y < zero) ^ (rest < zero)
    down = ops.not_equal(rest, zero) & unlike
    quotient = ops.select(down, quotient - one, quotient)
    rest = ops.select(down, rest + y, rest)
    rest = ops.select(ops.equal(rest, zero), ops.copysign(zero, y), rest)
    floor = ops.floor(quotient)
    short = quotient - floor > 0.5
    floor = ops.select(short, floor + one, floor)
    ratio = workarounds.fixed(x / y)
    floor = ops.select(ops.equal(quotient, zero), ops.copysign(zero, ratio), floor)
    empty = ops.equal(y, zero)
    return ops.select(empty, ratio, floor), ops.select(empty, number(np.nan, x), rest)


def _divmod(x: Node, y: Node) -> tuple[Node, Node]:
    if x.type.dtype in INTS:
        return _divmod_ints(x, y)
    if x.type.dtype not in (F16, BF16):
        return _divmod_floats(x, y)
    wide = _divmod_floats(ops.convert(x, dtype=F32), ops.convert(y, dtype=F32))
    quotient, rest = (ops.convert(part, dtype=x.type.dtype) for part in wide)
    return quotient, rest


ROWS: Rows = {
    ops.divide: _divide,
    ops.remainder: _remainder,
    ops.floor_divide: expansion(lambda x, y: _divmod(x, y)[0]),
    ops.modulo: expansion(lambda x, y: _divmod(x, y)[1]),
}
