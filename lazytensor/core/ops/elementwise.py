"""Elementwise ops: arithmetic, comparison, choice, conversion; and the makers of their rows.

Operands of one dtype are broadcast against each other as NumPy does. Where hardware may give any
result (an integer divided by zero, a float too large for an integer) the result is NumPy's.
Compiled programs treat subnormal numbers as zero; everything else is IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.dtypes import (
    BOOL,
    BOOLS,
    COMPLEX,
    F32,
    F64,
    FLOATS,
    INTS,
    NUMBERS,
    ORDERED,
    REAL,
    STORED,
    DTypes,
    complex_of,
    real_of,
    short_name,
)
from lazytensor.core.ir.node import OPERATORS
from lazytensor.core.ir.op import Op, check_dtype, named, primitive, traits
from lazytensor.core.ir.shapes import broadcast_shapes
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import TensorType, tensor_type

Result = Callable[[np.dtype], np.dtype]


def _same(dtype: np.dtype) -> np.dtype:
    return dtype


def flag(dtype: np.dtype) -> np.dtype:
    """The dtype of flags, pred, whatever the operand's."""
    return BOOL


def unary(name: str, dtypes: DTypes, doc: str, result: Result = _same) -> Op:
    """A row: one operand; the result's dtype is a function of the operand's."""

    def rule(x: TensorType) -> TensorType:
        return x.with_dtype(result(check_dtype(name, dtypes, x)))

    return named(name, rule, f"{doc} x: {_names(dtypes)}, any shape. Raises: DTypeError.")


def binary(
    name: str, dtypes: DTypes, doc: str, result: Result = _same, traits: tuple[Trait, ...] = ()
) -> Op:
    """A row: two operands of one dtype, broadcast against each other."""

    def rule(x: TensorType, y: TensorType) -> TensorType:
        dtype = result(check_dtype(name, dtypes, x, y))
        return tensor_type(dtype, broadcast_shapes(name, x, y))

    operands = f"x, y: one dtype of {_names(dtypes)}, shapes that broadcast."
    return named(name, rule, f"{doc} {operands} Raises: DTypeError, ShapeError.", *traits)


def commuting(name: str, dtypes: DTypes, doc: str, result: Result = _same) -> Op:
    """A row: a commutative `binary`."""
    return binary(name, dtypes, doc, result, (Trait.COMMUTES,))


def _names(dtypes: DTypes) -> str:
    return " ".join(sorted(map(short_name, dtypes)))


abs = unary("abs", NUMBERS, "Magnitude of x; the least integer stays itself.", real_of)
negate = unary("negate", NUMBERS, "-x; integers wrap around.")
sign = unary("sign", NUMBERS, "-1, 0 or 1 (0 for -0, NaN for NaN); x / |x| for complex x.")
square = unary("square", NUMBERS, "x * x; integers wrap around.")
reciprocal = unary("reciprocal", FLOATS | COMPLEX, "1 / x.")
conj = unary("conj", NUMBERS, "The complex conjugate; a real x itself.")
real = unary("real", NUMBERS, "The real part.", real_of)
imag = unary("imag", NUMBERS, "The imaginary part; zero for real x.", real_of)

floor = unary("floor", FLOATS, "The greatest whole number that is not above x.")
ceil = unary("ceil", FLOATS, "The least whole number that is not below x.")
trunc = unary("trunc", FLOATS, "x without its fraction.")
round_even = unary("round_even", FLOATS, "The nearest whole number, halves to the even one.")
round_away = unary("round_away", FLOATS, "The nearest whole number, halves away from zero.")

is_finite = unary("is_finite", FLOATS | COMPLEX, "Whether x is neither infinite nor NaN.", flag)
is_inf = unary("is_inf", FLOATS | COMPLEX, "Whether x, or a part of it, is infinite.", flag)
is_nan = unary("is_nan", FLOATS | COMPLEX, "Whether x, or a part of it, is NaN.", flag)

