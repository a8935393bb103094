"""Elementwise ops on bits: logic, shifts, counts, reinterpretation."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from lazytensor.core.buffers.cell import WRITES, ViewStep, view_step
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import BOOLS, FLOATS, INTS, NARROW_INTS, STORED, short_name
from lazytensor.core.ir.node import OPERATORS, Node
from lazytensor.core.ir.op import check_dtype, primitive, scalar, traits
from lazytensor.core.ir.shapes import broadcast_shapes
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.elementwise import (
    abs,
    binary,
    commuting,
    flag,
    is_finite,
    not_equal,
    select,
    unary,
)

_CASTABLE = STORED - NARROW_INTS

not_ = unary("not", BOOLS | INTS, "Every bit of x flipped.")
popcount = unary("popcount", INTS, "How many bits of x are set.")
count_leading_zeros = unary("count_leading_zeros", INTS, "Zero bits above the highest set one.")
sign_bit = unary("sign_bit", FLOATS, "Whether the sign bit is set: true for -0 too.", flag)

and_ = commuting("and", BOOLS | INTS, "Bits set in both.")
or_ = commuting("or", BOOLS | INTS, "Bits set in either.")
xor = commuting("xor", BOOLS | INTS, "Bits set in one of the two.")
shift_left = binary("shift_left", INTS, "x << y; 0 where y is not below the width of x.")
shift_right = binary(
    "shift_right", INTS, "x >> y, keeping the sign; where y is not below the width, 0 or -1."
)
mulhi = binary("mulhi", INTS, "The upper half of the bits of the exact product x * y.")
next_after = binary("next_after", FLOATS, "The number next to x in the direction of y.")

OPERATORS.update(
    {
        "and": and_,
        "or": or_,
        "xor": xor,
        "invert": not_,
        "lshift": shift_left,
        "rshift": shift_right,
    }
)


@traits(Trait.ELEMENTWISE)
@primitive
def ldexp(x: TensorType, exponent: TensorType) -> TensorType:
    """`x * 2**exponent`, rounded once. x: floats; exponent: integers; they broadcast.

    Result: dtype of x. Raises: DTypeError, ShapeError.
    """
    dtype = check_dtype("ldexp", FLOATS, x)
    check_dtype("ldexp", INTS, exponent)
    return tensor_type(dtype, broadcast_shapes("ldexp", x, exponent))


@primitive
def bitcast(x: TensorType, *, dtype: np.dtype) -> TensorType:
    """The bytes of `x` read as `dtype`; a view op.

    x: every dtype but s4 and u4. Result: the shape of x. If `dtype` is k times narrower, an axis of
    length k is appended; if k times wider, the last axis, of length k, is dropped. A complex number
    is two floats. A nonzero byte read as pred is true.
    Raises: DTypeError, ShapeError.
    """
    check_dtype("bitcast", _CASTABLE, x)
    if dtype not in _CASTABLE:
        raise DTypeError(f"bitcast: a dtype of whole bytes is needed, got {x} and {dtype}")
    old, new = x.dtype.itemsize, dtype.itemsize
    if old == new:
        return x.with_dtype(dtype)
    if old > new:
        return tensor_type(dtype, (*x.shape, old // new))
    if x.shape[-1:] != (new // old,):
        wanted = f"a last axis of {new // old}"
        raise ShapeError(f"bitcast: {short_name(dtype)} needs {wanted}, got {x}")
    return tensor_type(dtype, x.shape[:-1])


@traits(Trait.ELEMENTWISE)
@primitive
def reduce_precision(x: TensorType, *, exponent_bits: int, mantissa_bits: int) -> TensorType:
    """`x` rounded to a float format of these bits, halves to even; too large becomes infinite.

    x: floats. Result: type of x. Raises: DTypeError.
    """
    check_dtype("reduce_precision", FLOATS, x)
    if exponent_bits < 1 or mantissa_bits < 0:
        given = f"{exponent_bits} and {mantissa_bits}"
        raise DTypeError(f"reduce_precision: needs an exponent bit or more, got {given} for {x}")
    return x


@composite
def frexp(x: Node) -> tuple[Node, Node]:
    """The mantissa, of magnitude 0.5 up to 1, and the exponent of two, read off the bits.

    x: floats. Result: type of x; its shape in integers of its width, 0 for zero, inf and NaN.
    Raises: DTypeError. Source: C's frexp.
    """
    dtype = check_dtype("frexp", FLOATS, x.type)
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    integer, mantissa = np.dtype(f"int{8 * dtype.itemsize}"), int(info.nmant)
    ones = (1 << (8 * dtype.itemsize - mantissa - 1)) - 1
    tiny = abs(x) < float(info.smallest_normal)
    scaled_up = x * 2.0 ** (mantissa + 1)
    bits = bitcast(select(tiny, scaled_up, x), dtype=integer)
    field = (bits >> mantissa) & ones
    half = scalar((ones // 2 - 1) << mantissa, integer)
    kept = bits & ~(ones << mantissa)
    fraction = bitcast(kept | half, dtype=dtype)
    shift = select(tiny, scalar(mantissa + 1, integer), scalar(0, integer))
    exponent = field - (ones // 2 - 1) - shift
    plain = is_finite(x) & not_equal(x, scalar(0.0, dtype))
    return select(plain, fraction, x), select(plain, exponent, scalar(0, integer))


WRITES[bitcast] = lambda base, value, *, dtype: bitcast(value, dtype=base.type.dtype)


def bitcast_step(dtype: np.dtype) -> ViewStep:
    """The view step of a bitcast."""
    return view_step(bitcast, None, (("dtype", dtype),))
