"""References of the ops on bits."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.kernels.elementwise import Array
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.dtypes import BF16, F32
from lazytensor.core.ops.memory_views import reinterpreted


def _unsigned(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def _count_leading_zeros(x: Array) -> Any:
    rest = _unsigned(x)
    width = x.dtype.itemsize * 8
    zeros = np.full(x.shape, width, x.dtype)
    for step in (32, 16, 8, 4, 2, 1):
        if step < width:
            upper = rest >> np.asarray(step, rest.dtype)
            high = upper != 0
            zeros = zeros - np.where(high, step, 0).astype(x.dtype)
            rest = np.where(high, upper, rest)
    return zeros - rest.astype(x.dtype)


def _mulhi(x: Array, y: Array) -> Any:
    product = x.astype(object) * y.astype(object)
    return np.asarray(product >> (x.dtype.itemsize * 8), object).astype(x.dtype)


def _ldexp(x: Array, exponent: Array) -> Any:
    if x.dtype == BF16:
        return _ldexp(x.astype(F32), exponent).astype(BF16)
    info = np.iinfo(exponent.dtype)
    low, high = max(info.min, -10_000), min(info.max, 10_000)
    return np.ldexp(x, np.clip(exponent, low, high).astype(np.int32))


def _next_after(x: Array, y: Array) -> Any:
    """C's: `y` where x = y; NumPy before 2.5 gives `x` for f16."""
    return np.where(x == y, y, np.nextafter(x, y))


def _reduce_precision(x: Array, *, exponent_bits: int, mantissa_bits: int) -> Any:
    info = np.finfo(x.dtype) if x.dtype != BF16 else np.finfo(F32)
    mantissa = 7 if x.dtype == BF16 else info.nmant
    bits = _unsigned(x)
    unit = bits.dtype.type
    sign = bits & unit(1 << (x.dtype.itemsize * 8 - 1))
    rest = bits ^ sign
    if mantissa_bits < mantissa:
        drop = mantissa - mantissa_bits
        odd = (rest >> unit(drop)) & unit(1)
        rest = (rest + unit((1 << (drop - 1)) - 1) + odd) & ~unit((1 << drop) - 1)
    infinity = unit(((1 << (x.dtype.itemsize * 8 - 1 - mantissa)) - 1) << mantissa)
    bias, small = (1 << (info.iexp - 1)) - 1, (1 << (exponent_bits - 1)) - 1
    if exponent_bits < info.iexp:
        exponent = rest >> unit(mantissa)
        rest = np.where(exponent > bias + small, infinity, rest)
        rest = np.where(exponent <= bias - small, unit(0), rest)
    return np.where(np.isnan(x), x, (rest | sign).view(x.dtype))


_ORDERS: Final = ("big", "little")
ROWS: Rows = {
    ops.not_: np.invert,
    ops.popcount: lambda x: np.bitwise_count(_unsigned(x)).astype(x.dtype),
    ops.count_leading_zeros: _count_leading_zeros,
    ops.sign_bit: np.signbit,
    ops.and_: np.bitwise_and,
    ops.or_: np.bitwise_or,
    ops.xor: np.bitwise_xor,
    ops.shift_left: np.left_shift,
    ops.shift_right: np.right_shift,
    ops.mulhi: _mulhi,
    ops.next_after: _next_after,
    ops.ldexp: _ldexp,
    ops.bitcast: reinterpreted,
    ops.reduce_precision: _reduce_precision,
    ops.pack_bits: lambda x, *, little: np.packbits(x, -1, _ORDERS[little]),
    ops.unpack_bits: lambda x, *, little: np.unpackbits(x, -1, bitorder=_ORDERS[little]),
}
