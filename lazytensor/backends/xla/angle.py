"""Lowerings of the trigonometric ops and their inverses.

A sine is computed from the distance r of its argument to the nearest multiple of pi, as
`sin(n * pi + r) = (-1)**n * sin(r)`. How r is found, without error for any argument:
- In f32, `x = X * 2**k` with X below 2**8, and a table has `2**k / pi` modulo 2 in two parts, of
  which the first has so few bits that its product with X in f64 is exact.
- In f64 the same with three parts and X in two halves, for x beyond `NEAR`; below, multiples of
  pi, in three parts too, are subtracted from x (Cody and Waite's method).
A cosine is a sine whose multiples are `n - 1/2`; a tangent takes multiples of pi / 2.
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
from lazytensor.core.dtypes import COMPLEX, F32, F64, S32, S64
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
NEAR: Final = 2.0**20
STEP: Final = 8
"""In f64, k is a multiple of it."""


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
    """Rows `units * 2**k / pi` modulo 2, in parts that add up to it; a row of NaN comes last."""
    last, step, widths = (120, 1, (29, 60)) if dtype == F32 else (1016, STEP, (26, 26, 60))
    scale = last + 200
    rows = []
    for k in range(0, last + 1, step):
        rest = (units * inverse_pi(scale) << k) % (2 << scale)
        row, below = [], scale + 1
        for width in widths:
            below -= width
            row.append((rest >> below << below) / (1 << scale))
            rest %= 1 << below
        rows.append(row)
    return np.array([*rows, [np.nan] * len(widths)])


def _lookup_type(index: TensorType, *, dtype: np.dtype, units: int, part: int) -> TensorType:
    return index.with_dtype(F64)


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


def _scaled(x: Node, mantissa: int, below: int, step: int) -> tuple[Node, Node]:
    """`x / 2**k` below `2**(below + step)`, and k // step, for the least such k; x positive."""
    integer = S32 if x.type.dtype == F32 else S64
    bits = ops.bitcast(x, dtype=integer)
    bias = 127 if x.type.dtype == F32 else 1023
    exponent = ops.shift_right(bits, number(mantissa, bits))
    zero = number(0, bits)
    k = ops.maximum(ops.subtract(exponent, number(bias + below - 1, bits)), zero)
    if step > 1:
        k = ops.and_(ops.add(k, number(step - 1, k)), number(-step, k))
    part = ops.bitcast(ops.subtract(bits, ops.shift_left(k, number(mantissa, k))), dtype=x.type.dtype)
    row = ops.shift_right(k, number(step.bit_length() - 1, k))
    return part, ops.convert(row, dtype=S32)


def _parity(n: Node, dtype: np.dtype) -> Node:
    """The lowest bit of the whole f64 number `n`, where a float of `dtype` has its sign."""
    bits = ops.bitcast(ops.add(n, number(1.5 * 2**52, n)), dtype=S64)
    if dtype == F32:
        bits = ops.convert(bits, dtype=S32)
    return ops.shift_left(bits, number(dtype.itemsize * 8 - 1, bits))


def _distance_f32(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    """Distance of x >= 0 from the nearest `(n - shift) * pi / units`, and n, in f64."""
    part, row = _scaled(x, 23, 7, 1)
    part = ops.convert(part, dtype=F64)
    high, low = (
        ops.multiply(part, lookup(row, dtype=F32, units=units, part=i)) for i in range(2)
    )
    n = ops.round_even(ops.add(high, number(shift, high)))
    turns = ops.add(ops.subtract(high, ops.subtract(n, number(shift, n))), low)
    return ops.multiply(turns, number(np.pi / units, turns)), n


def _two_sum(x: Node, y: Node) -> tuple[Node, Node]:
    """x + y, and what rounding lost of it."""
    total = ops.add(x, y)
    of_y = ops.subtract(total, x)
    of_x = ops.subtract(total, of_y)
    return total, ops.add(ops.subtract(x, of_x), ops.subtract(y, of_y))


def _distance_f64(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    """The same in f64."""
    near = ops.less(x, number(NEAR, x))
    n = ops.round_even(ops.add(ops.multiply(x, number(units / np.pi, x)), number(shift, x)))
    multiple = ops.subtract(n, number(shift, n))
    rest = x
    for part in _pi_parts(units):
        rest = ops.subtract(rest, ops.multiply(multiple, number(part, x)))
    far, far_n = _far_distance(x, units, shift)
    return ops.select(near, rest, far), ops.select(near, n, far_n)


def _far_distance(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    part, row = _scaled(x, 52, 7, STEP)
    mask = number(-(1 << 27), ops.bitcast(part, dtype=S64))
    head = ops.bitcast(ops.and_(ops.bitcast(part, dtype=S64), mask), dtype=F64)
    tail = ops.subtract(part, head)
    first, second, third = (lookup(row, dtype=F64, units=units, part=i) for i in range(3))
    high = ops.multiply(head, first)
    n = ops.round_even(ops.add(high, number(shift, high)))
    turns = ops.subtract(high, ops.subtract(n, number(shift, n)))
    turns, lost = _two_sum(turns, ops.multiply(tail, first))
    turns, lost_too = _two_sum(turns, ops.multiply(head, second))
    rest = ops.add(ops.multiply(tail, second), ops.multiply(part, third))
    turns = ops.add(turns, ops.add(ops.add(lost, lost_too), rest))
    return ops.multiply(turns, number(np.pi / units, turns)), n


@cache
def _pi_parts(units: int) -> tuple[float, float, float]:
    """`pi / units` in parts, the first two of 31 bits: exact when multiplied by 22 bits."""
    scale = 200
    pi = (1 << 2 * scale) // inverse_pi(scale) // units
    first, second = (pi >> scale - 29) << scale - 29, 0
    rest = pi - first
    second = (rest >> scale - 60) << scale - 60
    one = 1 << scale
    return first / one, second / one, (rest - second) / one


def _distance(x: Node, units: int, shift: float) -> tuple[Node, Node]:
    find = _distance_f32 if x.type.dtype == F32 else _distance_f64
    return find(x, units, shift)


def _series(r: Node, coefficients: dict[np.dtype, tuple[float, ...]]) -> Node:
    """`r + r**3 * polynomial(r**2)`."""
    square = ops.multiply(r, r)
    more = ops.multiply(ops.multiply(r, square), polynomial(square, coefficients[r.type.dtype]))
    return ops.add(r, more)


def _sine(x: Node) -> Node:
    dtype = x.type.dtype
    integer = np.dtype(f"i{dtype.itemsize}")
    bits = ops.bitcast(x, dtype=integer)
    size = ops.abs(x)
    sign = ops.xor(bits, ops.bitcast(size, dtype=integer))
    r, n = _distance(size, 1, 0.0)
    found = _series(ops.convert(r, dtype=dtype), SINE)
    flipped = ops.xor(ops.bitcast(found, dtype=integer), ops.xor(_parity(n, dtype), sign))
    return ops.bitcast(flipped, dtype=dtype)


def _cosine(x: Node) -> Node:
    dtype = x.type.dtype
    integer = np.dtype(f"i{dtype.itemsize}")
    r, n = _distance(ops.abs(x), 1, 0.5)
    found = _series(ops.convert(r, dtype=dtype), SINE)
    flipped = ops.xor(ops.bitcast(found, dtype=integer), _parity(n, dtype))
    return ops.bitcast(flipped, dtype=dtype)


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
