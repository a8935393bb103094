"""Lowerings of `power`.

A power of floats is `exp(y * log|x|)`. For f32 the logarithm is an f64. For f64 the logarithm and
its product with y are sums of two f64, with 60 bits together; their first parts have 26 bits, so
that products of these are exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.arithmetic import any_of, compare, real_or_complex
from lazytensor.backends.xla.elementwise.exponential import (
    FORMATS,
    LN2,
    LOGARITHM,
    expm1_near_zero,
    log_joined,
    plain_exp,
    scaled,
    split,
)
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.expansion import (
    costly,
    expansion,
    not_a_number,
    number,
    polynomial,
)
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F32, F64, INTS, S32, SIGNED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.approximation import head

Branch = tuple[list[TensorType], Callable[..., list[Value]]]


def _logarithm(x: Node) -> tuple[Node, Node]:
    """log(x) of a positive f64 in two parts, the first of 26 bits."""
    f, k = split(x)
    below = workarounds.fixed(f + 2)
    lost = f - (below - 2)
    s = workarounds.fixed(f / below)
    s_head, below_head = head(s), head(below)
    below_tail = (below - below_head) + lost
    # The exact remainder of f after s_head, divided by the divisor.
    rest = f - s_head * below_head
    rest = rest - s_head * below_tail
    s_tail = rest / below
    z = s * s
    series = s * z * polynomial(z, LOGARITHM[F64])
    high, low = FORMATS[F64].ln2
    large = k * high
    twice = s_head + s_head
    total = workarounds.fixed(large + twice)
    missed = (large - total) + twice
    small = s_tail + s_tail + series
    small = small + k * low + missed
    upper = head(total + small)
    return upper, (total - upper) + small


def _positive_f64(x: Node, y: Node) -> Node:
    """`x**y` for finite positive x."""
    log_head, log_tail = _logarithm(x)
    bound = number(2.0**64, y)  # for larger y every power but that of 1 is 0 or infinite
    y = ops.clamp(-bound, y, bound)
    y_head = head(y)
    high = y_head * log_head
    low = (y - y_head) * log_head + y * log_tail
    high = ops.clamp(number(-1400, y), high, number(1400, y))
    low = ops.clamp(number(-1, y), low, number(1, y))
    ln2_high, ln2_low = FORMATS[F64].ln2
    n = ops.round_even(high * (1 / LN2))
    r = high - n * ln2_high
    r = r - n * ln2_low + low
    p = expm1_near_zero(r)
    return scaled(p + 1, n)


def _positive_f32(x: Node, y: Node) -> Node:
    """The same in f32."""
    logarithm = log_joined(*split(ops.convert(x, dtype=F64)))
    exponent = ops.convert(y, dtype=F64) * logarithm
    exponent = ops.clamp(number(-200, exponent), exponent, number(200, exponent))
    return ops.convert(plain_exp(exponent), dtype=F32)


def _with_edges(x: Node, y: Node, found: Node) -> Node:
    """`found`, or `x**y` where x is 0 or infinite or one of them is NaN."""
    zero, infinity = number(0, x), number(np.inf, x)
    far = ops.equal(x, infinity)
    high = ops.select(far ^ (y < zero), infinity, zero)
    found = ops.select(far | ops.equal(x, zero), high, found)
    missing = not_a_number(x) | not_a_number(y)
    return ops.select(missing, x + y, found)


def _float_power(x: Node, y: Node) -> Node:
    """The power of |x|, with signs and edges by the rules of C's pow."""
    zero, one, infinity = number(0, x), number(1, x), number(np.inf, x)
    size = ops.abs(x)
    found = (_positive_f32 if x.type.dtype == F32 else _positive_f64)(size, y)
    found = _with_edges(size, y, found)
    whole = ops.equal(ops.floor(y), y)
    half = y * 0.5
    odd = whole & ops.not_equal(ops.floor(half), half)
    found = ops.select(ops.sign_bit(x) & odd, -found, found)
    inside = (x < zero) & (size < infinity)
    found = ops.select(inside & ~whole, number(np.nan, x), found)
    minus_one = ops.equal(size, one) & ops.equal(ops.abs(y), infinity)
    unit = ops.equal(x, one) | ops.equal(y, zero) | minus_one
    return ops.select(unit, one, found)


def _by_products(e: Emitter, type: TensorType, x: Value, exponent: int) -> Value:
    """`x**exponent` for a positive whole exponent, by repeated squaring."""
    square, result = x, None
    while True:
        if exponent & 1:
            result = square if result is None else e.op("multiply", type, result, square)
        exponent >>= 1
        if not exponent:
            assert result is not None
            return result
        square = e.op("multiply", type, square, square)


def _power(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    if type.dtype in INTS:
        return _int_power(e, type, x, y)
    return _general(e, type, x, y)


_general = real_or_complex(costly(_float_power), "power")


def _int_power(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    """XLA's own, which is right for exponents below 64; six bits of larger ones at a time."""
    base, exponent = e.expand(x, type.shape), e.expand(y, type.shape)
    if y.constant is not None and y.type.size == 1 and int(y.constant) > 0:
        return _by_products(e, type, base, int(y.constant))
    zero = e.full(0, type)
    left = e.op("maximum", type, exponent, zero) if type.dtype in SIGNED else exponent
    found = e.op("power", type, base, e.op("and", type, left, e.full(63, type)))
    left = e.op("shift_right_logical", type, left, e.full(6, type))
    more = any_of(e, compare("NE")(e, type.with_dtype(BOOL), left, zero))

    def all_bits() -> list[Value]:
        result, power, rest = found, base, left
        for _ in range(type.dtype.itemsize * 8 // 6):
            power = _by_products(e, type, power, 64)
            low = e.op("and", type, rest, e.full(63, type))
            result = e.op("multiply", type, result, e.op("power", type, power, low))
            rest = e.op("shift_right_logical", type, rest, e.full(6, type))
        return [result]

    branches: list[Branch] = [([], lambda: [found]), ([], all_bits)]
    result = e.region_op("case", [type], [e.convert(more, S32)], branches)[0]
    return result if type.dtype not in SIGNED else _inverse(e, type, base, exponent, result)


def _inverse_power(x: Node, y: Node, found: Node) -> Node:
    """`found`, or `x**y` for negative y: the power of 1 and -1, and 0 for other x."""
    zero, one = number(0, x), number(1, x)
    unit = ops.equal(x, one) | ops.equal(x, -one)
    odd = ops.not_equal(y & one, zero)
    power = ops.select(unit, ops.select(odd, x, one), zero)
    return ops.select(y < zero, power, found)


_inverse = expansion(_inverse_power)

ROWS: Rows = {ops.power: _power}
