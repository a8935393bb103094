"""Lowerings of exponentials and logarithms.

The logarithm of `2**k * (1 + f)`, with 1 + f between sqrt(1/2) and sqrt(2), is
`k * log(2) + log(1 + f)`, with the second term from the odd series in `s = f / (2 + f)`. An
exponential is `2**n * exp(r)` with |r| at most log(2) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.arithmetic import real_or_complex
from lazytensor.backends.xla.emitter import Emitter, Lowering, Rows
from lazytensor.backends.xla.lowerings.expansion import costly, expansion, number, polynomial
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType

# Minimax polynomials. LOGARITHM: for log((1 + s) / (1 - s)) from s³ on, in s². EXPONENTIAL: for
# exp(r) from r³ on.
LOGARITHM: Final = {
    F32: (0.666667764035568, 0.3997752801978869, 0.29872306180124103),
    F64: (
        0.6666666666666735,
        0.3999999999941281,
        0.28571428742886235,
        0.2222219851395901,
        0.18183567802211667,
        0.15313951889665434,
        0.14797030206374726,
    ),
}
EXPONENTIAL: Final = {
    F32: (
        0.16666666296960536,
        0.041666481972833555,
        0.008333419982157305,
        0.0013933333420812245,
        0.00019824084976475167,
    ),
    F64: (
        0.16666666666666666,
        0.04166666666666667,
        0.008333333333333328,
        0.0013888888888884323,
        0.0001984126984130178,
        2.4801587323073776e-05,
        2.7557319156906728e-06,
        2.755727715465145e-07,
        2.5052159947388133e-08,
        2.0913118619090455e-09,
        1.605569948940786e-10,
    ),
}
LN2: Final = float(np.log(2.0))


class Format(NamedTuple):
    """The constants of a dtype.

    `ln2`: log(2) in two parts; products of the first with an exponent are exact. `root`: the bits
    of sqrt(1/2). `least`, `most`: bounds of exp's arguments beyond which its result is 0 or inf.
    """

    integer: np.dtype
    mantissa: int
    bias: int
    ln2: tuple[float, float]
    root: int
    least: float
    most: float

    @property
    def magic(self) -> float:
        """A number in the middle of the floats whose last bit is worth 1."""
        return 1.5 * 2.0**self.mantissa

    @property
    def magic_bits(self) -> int:
        """The bits of `magic`."""
        return ((self.bias + self.mantissa) << self.mantissa) + (1 << self.mantissa - 1)


FORMATS: Final = {
    F32: Format(S32, 23, 127, (0.693145751953125, 1.4286068203094173e-06), 0x3F3504F3, -100, 89.5),
    F64: Format(
        S64, 52, 1023, (0.693147180559663, 2.8235290563031577e-13), 0x3FE6A09E667F3BCD, -750, 710.6
    ),
}


def split(x: Node) -> tuple[Node, Node]:
    """f, and k as a float, for positive x."""
    form = FORMATS[x.type.dtype]
    bits = ops.bitcast(x, dtype=form.integer)
    k = (bits - form.root) >> form.mantissa
    near = bits - (k << form.mantissa)
    f = ops.bitcast(near, dtype=x.type.dtype) - 1
    return f, _as_float(k, x.type.dtype)


def _whole(n: Node) -> Node:
    """The whole float n as an integer: adding 1.5 * 2**mantissa leaves it in the lowest bits.

    Unlike a conversion of 64 bits, the addition is a vector instruction on every processor.
    """
    form = FORMATS[n.type.dtype]
    bits = ops.bitcast(n + form.magic, dtype=form.integer)
    return bits - form.magic_bits


def _as_float(n: Node, dtype: np.dtype) -> Node:
    """The small integer n as a float."""
    form = FORMATS[dtype]
    shifted = ops.bitcast(n + form.magic_bits, dtype=dtype)
    return shifted - form.magic


def _log_near_one(f: Node) -> tuple[Node, Node]:
    """log(1 + f) as `f - rest`: f and the rest."""
    s = workarounds.fixed(f / (f + 2))
    z = s * s
    half_square = f * f * 0.5
    series = z * polynomial(z, LOGARITHM[f.type.dtype])
    return f, half_square - s * (half_square + series)


def log_joined(f: Node, k: Node, more: Node | None = None) -> Node:
    """`k * log(2) + log(1 + f) + more`."""
    high, low = FORMATS[f.type.dtype].ln2
    small = k * low
    if more is not None:
        small = small + more
    f, rest = _log_near_one(f)
    tail = rest - small - f
    return k * high - tail


def _with_edges(x: Node, found: Node) -> Node:
    """`found` where x is positive and finite; elsewhere -inf, NaN or inf."""
    below = ops.select(ops.equal(x, number(0, x)), number(-np.inf, x), number(np.nan, x))
    inside = ops.select(x > 0, found, below)
    return ops.select(x < np.inf, inside, x)


def _log(x: Node) -> Node:
    return _with_edges(x, log_joined(*split(x)))


def log1p_of(x: Node) -> Node:
    one = number(1, x)
    u = workarounds.fixed(x + one)
    above = one - workarounds.fixed(u - x)
    below = x - (u - one)
    lost = ops.select(u >= 2, above, below)
    found = _with_edges(u, log_joined(*split(u), lost / u))
    return ops.select(ops.equal(x, number(0, x)), x, found)


def _in_double(body: Callable[[Node], Node]) -> Lowering:
    """A row: an expansion that computes every dtype in f64, or at least in f32 on a TPU."""
    wide, narrow = costly(_through(F64, body)), costly(_through(F32, body))

    def lower(e: Emitter, type: TensorType, x: Value) -> Value:
        is_narrow = e.platform == "tpu" and type.dtype != F64
        found: Value = (narrow if is_narrow else wide)(e, type, x)
        return found

    return lower


def _through(dtype: np.dtype, body: Callable[[Node], Node]) -> Callable[[Node], Node]:
    """`body`, computed in a dtype."""

    def through(x: Node) -> Node:
        if x.type.dtype == dtype:
            return body(x)
        return ops.convert(body(ops.convert(x, dtype=dtype)), dtype=x.type.dtype)

    return through


def _log2(x: Node) -> Node:
    """Exact for powers of 2."""
    f, k = split(x)
    f, rest = _log_near_one(f)
    part = (f - rest) * (1 / LN2)
    return _with_edges(x, k + part)


def _log10(x: Node) -> Node:
    """Exact for powers of 10, because log10(2) is in two parts."""
    f, k = split(x)
    f, rest = _log_near_one(f)
    part = (f - rest) * number(1 / np.log(10.0), f)
    low = k * 1.42050232272661e-13
    high = k * 0.30102999566383914
    return _with_edges(x, high + (low + part))


def _reduced(x: Node) -> tuple[Node, Node]:
    """r, and n as a float, for x = n * log(2) + r."""
    high, low = FORMATS[x.type.dtype].ln2
    n = ops.round_even(x * (1 / LN2))
    r = x - n * high
    return r - n * low, n


def expm1_near_zero(r: Node) -> Node:
    square = r * r
    more = r * square * polynomial(r, EXPONENTIAL[r.type.dtype])
    return r + (square * 0.5 + more)


def power_of_two(n: Node, like: Node) -> Node:
    """`2**n` for the integers n (of the width of `like`) that are exponents of normal numbers."""
    form = FORMATS[like.type.dtype]
    bits = (n + form.bias) << form.mantissa
    return ops.bitcast(bits, dtype=like.type.dtype)


def plain_exp(x: Node) -> Node:
    """exp(x) of an f64 that is not large; faster than XLA's in the middle of other work."""
    r, n = _reduced(x)
    p = expm1_near_zero(r)
    power = power_of_two(_whole(n), x)
    return p * power + power


