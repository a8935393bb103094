"""Sums of products of numbers that a platform cannot multiply so, from those that it can.

Matrix products and convolutions are such sums. An integer is cut into limbs, a complex number into
its two parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Final

import numpy as np

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.core.ir.dtypes import COMPLEX, F64, INTS, S64, U64, real_of
from lazytensor.core.ir.types import TensorType

Multiply = Callable[[Emitter, TensorType, Value, Value], Value]
"""`multiply(emitter, result_type, x, y)`: sums of products of elements of `x` and of `y`."""

LACKING: Final[dict[tuple[str, str], frozenset[np.dtype]]] = {
    ("cuda", "convolution"): INTS | COMPLEX,
    ("tpu", "convolution"): frozenset([S64, U64]),
    ("tpu", "dot_general"): frozenset([S64, U64]),
}
"""Per platform and operation of XLA: the dtypes of results that its compiler refuses."""


def split_if_lacking(
    e: Emitter, name: str, type: TensorType, x: Value, y: Value, inner: int, multiply: Multiply
) -> Value:
    """Sums of `inner` products, split where the platform lacks the operation on such numbers."""
    if type.dtype not in LACKING.get((e.platform, name), ()):
        return multiply(e, type, x, y)
    if type.dtype in COMPLEX:
        return sum_of_parts(e, type, x, y, multiply)
    return sum_of_limbs(e, type, x, y, inner, multiply)


def sum_of_parts(e: Emitter, type: TensorType, x: Value, y: Value, multiply: Multiply) -> Value:
    """Complex products as four real ones each."""
    part = type.with_dtype(real_of(type.dtype))
    (a, b), (c, d) = (
        [e.op(name, v.type.with_dtype(part.dtype), v) for name in ("real", "imag")]
        for v in (e.convert(x, type.dtype), e.convert(y, type.dtype))
    )
    ac, bd, ad, bc = (multiply(e, part, *pair) for pair in ((a, c), (b, d), (a, d), (b, c)))
    real, imag = e.op("subtract", part, ac, bd), e.op("add", part, ad, bc)
    return e.op("complex", type, real, imag)


def sum_of_limbs(
    e: Emitter, type: TensorType, x: Value, y: Value, inner: int, multiply: Multiply
) -> Value:
    """Products of 64-bit integers, modulo 2 to the 64, by products of their limbs in f64.

    The limbs are narrow enough for all sums of `inner` products to stay below 2 to the 53, so that
    they are exact in any order of the additions.
    """
    width = (53 - max(inner - 1, 1).bit_length()) // 2
    line = type.with_dtype(S64)
    left, right = (_limbs(e, e.convert(value, S64), width) for value in (x, y))
    terms = []
    for i, j in product(range(len(left)), repeat=2):
        shift = (i + j) * width
        if shift < 64:
            exact = multiply(e, line.with_dtype(F64), left[i], right[j])
            places = e.full(shift, line)
            terms.append(e.op("shift_left", line, e.convert(exact, S64), places))
    return e.convert(total(e, terms), type.dtype)


def _limbs(e: Emitter, x: Value, width: int) -> list[Value]:
    """`x` cut into pieces of `width` bits, the lowest first, as f64."""
    mask = e.full(2**width - 1, x.type)
    shifted = [
        e.op("shift_right_logical", x.type, x, e.full(shift, x.type))
        for shift in range(0, 64, width)
    ]
    return [e.convert(e.op("and", x.type, limb, mask), F64) for limb in shifted]


def total(e: Emitter, terms: Sequence[Value]) -> Value:
    """The sum of values of one type, added up from the first on."""
    return reduce(lambda x, y: e.op("add", x.type, x, y), terms)
