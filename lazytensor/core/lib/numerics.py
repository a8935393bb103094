"""Functions of elements that take more than one op; products that take vectors for matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import BOOL, F16, S32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, Op, scalar
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import cast_to

Unary = Callable[[Node], Node]
Binary = Callable[[Node, Node], Node]

NEGATIVE_POWER: Final = "Integers to negative integer powers are not allowed."


def same(x: Node) -> Node:
    """`x`."""
    return x


def truth(x: Node) -> Node:
    """Whether each element is true."""
    return cast_to(x, BOOL)


def constant(value: bool) -> Unary:
    """The same flag for every element."""
    return lambda x: ops.broadcast(scalar(value, BOOL), shape=x.type.shape)


def filled(value: Any, like: Node) -> Node:
    """`value` everywhere, in the type of `like`."""
    return ops.broadcast(scalar(value, like.type.dtype), shape=like.type.shape)


def scaled(factor: float) -> Unary:
    """`x * factor`."""
    return lambda x: x * factor


def power(x: Node, y: Node) -> Node:
    """`x ** y` of floats. A small whole exponent is multiplied out."""
    few = _few_factors(x, y)
    return few if few is not None else x**y


def operator_power(x: Node, y: Node) -> Node:
    """The same for the operator, which computes `x ** 0.5` as a root, unlike `np.power`."""
    if y.op is SLOT and y.value == 0.5 and y.value.__class__ is not bool:
        return ops.sqrt(x)
    return power(x, y)


def _few_factors(x: Node, y: Node) -> Node | None:
    return ops.few_factors(x, y.value) if y.op is SLOT else None


def integer_power(x: Node, y: Node) -> Node:
    """`x ** y` of integers. Raises: ValueError if `y` is negative; at the cut if `y` is lazy."""
    if y.op is SLOT:
        if y.value < 0:
            raise ValueError(NEGATIVE_POWER)
        few = _few_factors(x, y)
        return few if few is not None else x**y
    made = x**y
    if isinstance(y.value, np.ndarray) and (y.value < 0).any():
        raise ValueError(NEGATIVE_POWER)
    if y.type.dtype.kind == "u" or isinstance(y.value, np.ndarray):
        return made
    good = y >= 0
    every = ops.reduce_and(good, axes=tuple(range(y.type.ndim)))
    return ops.guarded(made, ops.guard(every, error=ValueError, text=NEGATIVE_POWER))


def floor_divide(x: Node, y: Node) -> Node:
    """`x // y` of floats. An infinity over a number is an infinity.

    NumPy returns NaN there, as Python does. The array API standard allows that, but its tests do
    not, and NumPy's own tests do not check it.
    """
    far = ops.is_inf(x) & ops.is_finite(y)
    return ops.select(far, x / y, x // y)


def integer_reciprocal(x: Node) -> Node:
    """`1 / x`, towards zero. For zero, the integer to which NumPy casts infinity."""
    with np.errstate(all="ignore"):
        pole = scalar(np.reciprocal(np.zeros((), x.type.dtype)).item(), x.type.dtype)
    made = 1 / x
    return ops.select(ops.equal(x, scalar(0, x.type.dtype)), pole, made)


def bitwise_count(x: Node) -> Node:
    """The number of bits set in |x|."""
    return ops.popcount(ops.abs(x) if x.type.dtype.kind == "i" else x)


class Comparison:
    """A comparison, also of signed with unsigned integers, by their values."""

    def __init__(self, op: Op) -> None:
        self.op = op

    def __call__(self, x: Node, y: Node) -> Node:
        if x.type.dtype is y.type.dtype:
            return self.op(x, y)
        if x.type.dtype.kind == "u":
            return _compare_signed(_MIRRORED[self.op], y, x)
        return _compare_signed(self.op, x, y)


_MIRRORED: Final = {
    ops.equal: ops.equal,
    ops.not_equal: ops.not_equal,
    ops.less: ops.greater,
    ops.less_equal: ops.greater_equal,
    ops.greater: ops.less,
    ops.greater_equal: ops.less_equal,
}


def _compare_signed(op: Op, x: Node, y: Node) -> Node:
    """`op` of a signed `x` and an unsigned `y`: a negative `x` is less than any `y`."""
    negative = x < 0
    below = scalar(op in (ops.less, ops.less_equal, ops.not_equal), BOOL)
    return ops.select(negative, below, op(cast_to(x, y.type.dtype), y))


def ordered(op: Op) -> Binary:
    """A comparison of complex numbers: by real parts, then by imaginary ones."""
    strict = ops.less if op in (ops.less, ops.less_equal) else ops.greater

    def compare(x: Node, y: Node) -> Node:
        a, b, c, d = ops.real(x), ops.imag(x), ops.real(y), ops.imag(y)
        numbers = ~(ops.is_nan(b) | ops.is_nan(d))
        first = strict(a, c) & numbers
        return first | (ops.equal(a, c) & op(b, d))

    return compare


def complex_extreme(op: Op, propagate: bool) -> Binary:
    """The greater or lesser of complex numbers; NaN wins or loses."""
    wins = ordered(op)

    def choose(x: Node, y: Node) -> Node:
        nan = ops.is_nan(x if propagate else y)
        return ops.select(wins(x, y) | nan, x, y)

    return choose


def complex_rint(x: Node) -> Node:
    """Both parts rounded, halves to even."""
    return ops.complex_(ops.round_even(ops.real(x)), ops.round_even(ops.imag(x)))


def spacing(x: Node) -> Node:
    """The distance to the next number away from zero; for half floats, to the next greater one."""
    away = filled(float("inf"), x)
    if x.type.dtype != F16:
        away = ops.select(x < filled(0.0, x), filled(float("-inf"), x), away)
    return ops.next_after(x, away) - x


def modf(x: Node) -> tuple[Node, Node]:
    """The fraction and the whole part, both signed as `x`."""
    whole = ops.trunc(x)
    fraction = ops.select(ops.is_inf(x), filled(0.0, x), x - whole)
    return ops.copysign(fraction, x), whole


def ldexp(x: Node, exponent: Node) -> Node:
    """`x * 2**exponent`."""
    return ops.ldexp(x, exponent)


def matmul(x: Node, y: Node) -> Node:
    """Products of matrices. A vector is a row on the left and a column on the right."""
    _check_axes(x, 1, y, 1)
    if x.type.dtype is BOOL:
        return truth(matmul(cast_to(x, S32), cast_to(y, S32)))
    if y.type.ndim > 2 and x.type.ndim > 1:
        return ops.matmul(x, y)
    contract = ((x.type.ndim - 1,), (max(y.type.ndim - 2, 0),))
    return ops.dot_general(x, y, contract=contract)


def vecdot(x: Node, y: Node) -> Node:
    """Products of vectors on the last axes, the left one conjugated."""
    _check_axes(x, 1, y, 1)
    row = _reshape(_conjugate(x), (*x.type.shape[:-1], 1, x.type.shape[-1]))
    column = _reshape(y, (*y.type.shape, 1))
    made = matmul(row, column)
    return _reshape(made, made.type.shape[:-2])


def matvec(x: Node, y: Node) -> Node:
    """Products of matrices and vectors."""
    _check_axes(x, 2, y, 1)
    made = matmul(x, _reshape(y, (*y.type.shape, 1)))
    return _reshape(made, made.type.shape[:-1])


def vecmat(x: Node, y: Node) -> Node:
    """Products of vectors, conjugated, and matrices."""
    _check_axes(x, 1, y, 2)
    made = matmul(_reshape(_conjugate(x), (*x.type.shape[:-1], 1, x.type.shape[-1])), y)
    shape = made.type.shape
    return _reshape(made, (*shape[:-2], shape[-1]))


def _check_axes(x: Node, left: int, y: Node, right: int) -> None:
    if x.type.ndim < left or y.type.ndim < right:
        raise ShapeError(f"{left} and {right} axes are needed, got {x.type}, {y.type}")


def _conjugate(x: Node) -> Node:
    return ops.conj(x) if x.type.dtype.kind == "c" else x


def _reshape(x: Node, shape: Shape) -> Node:
    return x if x.type.shape == shape else ops.reshape(x, shape=shape)
