"""Lowerings of the trigonometric ops and their inverses.

A sine is computed from the distance r of its argument to the nearest multiple of pi, as
`sin(n * pi + r) = (-1)**n * sin(r)`; a cosine's multiples are `n - 1/2`, a tangent's are of pi / 2.
How r is found, without error for any argument: below `NEAR`, multiples of pi in three parts are
subtracted from x, in f64, each part so short that its product with n is exact (Cody and Waite).
Beyond, `x = X * 2**k` with an integer X, and X times as many bits of `2**k / pi` modulo 2 as matter
is a fixed-point number whose top bit is the parity of n (Payne and Hanek); the bits are in a table.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from jaxlib.mlir.dialects.stablehlo import GatherDimensionNumbers

from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.elementwise import direct
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Lowering, Value
from lazytensor.backends.xla.expansion import expansion, number, polynomial, widened
from lazytensor.core import ops
from lazytensor.core.dtypes import COMPLEX, F32, F64, S32, S64, U32, U64
from lazytensor.core.node import Node
from lazytensor.core.op import Op
from lazytensor.core.types import TensorType, tensor_type

# Minimax polynomials, each for the function's power series from the second term on, in x².
SINE: Final = {
    F32: (-0.16666659524054608, 0.008333065490976623, -0.0001980954243762357, 2.605637003675911e-06),
    F64: (
        -0.16666666666666666, 0.008333333333333193, -0.0001984126984120885, 2.7557319211072164e-06,
        -2.5052106866685202e-08, 1.6058939391000684e-10, -7.642983110903906e-13,
        2.7210848970188094e-15,
    ),
}
NEAR: Final = {F32: 2.0**24, F64: 2.0**27}
FIRST: Final = {F32: 0, F64: -32}
STEP: Final = 8
"""The table has every eighth k from the first on; X is shifted by the rest."""
MASK: Final = 2**64 - 1


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


@cache
def table(dtype: np.dtype, units: int) -> np.ndarray:
    """Rows `units * 2**k / pi` modulo 2 for k from `FIRST`, 63 bits after the point, 64 more."""
    last = {F32: 104, F64: 971}[dtype]
    scale = last + 200
    rows = []
    for k in range(FIRST[dtype], last + 1, STEP):
        bits = (units * inverse_pi(scale) << 127 + k) >> scale
        rows.append((bits >> 64 & MASK, bits & MASK))
    return np.array(rows, np.uint64)


def _lookup_type(index: TensorType, *, dtype: np.dtype, units: int, part: int) -> TensorType:
    return index.with_dtype(U64)


def _lower_lookup(
    e: Emitter, type: TensorType, index: Value, *, dtype: np.dtype, units: int, part: int
) -> Value:
    numbers = GatherDimensionNumbers.get([], [0], [], [], [0], type.ndim)
    return e.op(
        "gather",
        type,
        e.constant(table(dtype, units)[:, part]),
        index,
        dimension_numbers=numbers,
        slice_sizes=i64s([1]),
    )


lookup: Final = Op("lookup", _lookup_type)
"""An instruction of this module's own: row `index` of a column of a table."""
LOWERINGS[lookup] = _lower_lookup


def _far(x: Node, units: int, shift: int) -> tuple[Node, Node]:
    """`_near` for large x: r in f64, and the parity of n as the top bit of a u64."""
    dtype = x.type.dtype
    mantissa, bias = (23, 127) if dtype == F32 else (52, 1023)
    bits = ops.convert(ops.bitcast(x, dtype=U32 if dtype == F32 else U64), dtype=U64)
    exponent = ops.shift_right(bits, number(mantissa, bits))
    least = bias + mantissa + FIRST[dtype]
    k = ops.subtract(ops.maximum(exponent, number(least, bits)), number(least, bits))
    row = ops.convert(ops.shift_right(k, number(3, k)), dtype=S32)
    one = number(1 << mantissa, bits)
    whole = ops.or_(ops.and_(bits, ops.subtract(one, number(1, bits))), one)
    whole = ops.shift_left(whole, ops.and_(k, number(STEP - 1, k)))
    high, low = (lookup(row, dtype=dtype, units=units, part=part) for part in (0, 1))
    turns = ops.add(ops.multiply(whole, high), _upper_half(whole, low, dtype))
    if shift:
        turns = ops.add(turns, number(1 << 62, turns))
    twice = ops.bitcast(ops.shift_left(turns, number(1, turns)), dtype=S64)
    r = ops.multiply(ops.convert(twice, dtype=F64), ops.scalar(np.pi / units / 2**64, F64))
    return r, ops.add(turns, number(1 << 62, turns))


