"""Samples of the elementwise ops."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import (
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
    S64,
    STORED,
    U8,
    DTypes,
    short_name,
)
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.trait import Trait
from tests.ops.sample import Refusal, Sample

SPECIALS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 3.0, -7.0, 1e3]
EPSILON = {F16: 2.0**-10, BF16: 2.0**-7, F32: 2.0**-23, F64: 2.0**-52}
EPSILON |= {C64: EPSILON[F32], C128: EPSILON[F64]}


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


def rows(op: Op, dtypes: DTypes, *span: float, ulps: float = 0, reason: str = "") -> list[Sample]:
    """A sample per dtype; `ulps` of tolerance in the last place of each number."""
    made = []
    for dtype in in_order(dtypes):
        operands: Any = pairs(dtype, *span) if len(op.operands) == 2 else (numbers(dtype, *span),)
        tolerance = ulps * EPSILON.get(dtype, 0) or None
        made.append(Sample(op, operands, {}, tolerance, reason, each=True))
    return made


EXACT: list[tuple[Op, DTypes]] = [
    (ops.abs, REAL),
    (ops.negate, NUMBERS),
    (ops.sign, REAL),
    (ops.square, REAL),
    (ops.reciprocal, FLOATS),
    (ops.conj, NUMBERS),
    (ops.real, COMPLEX),
    (ops.imag, COMPLEX),
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
    (ops.power, FLOATS, 0, 4, 8),
    (ops.power, COMPLEX, 0, 4, 64),
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

APPROXIMATED: list[tuple[Op, float, float, float]] = [
    (ops.bessel_j0, -20, 20, 16),
    (ops.bessel_j1, -20, 20, 16),
    (ops.bessel_y0, 0, 20, 16),
    (ops.bessel_y1, 0, 20, 16),
    (ops.bessel_i0, -20, 20, 4),
    (ops.bessel_i1, -20, 20, 4),
    (ops.bessel_i0e, -20, 20, 4),
    (ops.bessel_i1e, -20, 20, 4),
    (ops.bessel_k0, 0, 20, 4),
    (ops.bessel_k1, 0, 20, 4),
    (ops.bessel_k0e, 0, 20, 4),
    (ops.bessel_k1e, 0, 20, 4),
    (ops.spherical_bessel_j0, -20, 20, 16),
    (ops.airy_ai, -20, 20, 16),
    (ops.erfcx, -9, 20, 4),
    (ops.dawsn, -9, 9, 4),
    (ops.spence, 0, 9, 4),
    (ops.ndtri, 0, 1, 4),
]
"""Of those that oscillate, a number near a zero has fewer digits in common."""

SAMPLES: list[Sample] = [row for op, dtypes in EXACT for row in rows(op, dtypes)]
SAMPLES += [
    row
    for op, dtypes, low, high, ulps in CLOSE
    for row in rows(op, dtypes, low, high, ulps=ulps, reason=POLYNOMIAL)
]
SAMPLES += [
    row
    for op, low, high, ulps in APPROXIMATED
    for row in rows(op, FLOATS, low, high, ulps=ulps, reason="XLA's sines and exponentials")
]
# Between their zeros, near which a relative error means nothing.
BETWEEN = [np.nan, np.inf, 0.0, -0.0, -1.0, -2.0, 0.1, 0.25, 0.7, 0.8, 3.0, 4.5, 20.0, 1e3, -2.5]
SAMPLES += [
    Sample(
        op,
        (np.array(BETWEEN, t),),
        {},
        (64 if t in (F32, F64) else 2) * EPSILON[t],
        POLYNOMIAL,
        each=True,
    )
    for op in (ops.lgamma, ops.digamma)
    for t in in_order(FLOATS)
]
SAMPLES += [Sample(op, (numbers(F32),), view=False) for op in (ops.real, ops.imag)]
SAMPLES += [
    Sample(op, pairs(dtype), {}, 0.0, "which of two zeros is the greater is left open")
    for op in (ops.maximum, ops.minimum, ops.fmax, ops.fmin)
    for dtype in in_order(ORDERED)
]


def _outside() -> np.ndarray:
    """Floats that some integer dtype does not hold."""
    powers = [2.0**n for n in (7, 8, 15, 16, 31, 32, 62, 63, 64)]
    return np.array([*powers, 255.7, 300.0, 70000.0, 3e9, 5e9, 1e10, 1e19, 65519.0, 65520.0])


def _convertible(source: np.dtype, target: np.dtype) -> np.ndarray:
    x = numbers(source)
    with np.errstate(all="ignore"):
        if source in FLOATS and target not in FLOATS8:
            more = _outside().astype(source)
            x = np.concatenate([x, more, -more])
        if source in FLOATS | FLOATS8 and target in NARROW_INTS:
            x = x[(x > -0.9 if target.name == "uint4" else x >= -8) & (x < 8)]
    return x


CAST = in_order(STORED)
HUBS = {BOOL, F32, S64, C64}
"""Every dtype is converted from and to these; floats to every integer too."""
SAMPLES += [
    Sample(ops.convert, (_convertible(a, b),), {"dtype": b})
    for a, b in product(CAST, CAST)
    if a in HUBS or b in HUBS or (a in FLOATS and b in INTS)
]

BYTES = np.random.default_rng(3).integers(0, 256, 3 * 2 * 16, np.uint8)
CASTABLE = in_order(STORED - NARROW_INTS)


def _bytes_of(dtype: np.dtype, *shape: int) -> np.ndarray:
    if dtype == BOOL:
        return (BYTES[: np.prod(shape)] > 99).reshape(shape)
    # Exponent bytes that are neither all ones nor all zeros: no NaN, whose bits may change.
    plain = np.where(np.arange(BYTES.size) % dtype.itemsize >= dtype.itemsize - 2, 0x35, BYTES)
    return plain.astype(np.uint8).view(dtype)[: np.prod(shape)].reshape(shape)


def _casts() -> list[Sample]:
    made = []
    for a, b in product(CASTABLE, CASTABLE):
        if not {a, b} & {U8, C64} and not (a.itemsize == b.itemsize and a in REAL and b in FLOATS):
            continue
        ratio = b.itemsize // a.itemsize
        shape = (3, ratio) if ratio > 1 else (3, 2)
        flags = b == BOOL and a != BOOL  # many bytes are one flag
        made.append(Sample(ops.bitcast, (_bytes_of(a, *shape),), {"dtype": b}, view=not flags))
    return made


SAMPLES += _casts()
SAMPLES += [Sample(ops.bitcast, (np.float32(1.5),), {"dtype": np.dtype(np.uint16)})]

SAMPLES += [
    Sample(ops.select, (np.arange(4) % 2 == 0, numbers(t)[:4], numbers(t)[4:][:1]))
    for t in CAST
    if t != BOOL
]
SAMPLES += [
    Sample(ops.clamp, (numbers(t)[-1:], numbers(t), numbers(t)[-2:-1]), {}, 0.0, "sign of a zero")
    for t in in_order(ORDERED)
]
SAMPLES += [
    Sample(ops.ldexp, (numbers(t)[:, None], np.array(n, e)), {})
    for t in in_order(FLOATS)
    for n, e in [([-3, 0, 2, 9], "i4"), ([-2000, -200, 200, 2**40], "i8"), ([0, 200], "u1")]
]
SAMPLES += [Sample(ops.frexp, (numbers(t),)) for t in in_order(FLOATS)]
SAMPLES += [
    Sample(ops.reduce_precision, (numbers(t),), {"exponent_bits": e, "mantissa_bits": m})
    for t in in_order(FLOATS)
    for e, m in [(5, 10), (8, 7), (4, 3), (5, 2), (2, 0), (11, 52)]
]
ORDERS = np.array([1.5, 2.0, 3.0, 7.0])[:, None], np.array([0.25, 1.0, 2.5, 20.0, 300.0])
SAMPLES += [
    Sample(
        op,
        tuple((x - less).astype(t) for x, less in zip(ORDERS, (shift, 0), strict=True)),
        {},
        16 * EPSILON[t],
        POLYNOMIAL,
        each=True,
    )
    for op, shift in ((ops.zeta, 0.0),)
    for t in in_order(FLOATS)
]
SAMPLES += [
    Sample(
        ops.polygamma,
        (np.array([[0], [1], [2], [5]], t), np.array([0.25, 2.5, 20.0], t)),
        {},
        16 * EPSILON[t],
        POLYNOMIAL,
        each=True,
    )
    for t in in_order(FLOATS)
]

SHAPES = np.array([0.0, 0.5, 1.0, 7.5, 40.0, -1.0, np.inf])[:, None]
SHARES = np.array([0.0, 0.25, 2.5, 8.0, 50.0, -1.0, np.inf, np.nan])
SAMPLES += [
    Sample(op, (SHAPES.astype(t), SHARES.astype(t)), {}, 256 * EPSILON[t], POLYNOMIAL)
    for op in (ops.igamma, ops.igammac)
    for t in in_order(FLOATS)
]

LINE = np.linspace(0.5, 4.0, 8)
SHAPED = [
    (np.float64(2.0), np.float64(0.5)),  # no axes
    (np.empty((3, 0)), np.empty((1, 0))),  # no elements
    (np.empty((0,)), np.float64(1.0)),
    (LINE[::-2], LINE[None, :4]),  # backwards
    (LINE.reshape(2, 1, 4), LINE[:3, None]),
    (np.asfortranarray(LINE.reshape(2, 4)), LINE.reshape(2, 4)),
]
SAMPLES += [
    Sample(op, operands)
    for op in (ops.add, ops.divide, ops.less, ops.floor_divide)
    for operands in SHAPED
]
SAMPLES += [Sample(op, (x,)) for op in (ops.negate, ops.sqrt, ops.is_nan) for x, _ in SHAPED]


def _refusals() -> list[Refusal]:
    one, two, three = np.float32(1), np.ones(2, np.float32), np.ones(3, np.float32)
    sampled = {sample.op for sample in SAMPLES if len(sample.op.operands) == 2}
    mixed = sampled - {ops.ldexp}  # whose operands differ
    made = [
        Refusal(op, (one, np.int8(1)), DTypeError)
        for op in sorted(mixed, key=lambda op: op.name)
        if Trait.ELEMENTWISE in op.traits
    ]
    for op, dtypes in EXACT:
        if len(op.operands) == 1:
            made += [Refusal(op, (np.zeros(1, ml_dtypes.int4),), DTypeError)]
        else:
            t = in_order(dtypes)[0]
            made.append(Refusal(op, (two.astype(t), three.astype(t)), ShapeError))
    return made


REFUSALS = _refusals()
REFUSALS += [Refusal(op, (np.int32(1),), DTypeError) for op, *_ in APPROXIMATED]
REFUSALS += [
    Refusal(ops.exp, (np.int32(1),), DTypeError),
    Refusal(ops.ldexp, (np.float32(1), np.float32(1)), DTypeError),
    Refusal(ops.frexp, (np.arange(3),), DTypeError),
    Refusal(ops.ldexp, (np.ones(2), np.ones(3, np.int32)), ShapeError),
    Refusal(ops.select, (np.int32(1), np.float32(1), np.float32(1)), DTypeError),
    Refusal(ops.select, (np.True_, np.float32(1), np.float64(1)), DTypeError),
    Refusal(ops.select, (np.ones(2, bool), np.ones(3), np.ones(3)), ShapeError),
    Refusal(ops.clamp, (np.float32(1), np.float64(1), np.float32(1)), DTypeError),
    Refusal(ops.clamp, (np.ones(2), np.ones(3), np.ones(3)), ShapeError),
    Refusal(ops.convert, (np.float32(1),), DTypeError, {"dtype": np.dtype("U1")}),
    Refusal(ops.bitcast, (np.float32(1),), DTypeError, {"dtype": np.dtype("M8[s]")}),
    Refusal(ops.bitcast, (np.ones(3, np.float32),), ShapeError, {"dtype": np.dtype("f8")}),
]
REFUSALS += [
    Refusal(ops.reduce_precision, (x,), DTypeError, {"exponent_bits": e, "mantissa_bits": 2})
    for x, e in ((np.int32(1), 5), (np.float32(1), 0))
]
