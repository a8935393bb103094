"""Special functions, and those that are written out of several ops."""

from __future__ import annotations

import math
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S32
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    floating,
    of_nodes,
    on_nodes,
    promoted,
)
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of


def _heaviside(x: Any, values: Any) -> Node:
    first, second = promoted(x, values)
    dtype = first.type.dtype
    zero = cast_to(0, dtype)
    above = cast_to(first > zero, dtype)
    return ops.select(ops.equal(first, zero), second, above)


def _logaddexp(x: Any, y: Any) -> Node:
    first, second = floating(x, y)
    if first.type.dtype in FLOATS:
        return ops.logaddexp(first, second)
    # Not the logarithm of the sum: torch's has the imaginary part of the larger one.
    swapped = ops.real(first) < ops.real(second)
    most, least = ops.select(swapped, second, first), ops.select(swapped, first, second)
    return most + ops.log1p(ops.exp(least - most))


def _xlogy(x: Any, y: Any) -> Node:
    first, second = floating(x, y)
    zero = cast_to(0.0, first.type.dtype)
    product = first * ops.log(second)
    found = ops.select(ops.equal(first, zero), zero, product)
    return ops.select(ops.is_nan(second), second, found)


def _polygamma(n: int, x: Any) -> Node:
    (given,) = floating(x)
    if n == 0:
        return ops.digamma(given)
    return ops.polygamma(cast_to(n, given.type.dtype), given)


def _round(x: Node, *, decimals: int = 0) -> Node:
    if not is_inexact(x.type.dtype):
        return x
    scale = cast_to(10.0 ** abs(decimals), x.type.dtype)
    if decimals < 0:
        return ops.round_even(x / scale) * scale
    return ops.round_even(x * scale) / scale


def _angle(x: Any) -> Node:
    (given,) = floating(x)
    if given.type.dtype.kind == "c":
        return ops.atan2(ops.imag(given), ops.real(given))
    zero = cast_to(0.0, given.type.dtype)
    made = ops.select(given < zero, cast_to(math.pi, given.type.dtype), zero)
    return ops.select(ops.is_nan(given), given, made)


def _logcumsumexp(x: Any, dim: int) -> Node:
    """By doubling: each element meets those of twice as long a stretch before it every time."""
    (given,) = floating(x)
    axis, made = axis_of(dim, given.type.ndim), given
    n = given.type.shape[axis] if given.type.ndim else 1
    lowest = cast_to(-math.inf, given.type.dtype)
    step = 1
    while step < n:
        none = (0,) * given.type.ndim
        shift = tuple(step if i == axis else 0 for i in range(given.type.ndim))
        before = ops.pad(part(made, axis, 0, n - step), lowest, low=shift, high=none, interior=none)
        made = _logaddexp(made, before)
        step *= 2
    return made


def _frexp(x: Node) -> tuple[Node, Node]:
    mantissa, exponent = ops.frexp(x)
    return mantissa, cast_to(exponent, S32)


ROWS: dict[str, Row] = {
    "xlogy.Tensor": _xlogy,
    "heaviside": _heaviside,
    "logaddexp": _logaddexp,
    "igamma": lambda x, y: ops.igamma(*floating(x, y)),
    "igammac": lambda x, y: ops.igammac(*floating(x, y)),
    "special_zeta": lambda x, y: ops.zeta(*floating(x, y)),
    "polygamma": _polygamma,
    "round.decimals": _round,
    "angle": _angle,
}


rows(of_nodes(ROWS), keeps=True, composed=True)
rows({"_logcumsumexp": _logcumsumexp}, composed=True)  # in rows, however the operand lies
rows({"frexp.Tensor": on_nodes(_frexp)})
