"""Elementwise ops. Operands of one dtype are broadcast against each other as NumPy does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lazytensor.core.dtypes import (
    BOOL,
    BOOLS,
    COMPLEX,
    FLOATS,
    INTS,
    NUMBERS,
    ORDERED,
    STORED,
    DTypes,
    real_of,
    short_name,
)
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.op import Op, check_dtype, named, primitive
from lazytensor.core.shapes import broadcast_shapes
from lazytensor.core.types import TensorType, tensor_type

Result = Callable[[np.dtype], np.dtype]


def _same(dtype: np.dtype) -> np.dtype:
    return dtype


def _flag(dtype: np.dtype) -> np.dtype:
    return BOOL


def unary(name: str, dtypes: DTypes, doc: str, result: Result = _same) -> Op:
    """A row: one operand; the result's dtype is a function of the operand's."""

    def rule(x: TensorType) -> TensorType:
        return x.with_dtype(result(check_dtype(name, dtypes, x)))

    return named(name, rule, _document(doc, dtypes))


def binary(name: str, dtypes: DTypes, doc: str, result: Result = _same) -> Op:
    """A row: two operands of one dtype, broadcast against each other."""

    def rule(x: TensorType, y: TensorType) -> TensorType:
        dtype = result(check_dtype(name, dtypes, x, y))
        return tensor_type(dtype, broadcast_shapes(name, x, y))

    return named(name, rule, _document(doc, dtypes))


def _document(doc: str, dtypes: DTypes) -> str:
    names = " ".join(sorted(map(short_name, dtypes)))
    return f"{doc} Operands: {names}, shapes that broadcast. Raises: DTypeError, ShapeError."


exp = unary("exp", FLOATS | COMPLEX, "e to the x.")
sin = unary("sin", FLOATS | COMPLEX, "Sine of x in radians.")
negate = unary("negate", NUMBERS, "-x.")

add = binary("add", NUMBERS, "x + y; integers wrap around.")
subtract = binary("subtract", NUMBERS, "x - y; integers wrap around.")
multiply = binary("multiply", NUMBERS, "x * y; integers wrap around.")
divide = binary("divide", NUMBERS, "x / y; integers divide towards zero.")

less = binary("less", ORDERED, "x < y; false where either is NaN.", _flag)


@primitive
def select(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    """`x` where `condition`, else `y`. condition: pred; x, y: one dtype; all broadcast."""
    check_dtype("select", BOOLS, condition)
    dtype = check_dtype("select", STORED, x, y)
    return tensor_type(dtype, broadcast_shapes("select", condition, x, y))


@primitive
def convert(x: TensorType, *, dtype: np.dtype) -> TensorType:
    """`x` as `dtype`: floats to integers towards zero, anything to pred as `x != 0`."""
    check_dtype("convert", STORED, x)
    return x.with_dtype(dtype)


select.elementwise = convert.elementwise = True