def _upper_half(x: Node, y: Node, dtype: np.dtype) -> Node:
    """The upper 64 bits of x * y, one or two too few."""
    half, mask = number(32, x), number(0xFFFFFFFF, x)
    y1 = ops.shift_right(y, half)
    if dtype == F32:  # x has 31 bits
        return ops.shift_right(ops.multiply(x, y1), half)
    x1, x0, y0 = ops.shift_right(x, half), ops.and_(x, mask), ops.and_(y, mask)
    crossed = ops.shift_right(ops.multiply(x1, y0), half)
    crossed = ops.add(crossed, ops.shift_right(ops.multiply(x0, y1), half))
    return ops.add(ops.multiply(x1, y1), crossed)


def _near(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    """Distance of the f64 x >= 0 from the nearest `(n - shift) * pi / units`, and n in a u64."""
    n = ops.round_even(ops.add(ops.multiply(x, number(units / np.pi, x)), number(shift, x)))
    multiple = ops.subtract(n, number(shift, n))
    for part in _pi_parts(units):
        x = ops.subtract(x, ops.multiply(multiple, number(part, x)))
    bits = ops.bitcast(ops.add(n, number(1.5 * 2**52, n)), dtype=U64)  # n is in the lowest bits
    return x, ops.shift_left(bits, number(63, bits))


@cache
def _pi_parts(units: int) -> tuple[float, float, float]:
    """`pi / units` in parts, the first two of 24 bits."""
    scale = 200
    rest = (1 << 2 * scale) // inverse_pi(scale) // units
    parts = []
    for below in (scale - 22, scale - 46, 0):
        parts.append((rest >> below << below) / (1 << scale))
        rest %= 1 << below
    return parts[0], parts[1], parts[2]


def _distance(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    """r as a float like x >= 0, and n's parity as a u64's top bit."""
    dtype = x.type.dtype
    r, n = _near(ops.convert(x, dtype=F64), units, shift)
    far_r, far_n = _far(x, units, round(2 * shift))
    far = ops.greater_equal(x, number(NEAR[dtype], x))
    far = ops.and_(far, ops.less(x, number(np.inf, x)))  # r of infinity is NaN, by subtraction
    return ops.convert(ops.select(far, far_r, r), dtype=dtype), ops.select(far, far_n, n)


def _series(r: Node, coefficients: dict[np.dtype, tuple[float, ...]]) -> Node:
    """`r + r**3 * polynomial(r**2)`."""
    square = ops.multiply(r, r)
    more = ops.multiply(ops.multiply(r, square), polynomial(square, coefficients[r.type.dtype]))
    return ops.add(r, more)


def _signed(found: Node, *signs: Node) -> Node:
    """`found` with its sign flipped once for each top bit that is set in the u64s `signs`."""
    dtype = found.type.dtype
    unsigned = U32 if dtype == F32 else U64
    bits = ops.bitcast(found, dtype=unsigned)
    top = number(1 << 63, signs[0])
    for sign in signs:
        flip = ops.and_(sign, top)
        if dtype == F32:
            flip = ops.convert(ops.shift_right(flip, number(32, flip)), dtype=U32)
        bits = ops.xor(bits, flip)
    return ops.bitcast(bits, dtype=dtype)


def _sine(x: Node) -> Node:
    r, n = _distance(ops.abs(x), 1, 0.0)
    found = _signed(_series(r, SINE), n)
    return ops.select(ops.sign_bit(x), ops.negate(found), found)


def _cosine(x: Node) -> Node:
    r, n = _distance(ops.abs(x), 1, 0.5)
    return _signed(_series(r, SINE), n)


def real_or_complex(real: Lowering, name: str) -> Lowering:
    """A row: `real` for floats, one instruction for complex numbers."""

    def lower(e: Emitter, type: TensorType, *operands: Value) -> Value:
        return (direct(name) if type.dtype in COMPLEX else real)(e, type, *operands)

    return lower


LOWERINGS.update(
    {
        ops.sin: real_or_complex(widened(_sine), "sine"),
        ops.cos: real_or_complex(widened(_cosine), "cosine"),
    }
)
