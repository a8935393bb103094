"""Functions of elements that frameworks write out of several ops."""

from __future__ import annotations

import math

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, like
from lazytensor.core.ops.movement import part


def log_add_exp(x: Node, y: Node) -> Node:
    """The logarithm of the sum of two exponentials. x, y: floats or complex, one dtype.

    Of complex numbers the result has the imaginary part of the larger one.
    """
    if x.type.dtype in FLOATS:
        return ops.logaddexp(x, y)
    swapped = ops.real(x) < ops.real(y)
    most, least = ops.select(swapped, y, x), ops.select(swapped, x, y)
    return most + ops.log1p(ops.exp(least - most))


def running_log_sum_exp(x: Node, axis: int) -> Node:
    """The running logarithm of the sum of exponentials along an axis, by doubling.

    Each element meets those of twice as long a stretch before it every time.
    """
    n, lowest, step = x.type.shape[axis], cast_to(-math.inf, x.type.dtype), 1
    while step < n:
        none = (0,) * x.type.ndim
        shift = tuple(step if i == axis else 0 for i in range(x.type.ndim))
        before = ops.pad(part(x, axis, 0, n - step), lowest, low=shift, high=none, interior=none)
        x = log_add_exp(x, before)
        step *= 2
    return x


def log_sum_exp(x: Node, axes: tuple[int, ...]) -> Node:
    """The logarithm of the sum of exponentials over axes. x: floats or complex."""
    if x.type.dtype in FLOATS:
        return ops.logsumexp(x, axes=axes)
    if not x.type.size:
        return ops.log(ops.reduce_sum(x, axes=axes))
    most = ops.reduce_max(ops.real(x), axes=axes)
    finite = ops.select(ops.is_finite(most), most, like(0.0, most))
    shift = cast_to(finite, x.type.dtype)
    powers = ops.exp(x - ops.kept(shift, x, axes))
    return ops.log(ops.reduce_sum(powers, axes=axes)) + shift


def x_log_y(x: Node, y: Node) -> Node:
    """`x * log(y)`, 0 where x is 0; NaN where y is. x, y: floats or complex, one dtype."""
    found = ops.select(ops.equal(x, like(0.0, x)), like(0.0, x), x * ops.log(y))
    return ops.select(ops.is_nan(y), y, found)


def rounded(x: Node, decimals: int) -> Node:
    """`x` rounded to decimals, halves to even. x: floats."""
    if not decimals:
        return ops.round_even(x)
    scale = like(10.0 ** abs(decimals), x)
    if decimals < 0:
        return ops.round_even(x / scale) * scale
    return ops.round_even(x * scale) / scale


def angle(x: Node) -> Node:
    """The angles of complex numbers; of floats 0, or pi where they are negative."""
    if x.type.dtype.kind == "c":
        return ops.atan2(ops.imag(x), ops.real(x))
    made = ops.select(x < 0, like(math.pi, x), like(0.0, x))
    return ops.select(ops.is_nan(x), x, made)


def step_at_zero(x: Node, values: Node) -> Node:
    """0 for negative elements, 1 for positive ones, those of `values` at 0. One dtype."""
    above = cast_to(x > like(0, x), x.type.dtype)
    return ops.select(ops.equal(x, like(0, x)), values, above)


def finite(x: Node, nan: float, high: float, low: float) -> Node:
    """`x` with numbers in the place of NaN and infinities. x: floats or complex."""
    edges = ops.select(x > like(0.0, x), like(high, x), like(low, x))
    bounded = ops.select(ops.is_inf(x), edges, x)
    return ops.select(ops.is_nan(x), like(nan, x), bounded)


def from_polar(radius: Node, angle: Node) -> Node:
    """Complex numbers of these sizes and angles, f32 or f64."""
    return ops.complex_(radius * ops.cos(angle), radius * ops.sin(angle))
