"""References of the elementwise ops: arithmetic, comparison, choice, conversion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import InPlaceRows, Rows
from lazytensor.core.ir.dtypes import (
    BF16,
    BOOL,
    COMPLEX,
    F16,
    F32,
    F64,
    FLOATS8,
    INTS,
    NARROW_INTS,
    S32,
    S64,
    SIGNED,
    U32,
)
from lazytensor.core.ops.memory_views import imaginary

Array = np.ndarray[Any, np.dtype[Any]]


def rounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with bf16 computed in f32 and rounded once, as in compiled programs."""

    def reference(*operands: Array) -> Any:
        if operands[0].dtype != BF16:
            return function(*operands)
        return np.asarray(function(*(x.astype(F32) for x in operands))).astype(BF16)

    return reference


def _divide(x: Array, y: Array) -> Any:
    if x.dtype not in INTS:
        return np.divide(x, y)
    floor = np.floor_divide(x, y)
    if x.dtype not in SIGNED:
        return floor
    inexact = (np.multiply(floor, y) != x) & (y != 0)
    return floor + (inexact & ((x < 0) != (y < 0))).astype(x.dtype)


def _round_away(x: Array) -> Any:
    whole = np.trunc(x)
    up = (np.abs(x - whole) >= 0.5).astype(x.dtype)
    return np.copysign(np.abs(whole) + up, x)


def _complex(x: Array, y: Array) -> Any:
    shape = np.broadcast_shapes(x.shape, y.shape)
    made = np.empty(shape, np.result_type(x.dtype, np.complex64))
    made.real, made.imag = x, y
    return made


def _clamp(low: Array, x: Array, high: Array, out: Array | None = None) -> Any:
    if x.dtype.kind in "iuf":
        return np.clip(x, low, high, out=out)  # one pass over memory
    return np.minimum(np.maximum(x, low, out=out), high, out=out)


def _clamp_there(low: Array, x: Array, high: Array) -> Any:
    return _clamp(low, x, high, x)


def _convert(x: Array, *, dtype: np.dtype) -> Any:
    if x.dtype == dtype:
        return x
    if x.dtype in COMPLEX and dtype not in COMPLEX:
        return x != 0 if dtype == BOOL else _convert(x.real, dtype=dtype)
    if x.dtype in NARROW_INTS:
        x = x.astype(np.int8)
    elif x.dtype in FLOATS8 or x.dtype == BF16:
        x = x.astype(F32)
    if dtype == BOOL:
        return x != 0
    if x.dtype in (F16, F32, F64):
        if dtype == U32:
            return x.astype(S64).astype(U32)
        if dtype in NARROW_INTS:
            x = x.astype(S32)
    return x.astype(dtype)


ROWS: Rows = {
    ops.abs: np.abs,
    ops.negate: np.negative,
    ops.sign: rounded(np.sign),
    ops.square: np.square,
    ops.reciprocal: np.reciprocal,
    ops.conj: np.conj,
    ops.real: np.real,
    ops.imag: imaginary,
    ops.floor: np.floor,
    ops.ceil: np.ceil,
    ops.trunc: np.trunc,
    ops.round_even: np.rint,
    ops.round_away: rounded(_round_away),
    ops.is_finite: np.isfinite,
    ops.is_inf: np.isinf,
    ops.is_nan: np.isnan,
    ops.add: np.add,
    ops.subtract: np.subtract,
    ops.multiply: np.multiply,
    ops.divide: _divide,
    ops.remainder: rounded(np.fmod),
    ops.floor_divide: rounded(np.floor_divide),
    ops.modulo: rounded(np.remainder),
    ops.maximum: np.maximum,
    ops.minimum: np.minimum,
    ops.fmax: np.fmax,
    ops.fmin: np.fmin,
    ops.copysign: np.copysign,
    ops.heaviside: rounded(np.heaviside),
    ops.gcd: np.gcd,
    ops.lcm: np.lcm,
    ops.complex_: _complex,
    ops.equal: np.equal,
    ops.not_equal: np.not_equal,
    ops.less: np.less,
    ops.less_equal: np.less_equal,
    ops.greater: np.greater,
    ops.greater_equal: np.greater_equal,
    ops.clamp: _clamp,
    ops.convert: _convert,
    ops.guard: lambda ok, *, error, text: ok,
    ops.guarded: lambda x, ok: x,
}
IN_PLACE: InPlaceRows = {ops.clamp: lambda: {1: _clamp_there}}
