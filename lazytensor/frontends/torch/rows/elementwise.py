"""Elementwise rows: arithmetic, comparison, functions of one operand."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, F16, F32, FLOATS, FLOATS8, U8
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, scalar
from lazytensor.core.lib import special
from lazytensor.core.lib.numbers import HALVES, is_inexact
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    floating,
    operand,
    promoted,
    refuse_overflow,
    result_dtype,
    without_imaginary,
)
from lazytensor.frontends.torch.dispatch.refused_dtypes import (
    require_ends,
    require_factor,
    require_numbers,
    require_parts,
)
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.functions import (
    COMPARED,
    DIVIDED,
    FLOATING,
    KEPT,
    ROUNDED,
    SAME,
)
from lazytensor.frontends.torch.tensors.tensor import NUMBERS


def _alternative(op: Op, boolean: Op) -> Callable[[Node, Node], Node]:
    """`op`, of two flags `boolean`."""

    def choose(x: Node, y: Node) -> Node:
        return (boolean if x.type.dtype is BOOL else op)(x, y)

    return choose


def _in_f32(row: Row) -> Row:
    """The row; halves are computed in f32, and rounded once."""

    @wraps(row)
    def wide(*args: Any, **kwargs: Any) -> Node:
        given = [operand(x) for x in args]
        dtypes = {x.type.dtype for x in given if isinstance(x, Node)}
        dtype = dtypes.pop()
        if dtypes or dtype not in HALVES:
            return row(*given, **kwargs)
        given = [cast_to(x, F32) if isinstance(x, Node) else x for x in given]
        return cast_to(row(*given, **kwargs), dtype)

    return wide


def _scaled(op: Op, boolean: Op | None) -> Row:
    """`x + alpha * y` and its like."""
    fallback, one = _alternative(op, boolean) if boolean is not None else op, 1

    def row(x: Any, y: Any, alpha: Any = one) -> Node:
        first, second = promoted(x, y)
        if boolean is None:
            require_numbers(x, y)
        if alpha is not one:
            require_factor(alpha, second.type.dtype)
        if alpha != 1:
            refuse_overflow(alpha, second.type.dtype)
            if first.type.dtype in HALVES:
                return _in_f32(row)(first, second, cast_to(alpha, first.type.dtype))
            second = _multiply(second, cast_to(alpha, second.type.dtype))
        return fallback(first, second)

    return row


_multiply = _alternative(ops.multiply, ops.and_)


def _same(op: Callable[[Node, Node], Node]) -> Row:
    return lambda x, y: op(*promoted(x, y))


def _exact(op: Callable[[Node, Node], Node], meet: Callable[..., list[Node]]) -> Row:
    """The same; of halves and a number, or a tensor without axes, in f32.

    So the number is not rounded to a half first, as it is not on the CPU.
    """

    def row(x: Any, y: Any) -> Node:
        first, second = operand(x), operand(y)
        if isinstance(first, Node) and first.type.dtype in HALVES and _is_finer(second, first):
            return cast_to(op(cast_to(first, F32), cast_to(second, F32)), first.type.dtype)
        return op(*meet(first, second))

    return row


def _is_finer(x: Any, half: Node) -> bool:
    """Whether it is a number that has more digits than a half, and a half is what they meet in."""
    if isinstance(x, Node):
        plain = not x.type.ndim and x.type.dtype is not half.type.dtype
        return plain and result_dtype(half, x) is half.type.dtype
    return x.__class__ is float or x.__class__ is int


def _divided(op: Op) -> Row:
    """The same, refusing to divide integers by zero."""

    def row(x: Any, y: Any) -> Node:
        first, second = promoted(x, y)
        made: Node = op(first, second)
        return _unless_zero(made, second, y)

    return row


def _unless_zero(made: Node, divisor: Node, y: Any) -> Node:
    """`made`, a quotient by `y`; integers by zeros are refused, at once where `y` is a number.

    Zeros among data are found when the program runs.
    """
    dtype = divisor.type.dtype
    if is_inexact(dtype) or not made.type.size:
        return made
    if not isinstance(y, NUMBERS):
        return sure(made, ops.not_equal(divisor, cast_to(0, dtype)), "ZeroDivisionError")
    require(y != 0)
    return made


def on_floats(op: Op) -> Row:
    return lambda x: op(*floating(x))


def _kept(op: Op) -> Row:
    return lambda x: op(operand(x))


def _rounded(op: Op) -> Row:
    def row(x: Any) -> Node:
        made = operand(x)
        return op(made) if is_inexact(made.type.dtype) else made

    return row


divide = _exact(ops.divide, floating)
"""`x / y`."""


def _divide_mode(x: Any, y: Any, rounding_mode: str | None = None) -> Node:
    if rounding_mode is None:
        return divide(x, y)
    first, second = promoted(x, y)
    made: Node
    if rounding_mode == "floor":
        made = first // second
    else:
        made = first / second
        made = ops.trunc(made) if is_inexact(made.type.dtype) else made
    return _unless_zero(made, second, y)


def _logical(op: Op) -> Row:
    return lambda x, y: op(cast_to(operand(x), BOOL), cast_to(operand(y), BOOL))


def power(x: Any, y: Any) -> Node:
    first, second = promoted(x, y)
    if y.__class__ in (int, float):
        if first.type.dtype is not BOOL and (few := ops.few_factors(first, y)) is not None:
            return few
        dtype = first.type.dtype
        if abs(y) == 0.5 and is_inexact(dtype) and dtype != F16:  # -0.0 keeps its sign
            return ops.sqrt(first) if y > 0 else ops.rsqrt(first)
    negative = isinstance(y, int) and y < 0 and not is_inexact(first.type.dtype)
    require(first.type.dtype is not BOOL and not negative)
    return first**second


def _where(condition: Any, x: Any, y: Any) -> Node:
    flags = operand(condition)
    require(flags.type.dtype in (BOOL, U8))
    pair = promoted(x, y)
    dtype = pair[0].type.dtype
    for value in (x, y) if dtype not in HALVES else ():  # a half is infinite instead
        refuse_overflow(value, dtype)
    return ops.select(cast_to(flags, BOOL), *pair)


def _clamp(x: Any, low: Any = None, high: Any = None) -> Node:
    require(low is not None or high is not None)
    nodes = promoted(*(v for v in (x, low, high) if v is not None))
    made = nodes[0]
    for bound in (low, high):
        refuse_overflow(bound, made.type.dtype)
    if low is not None:
        made = ops.maximum(made, nodes[1])
    if high is not None:
        made = ops.minimum(made, nodes[-1])
    return made


def _flags(x: Any, op: Callable[[Node], Node], otherwise: bool) -> Node:
    made = operand(x)
    if made.type.dtype in FLOATS8:
        made = cast_to(made, F32)
    if is_inexact(made.type.dtype):
        return op(made)
    flag = cast_to(otherwise, BOOL)
    return ops.broadcast(flag, shape=made.type.shape)


def _is_infinity(infinity: float, x: Any) -> Node:
    require(operand(x).type.dtype not in COMPLEX)
    return _flags(x, lambda made: ops.equal(made, scalar(infinity, made.type.dtype)), False)


def _not(x: Any) -> Node:
    return ~operand(x)


def _abs(x: Any) -> Node:
    return ops.abs(operand(x))


def _negate(x: Any) -> Node:
    made = operand(x)
    require(made.type.dtype is not BOOL)
    return -made


def _sign(x: Any) -> Node:
    made = operand(x)
    dtype = made.type.dtype
    if dtype is BOOL:
        return made
    sign = ops.sign(made)
    # NaN has no sign: torch compares with 0.
    return ops.select(ops.is_nan(made), cast_to(0, dtype), sign) if dtype in FLOATS else sign


@_in_f32
def addcmul(x: Any, a: Any, b: Any, value: Any = 1) -> Node:
    """`x + value * a * b`."""
    base, first, second = promoted(x, a, b)
    dtype = base.type.dtype
    refuse_overflow(value, dtype)
    if dtype in FLOATS:
        return ops.add_product(base, first, second, cast_to(value, dtype))
    return base + cast_to(value, dtype) * (first * second)


@_in_f32
def addcdiv(x: Any, a: Any, b: Any, value: Any = 1) -> Node:
    """`x + value * a / b`."""
    require(any(is_inexact(x.type.dtype) for x in (a, b)))
    base, first, second = floating(x, a, b)
    dtype = base.type.dtype
    refuse_overflow(value, dtype)
    if dtype in FLOATS:
        return ops.add_quotient(base, first, second, cast_to(value, dtype))
    return base + cast_to(value, dtype) * first / second


@_in_f32
def lerp(x: Any, end: Any, weight: Any) -> Node:
    """`x + weight * (end - x)`."""
    require_ends(x, end, weight)
    first, second, share = floating(x, end, weight)
    if first.type.dtype in FLOATS:
        return ops.lerp(first, second, share)
    return first + share * (second - first)


def _nan_to_num(x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Node:
    made = operand(x)
    dtype = made.type.dtype
    if not is_inexact(dtype):
        return made
    info = torch.finfo(torch.float32 if dtype.itemsize == 4 else torch.float64)
    high, low = info.max if posinf is None else posinf, info.min if neginf is None else neginf
    return special.finite(made, nan or 0.0, high, low)


def _signbit(x: Any) -> Node:
    made = operand(x)
    if made.type.dtype.kind in "bu":
        return _flags(x, ops.is_nan, False)
    if is_inexact(made.type.dtype):
        return ops.sign_bit(made)
    return made < 0


def _masked_fill(x: Any, mask: Any, value: Any) -> Node:
    made = operand(x)
    require(not isinstance(value, torch.Tensor) or not value.ndim)
    flags = operand(mask)
    require(flags.type.dtype is BOOL)
    refuse_overflow(value, made.type.dtype)
    filling = cast_to(without_imaginary(operand(value), made.type.dtype), made.type.dtype)
    return ops.select(flags, filling, made)


def _complex(real: Any, imag: Any) -> Node:
    parts = operand(real), operand(imag)
    require_parts(*parts)
    return ops.complex_(*parts)


def _polar(radius: Any, angle: Any) -> Node:
    length, turn = operand(radius), operand(angle)
    require_parts(length, turn)
    return special.from_polar(length, turn)


multiply = _exact(_multiply, promoted)
ROWS: dict[str, Row] = {
    "div.Tensor_mode": _divide_mode,
    "div.Scalar_mode": _divide_mode,
    "div.Scalar": divide,
    "add.Scalar": _scaled(ops.add, ops.or_),
    "sub.Scalar": _scaled(ops.subtract, None),
    "rsub.Tensor": lambda x, y, alpha=1: _scaled(ops.subtract, None)(y, x, alpha),
    "rsub.Scalar": lambda x, y, alpha=1: _scaled(ops.subtract, None)(y, x, alpha),
    "mul.Scalar": multiply,
    "pow.Tensor_Tensor": power,
    "pow.Tensor_Scalar": power,
    "pow.Scalar": power,
    "atan2": lambda x, y: ops.atan2(*floating(x, y)),
    "copysign.Tensor": lambda x, y: ops.copysign(*floating(x, y)),
    "copysign.Scalar": lambda x, y: ops.copysign(*floating(x, y)),
    "logical_and": _logical(ops.and_),
    "logical_or": _logical(ops.or_),
    "logical_xor": _logical(ops.xor),
    "logical_not": lambda x: ~cast_to(operand(x), BOOL),
    "bitwise_not": _not,
    "abs": _abs,
    "neg": _negate,
    "sgn": _sign,
    "sign": _sign,
    "where.self": _where,
    "clamp": _clamp,
    "clamp.Tensor": _clamp,
    "clamp_min": lambda x, low: _clamp(x, low),
    "clamp_min.Tensor": lambda x, low: _clamp(x, low),
    "clamp_max": lambda x, high: _clamp(x, None, high),
    "clamp_max.Tensor": lambda x, high: _clamp(x, None, high),
    "isnan": lambda x: _flags(x, ops.is_nan, False),
    "isinf": lambda x: _flags(x, ops.is_inf, False),
    "isposinf": partial(_is_infinity, math.inf),
    "isneginf": partial(_is_infinity, -math.inf),
    "signbit": _signbit,
    "addcmul": addcmul,
    "addcdiv": addcdiv,
    "lerp.Scalar": lerp,
    "lerp.Tensor": lerp,
    "nan_to_num": _nan_to_num,
    "frac": lambda x: operand(x) - ops.trunc(operand(x)),
    "polar": _polar,
    "complex": _complex,
}


scaled_add = _scaled(ops.add, ops.or_)
scaled_subtract = _scaled(ops.subtract, None)
MADE: dict[str, Row] = {
    "add.Tensor": scaled_add,
    "sub.Tensor": scaled_subtract,
    "mul.Tensor": multiply,
    "div.Tensor": divide,
    **{name: _same(op) for name, op in (SAME | COMPARED).items()},
    **{name: _divided(op) for name, op in DIVIDED.items()},
    **{name: on_floats(op) for name, op in FLOATING.items()},
    **{name: _rounded(op) for name, op in ROUNDED.items()},
    **{name: _kept(op) for name, op in KEPT.items()},
    **ROWS,
}
FILLED: dict[str, Row] = {"masked_fill.Scalar": _masked_fill}
FILLED_BY_TENSORS: dict[str, Row] = {"masked_fill.Tensor": _masked_fill}
"""Checks data, if the tensor is complex."""
"""Results lie in rows, however the operands do."""


rows(MADE, keeps=True, pure=True)
rows(FILLED, pure=True, apart="partly")
rows(FILLED_BY_TENSORS)