add = commuting("add", NUMBERS, "x + y; integers wrap around.")
subtract = binary("subtract", NUMBERS, "x - y; integers wrap around.")
multiply = commuting("multiply", NUMBERS, "x * y; integers wrap around.")
divide = binary("divide", NUMBERS, "x / y; integers towards zero, and 0 where y is 0.")
remainder = binary("remainder", REAL, "x - y * trunc(x / y), signed as x; 0 for integer y = 0.")
floor_divide = binary("floor_divide", REAL, "x // y: floor(x / y); 0 for integer y = 0.")
modulo = binary("modulo", REAL, "x - y * floor(x / y), signed as y; 0 for integer y = 0.")
maximum = commuting("maximum", ORDERED, "The greater of x and y; NaN if either is.")
minimum = commuting("minimum", ORDERED, "The lesser of x and y; NaN if either is.")
fmax = binary("fmax", ORDERED, "The greater of x and y; the other one where one is NaN.")
fmin = binary("fmin", ORDERED, "The lesser of x and y; the other one where one is NaN.")
copysign = binary("copysign", FLOATS, "|x| with the sign of y.")
heaviside = binary("heaviside", FLOATS, "0 for x < 0, y for x = 0, 1 for x > 0, NaN for NaN.")
gcd = commuting("gcd", INTS, "The greatest common divisor of |x| and |y|; gcd(0, 0) = 0.")
lcm = commuting("lcm", INTS, "The least common multiple of |x| and |y|, wrapping around.")
complex_ = binary("complex", frozenset([F32, F64]), "x + iy.", complex_of)

equal = commuting("equal", STORED, "x == y; false where either is NaN.", flag)
not_equal = commuting("not_equal", STORED, "x != y; true where either is NaN.", flag)
less = binary("less", ORDERED, "x < y; false where either is NaN.", flag)
less_equal = binary("less_equal", ORDERED, "x <= y; false where either is NaN.", flag)
greater = binary("greater", ORDERED, "x > y; false where either is NaN.", flag)
greater_equal = binary("greater_equal", ORDERED, "x >= y; false where either is NaN.", flag)

OPERATORS.update(
    {
        "neg": negate,
        "add": add,
        "sub": subtract,
        "mul": multiply,
        "truediv": divide,
        "floordiv": floor_divide,
        "mod": modulo,
        "lt": less,
        "le": less_equal,
        "gt": greater,
        "ge": greater_equal,
    }
)


@traits(Trait.ELEMENTWISE)
@primitive
def select(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    """`x` where `condition`, else `y`. condition: pred; x, y: one dtype; all broadcast."""
    check_dtype("select", BOOLS, condition)
    dtype = check_dtype("select", STORED, x, y)
    return tensor_type(dtype, broadcast_shapes("select", condition, x, y))


@traits(Trait.ELEMENTWISE)
@primitive
def clamp(low: TensorType, x: TensorType, high: TensorType) -> TensorType:
    """`minimum(maximum(x, low), high)`. low, x, high: one real or pred dtype; all broadcast."""
    dtype = check_dtype("clamp", ORDERED, low, x, high)
    return tensor_type(dtype, broadcast_shapes("clamp", low, x, high))


@traits(Trait.ELEMENTWISE)
@primitive
def convert(x: TensorType, *, dtype: np.dtype) -> TensorType:
    """`x` as `dtype`: floats to integers towards zero, complex to real by dropping the imaginary
    part, anything to pred as `x != 0`.

    Integers keep their low bits. A float out of an integer dtype's range, NaN included, gives
    NumPy's result on x86-64: the least integer for s32 and s64; for narrower and unsigned dtypes
    the low bits of the conversion to s32 (s64 for u32).
    """
    check_dtype("convert", STORED, x)
    if dtype not in STORED:
        raise DTypeError(f"convert: a dtype that arrays have is needed, got {x} and {dtype}")
    return x.with_dtype(dtype)