def quarter_exp(x: Node) -> tuple[Node, Node]:
    """`exp(x) / 4` as `p * h + h`; p and h. A quarter, so that h is finite where sinh still is."""
    form = FORMATS[x.type.dtype]
    r, n = _reduced(ops.clamp(number(form.least, x), x, number(form.most, x)))
    n = ops.maximum(n, number(3 - form.bias, n))
    less = _whole(n) - 2
    return expm1_near_zero(r), power_of_two(less, x)


def half_expm1(x: Node) -> Node:
    """`expm1(x) / 2`."""
    p, h = quarter_exp(x)
    found = p * h + (h - 0.25)
    return ops.select(ops.equal(x, number(0, x)), x, found + found)


def _expm1(x: Node) -> Node:
    half = half_expm1(x)
    return half + half


def _exp2(x: Node) -> Node:
    """Exact for whole numbers."""
    form = FORMATS[x.type.dtype]
    bound = 2.0 * form.bias
    inside = ops.clamp(number(-bound, x), x, number(bound, x))
    n = ops.round_even(inside)
    p = expm1_near_zero((inside - n) * LN2)
    return scaled(p + 1, n)


def scaled(x: Node, n: Node) -> Node:
    """`x * 2**n` for a whole float n, in two steps, because `2**n` itself may overflow."""
    whole = _whole(n)
    first = whole >> 1
    scaled = x * power_of_two(first, x)
    return scaled * power_of_two(whole - first, x)


_scaled_exp = expansion(lambda x: ops.exp(x * LN2))


def _scaled_log(factor: float) -> Lowering:
    """A row: a logarithm of complex numbers to another base."""
    return expansion(lambda x: ops.log(x) * factor)


ROWS: Rows = {
    ops.log: real_or_complex(costly(_log), "log"),
    ops.log2: real_or_complex(_in_double(_log2), _scaled_log(1 / LN2)),
    ops.log10: real_or_complex(_in_double(_log10), _scaled_log(1 / float(np.log(10.0)))),
    ops.exp2: real_or_complex(costly(_exp2), _scaled_exp),
    ops.log1p: real_or_complex(costly(log1p_of), "log_plus_one"),
    ops.expm1: real_or_complex(costly(_expm1), "exponential_minus_one"),
}
