"""Lowerings of the trigonometric ops.

A sine is computed from the distance r of its argument to the nearest multiple of pi, as
`sin(n * pi + r) = (-1)**n * sin(r)`. A cosine's multiples are `(n - 1/2) * pi`, a tangent's are of
pi / 2. r is exact enough for any argument. Below `WHOLE_BOUND`, n times pi is subtracted from x in
f64, in parts so short that their products with n are exact (Cody and Waite). Beyond, `x = X * 2**k`
with an integer X. X times the leading bits of `2**k / pi` modulo 2 is a fixed-point number whose
top bit is the parity of n (Payne and Hanek).
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from lazytensor.backends.xla.elementwise.arithmetic import real_or_complex
from lazytensor.backends.xla.emitter import Rows
from lazytensor.backends.xla.lowerings.expansion import costly, number, polynomial
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64, S64, U32, U64
from lazytensor.core.ir.node import Node

# Minimax polynomials for the power series from the second term on, in x².
SINE: Final = {
    F32: (
        -0.16666659524054608,
        0.008333065490976623,
        -0.0001980954243762357,
        2.605637003675911e-06,
    ),
    F64: (
        -0.16666666666666666,
        0.008333333333333193,
        -0.0001984126984120885,
        2.7557319211072164e-06,
        -2.5052106866685202e-08,
        1.6058939391000684e-10,
        -7.642983110903906e-13,
        2.7210848970188094e-15,
    ),
}
TANGENT_SINE: Final = {
    F32: (-0.16666654575375708, 0.00833215846157792, -0.00019514959643818976),
    F64: (
        -0.1666666666666663,
        0.008333333333322077,
        -0.0001984126982955291,
        2.7557313607582787e-06,
        -2.5050745440304536e-08,
        1.589608696835724e-10,
    ),
}
TANGENT_COSINE: Final = {  # from the third term on
    F32: (0.041666645647546706, -0.0013887314099339386, 2.443287511712425e-05),
    F64: (
        0.041666666666666595,
        -0.0013888888888872982,
        2.4801587288802684e-05,
        -2.755731416455449e-07,
        2.087569876752286e-09,
        -1.1358425785501756e-11,
    ),
}
WHOLE_BOUND: Final = {F32: 2.0**24, F64: 2.0**27}
FIRST: Final = {F32: 0, F64: -32}
"""A lower bound of k for arguments beyond `WHOLE_BOUND`."""


@cache
def inverse_pi(bits: int) -> int:
    """`2**bits / pi`, rounded down."""
    one = 1 << (bits + 64)

    def arctan_of_inverse(n: int) -> int:
        term = total = one // n
        k, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    pi = 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))  # Machin's formula
    return (1 << (2 * bits + 64)) // pi


def _window(k: Node, units: int, dtype: np.dtype) -> tuple[Node, Node]:
    """`units * 2**k / pi` modulo 2: 63 bits after the point, and 64 more; k counts from `FIRST`.

    The bits of k select among the words of `1 / pi`. A gather from a table would not be faster in
    f64, and slower in f32.
    """
    count, steps = (4, (1,)) if dtype == F32 else (18, (8, 4, 2, 1))
    bits = units * inverse_pi(64 * count) << 63 + FIRST[dtype]
    words = [number(bits >> 64 * (count - i) & 2**64 - 1, k) for i in range(count)]
    for step in steps:
        later = ops.not_equal(k & (64 * step), number(0, k))
        words = [ops.select(later, words[i + step], words[i]) for i in range(step + 2)]
    left = k & 63
    right = left ^ 63

    def joined(high: Node, low: Node) -> Node:
        rest = (low >> 1) >> right
        return (high << left) | rest

    return joined(words[0], words[1]), joined(words[1], words[2])


def _far(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    """`_near` for large x."""
    dtype = x.type.dtype
    mantissa, bias = (23, 127) if dtype == F32 else (52, 1023)
    bits = ops.convert(ops.bitcast(x, dtype=U32 if dtype == F32 else U64), dtype=U64)
    exponent = bits >> mantissa
    least = number(bias + mantissa + FIRST[dtype], bits)
    high, low = _window(ops.maximum(exponent, least) - least, units, dtype)
    one = number(1 << mantissa, bits)
    whole = (bits & ((1 << mantissa) - 1)) | one
    turns = whole * high + _upper_half(whole, low, dtype)
    if shift:
        turns = turns + (1 << 62)
    twice = ops.bitcast(turns << 1, dtype=S64)
    r = ops.convert(twice, dtype=F64) * (np.pi / units / 2**64)
    return r, turns + (1 << 62)


def _upper_half(x: Node, y: Node, dtype: np.dtype) -> Node:
    """The upper 64 bits of x * y, too small by at most two."""
    half, mask = number(32, x), number(0xFFFFFFFF, x)
    y1 = y >> half
    if dtype == F32:  # x has 24 bits
        return (x * y1) >> half
    x1, x0, y0 = x >> half, x & mask, y & mask
    crossed = (x1 * y0) >> half
    crossed = crossed + ((x0 * y1) >> half)
    return x1 * y1 + crossed


def _near(x: Node, units: int, shift: float, count: int) -> tuple[Node, Node]:
    """Distance of the f64 x >= 0 from the nearest `(n - shift) * pi / units`, and n in a u64."""
    n = ops.round_even(x * (units / np.pi) + shift)
    multiple = n - shift
    for part in _pi_parts(units, count):
        x = x - multiple * part
    bits = ops.bitcast(n + 1.5 * 2**52, dtype=U64)  # n is in the lowest bits
    return x, bits << 63


@cache
def _pi_parts(units: int, count: int) -> tuple[float, ...]:
    """`pi / units` in parts, all but the last of 24 bits."""
    scale = 200
    rest = (1 << 2 * scale) // inverse_pi(scale) // units
    parts = []
    for below in [*range(scale - 22, scale - 22 - 24 * (count - 1), -24), 0]:
        parts.append((rest >> below << below) / (1 << scale))
        rest %= 1 << below
    return tuple(parts)


def _distance(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    """r as a float like x >= 0, and n's parity as a u64's top bit."""
    dtype = x.type.dtype
    r, n = _near(ops.convert(x, dtype=F64), units, shift, 3 if dtype == F32 else 4)
    far_r, far_n = _far(x, units, shift)
    far = x >= WHOLE_BOUND[dtype]
    far = far & (x < np.inf)  # r of infinity is NaN, by subtraction
    return ops.convert(ops.select(far, far_r, r), dtype=dtype), ops.select(far, far_n, n)


def series(r: Node, coefficients: dict[np.dtype, tuple[float, ...]]) -> Node:
    """`r + r**3 * polynomial(r**2)`."""
    square = r * r
    more = r * square * polynomial(square, coefficients[r.type.dtype])
    return r + more


def _signed(found: Node, *signs: Node) -> Node:
    """`found` with its sign flipped once for each top bit that is set in the u64s `signs`."""
    dtype = found.type.dtype
    unsigned = U32 if dtype == F32 else U64
    bits = ops.bitcast(found, dtype=unsigned)
    top = number(1 << 63, signs[0])
    for sign in signs:
        flip = sign & top
        if dtype == F32:
            flip = ops.convert(flip >> 32, dtype=U32)
        bits = bits ^ flip
    return ops.bitcast(bits, dtype=dtype)


def _sine(x: Node) -> Node:
    r, n = _distance(ops.abs(x), 1, 0.0)
    found = _signed(series(r, SINE), n)
    return ops.select(ops.sign_bit(x), -found, found)


def _cosine(x: Node) -> Node:
    r, n = _distance(ops.abs(x), 1, 0.5)
    return _signed(series(r, SINE), n)


def _tangent(x: Node) -> Node:
    r, n = _distance(ops.abs(x), 2, 0.0)
    square = r * r
    sine = series(r, TANGENT_SINE)
    half = square * 0.5
    more = square * polynomial(square, TANGENT_COSINE[r.type.dtype])
    cosine = 1 - half + square * more
    odd = ops.bitcast(n, dtype=S64) < 0
    above, below = ops.select(odd, cosine, sine), ops.select(odd, sine, cosine)
    turned = odd ^ ops.sign_bit(x)
    return above / ops.select(turned, -below, below)


ROWS: Rows = {
    ops.sin: real_or_complex(costly(_sine), "sine"),
    ops.cos: real_or_complex(costly(_cosine), "cosine"),
    ops.tan: real_or_complex(costly(_tangent), "tan"),
}
