"""Samples of the elementwise ops."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from lazytensor.core import ops
from lazytensor.core.dtypes import (
    BF16,
    BOOL,
    C64,
    C128,
    COMPLEX,
    F16,
    F32,
    F64,
    FLOATS,
    FLOATS8,
    INTS,
    NARROW_INTS,
    NUMBERS,
    ORDERED,
    REAL,
    S32,
    S64,
    SIGNED,
    STORED,
    U8,
    DTypes,
    short_name,
)
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.op import Op
from tests.ops.sample import Refusal, Sample

SPECIALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, -7.0, 1e3]
EPSILON = {F16: 2.0**-10, BF16: 2.0**-7, F32: 2.0**-23, F64: 2.0**-52, C64: 2.0**-23, C128: 2.0**-52}


def random() -> np.random.Generator:
    return np.random.default_rng(7)


def in_order(dtypes: DTypes) -> list[np.dtype]:
    return sorted(dtypes, key=short_name)


def numbers(dtype: np.dtype, low: float = -4.0, high: float = 4.0, count: int = 40) -> np.ndarray:
    """Special numbers of `dtype`, then random ones between `low` and `high`."""
    if dtype == BOOL:
        return np.array([True, False])
    if dtype in INTS:
        info = np.iinfo(dtype)
        ends = [info.min, info.min + 1, info.max - 1, info.max, 0, 1, 2, 3, 7, 10]
        signed = [-1, -2, -3, -7, -10] if info.min else []
        return np.array(ends + signed, dtype)
    if dtype in NARROW_INTS:
        return np.arange(-8 if dtype.name == "int4" else 0, 8).astype(dtype)
    spread = random().uniform(low, high, count)
    if dtype in COMPLEX:
        return (spread + 1j * random().permutation(spread)).astype(dtype)
    specials = np.array(SPECIALS)
    if dtype in FLOATS8:  # not all of them have infinities, or -0
        return np.concatenate([np.array([0.0, 1, -1, 0.5, 1.5, -2.5, 3]), spread]).astype(dtype)
    return np.concatenate([specials, spread]).astype(dtype)


def pairs(dtype: np.dtype, *span: float) -> tuple[np.ndarray, np.ndarray]:
    """Every special number with every other, then random pairs; 30 columns at most."""
    x = numbers(dtype, *span)
    few = x[: len(SPECIALS) + 6] if dtype in FLOATS else x
    return few[:, None], few[None, :]


def rows(op: Op, dtypes: DTypes, *span: float, ulps: float = 0, reason: str = "", **more: Any) -> list[Sample]:
    """A sample per dtype; `ulps` of tolerance in the last place of each number."""
    made = []
    for dtype in in_order(dtypes):
        operands: Any = pairs(dtype, *span) if len(op.operands) == 2 else (numbers(dtype, *span),)
        tolerance = ulps * EPSILON.get(dtype, 0) or None
        made.append(Sample(op, operands, {}, tolerance, reason, each=True, **more))
    return made


EXACT: list[tuple[Op, DTypes]] = [
    (ops.abs, REAL),
    (ops.negate, NUMBERS),
    (ops.sign, REAL),
    (ops.square, REAL),
    (ops.reciprocal, FLOATS),
    (ops.conj, NUMBERS),
    (ops.real, NUMBERS),
    (ops.imag, NUMBERS),
    (ops.floor, FLOATS),
    (ops.ceil, FLOATS),
    (ops.trunc, FLOATS),
    (ops.round_even, FLOATS),
    (ops.round_away, FLOATS),
    (ops.is_finite, FLOATS | COMPLEX),
    (ops.is_inf, FLOATS | COMPLEX),
    (ops.is_nan, FLOATS | COMPLEX),
    (ops.sqrt, FLOATS),
    (ops.sign_bit, FLOATS),
    (ops.not_, INTS | {BOOL}),
    (ops.popcount, INTS),
    (ops.count_leading_zeros, INTS),
    (ops.add, NUMBERS),
    (ops.subtract, NUMBERS),
    (ops.multiply, REAL),
    (ops.divide, REAL),
    (ops.remainder, REAL),
    (ops.floor_divide, REAL),
    (ops.modulo, REAL),
    (ops.copysign, FLOATS),
    (ops.heaviside, FLOATS),
    (ops.gcd, INTS),
    (ops.lcm, INTS),
    (ops.complex_, frozenset([F32, F64])),
    (ops.equal, STORED),
    (ops.not_equal, STORED),
    (ops.less, ORDERED),
    (ops.less_equal, ORDERED),
    (ops.greater, ORDERED),
    (ops.greater_equal, ORDERED),
    (ops.and_, INTS | {BOOL}),
    (ops.or_, INTS | {BOOL}),
    (ops.xor, INTS | {BOOL}),
    (ops.shift_left, INTS),
    (ops.shift_right, INTS),
    (ops.mulhi, INTS),
    (ops.next_after, FLOATS),
    (ops.power, INTS),
]

POLYNOMIAL = "XLA's own approximation, or a different libm"
INEXACT = FLOATS | COMPLEX
CLOSE: list[tuple[Op, DTypes, float, float, float]] = [
    (ops.exp, INEXACT, -10, 10, 4),
    (ops.exp2, INEXACT, -10, 10, 4),
    (ops.expm1, INEXACT, -4, 4, 6),
    (ops.log, INEXACT, 0, 100, 4),
    (ops.log2, INEXACT, 0, 100, 4),
    (ops.log10, INEXACT, 0, 100, 4),
    (ops.log1p, INEXACT, -0.9, 9, 4),
    (ops.logistic, INEXACT, -9, 9, 4),
    (ops.sqrt, COMPLEX, -9, 9, 4),
    (ops.rsqrt, INEXACT, 0, 9, 4),
    (ops.cbrt, FLOATS, -9, 9, 4),
    (ops.sin, INEXACT, -9, 9, 4),
    (ops.cos, INEXACT, -9, 9, 4),
    (ops.tan, INEXACT, -1, 1, 4),
    (ops.asin, INEXACT, -1, 1, 4),
    (ops.acos, INEXACT, -1, 1, 4),
    (ops.atan, INEXACT, -9, 9, 4),
    (ops.sinh, INEXACT, -4, 4, 6),
    (ops.cosh, INEXACT, -4, 4, 6),
    (ops.tanh, INEXACT, -4, 4, 6),
    (ops.asinh, INEXACT, -9, 9, 4),
    (ops.acosh, INEXACT, 1, 9, 4),
    (ops.atanh, INEXACT, -1, 1, 4),
    (ops.erf, FLOATS, -4, 4, 6),
    (ops.erfc, FLOATS, -4, 4, 12),
    (ops.erf_inv, FLOATS, -1, 1, 8),
    (ops.lgamma, FLOATS, 2.5, 40, 8),
    (ops.digamma, FLOATS, 2, 40, 8),
    (ops.bessel_i1e, FLOATS, -20, 20, 12),
    (ops.power, INEXACT, 0, 4, 8),
    (ops.atan2, FLOATS, -4, 4, 4),
    (ops.hypot, FLOATS, -4, 4, 4),
    (ops.logaddexp, FLOATS, -9, 9, 8),
    (ops.logaddexp2, FLOATS, -9, 9, 8),
    (ops.abs, COMPLEX, -4, 4, 2),
    (ops.sign, COMPLEX, -4, 4, 4),
    (ops.square, COMPLEX, -4, 4, 4),
    (ops.reciprocal, COMPLEX, -4, 4, 4),
    (ops.multiply, COMPLEX, -4, 4, 4),
    (ops.divide, COMPLEX, -4, 4, 4),
]

SAMPLES: list[Sample] = [row for op, dtypes in EXACT for row in rows(op, dtypes)]
SAMPLES += [
    row
    for op, dtypes, low, high, ulps in CLOSE
    for row in rows(op, dtypes, low, high, ulps=ulps, reason=POLYNOMIAL)
]
SAMPLES += [
    Sample(op, pairs(dtype), {}, 0.0, "which of two zeros is the greater is left open")
    for op in (ops.maximum, ops.minimum, ops.fmax, ops.fmin)
    for dtype in in_order(ORDERED)
]
