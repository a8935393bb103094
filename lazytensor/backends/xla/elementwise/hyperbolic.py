"""Lowerings of the hyperbolic functions and their inverses, from exponentials and logarithms."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.elementwise.arithmetic import direct, real_or_complex
from lazytensor.backends.xla.elementwise.exponential import LN2, half_expm1, log1p_of, quarter_exp
from lazytensor.backends.xla.emitter import Rows
from lazytensor.backends.xla.lowerings.expansion import costly, number
from lazytensor.core import ops
from lazytensor.core.ir.node import Node

ONE_VANISHES_FROM: Final = 2.0**60
"""From here on 1 + x is x; the square of this bound is finite."""


def _sinh(x: Node) -> Node:
    half = half_expm1(ops.abs(x))
    more = half / (half + half + 1)
    more = ops.select(half < ONE_VANISHES_FROM, more, number(0.5, x))  # not inf / inf
    return ops.copysign(half + more, x)


def _cosh(x: Node) -> Node:
    p, h = quarter_exp(ops.abs(x))
    quarter = p * h + h
    half = quarter + quarter
    return half + 0.25 / half


def _asinh(x: Node) -> Node:
    size, one = ops.abs(x), number(1, x)
    square = size * size
    root = ops.sqrt(square + one)
    near = size + square / (root + one)
    return ops.copysign(_log1p_or_log(size, near), x)


def _acosh(x: Node) -> Node:
    less = x - 1
    root = ops.sqrt(less + less + less * less)
    found = _log1p_or_log(x, less + root)
    return ops.select(x < 1, number(np.nan, x), found)


def _log1p_or_log(x: Node, near: Node) -> Node:
    """log1p(near), or log(2 * x) where x is large and `near` may have overflowed."""
    far = x > ONE_VANISHES_FROM
    more = ops.select(far, number(LN2, x), number(0, x))
    return log1p_of(ops.select(far, x, near)) + more


def _atanh(x: Node) -> Node:
    size = ops.abs(x)
    twice = (size + size) / (1 - size)
    return ops.copysign(log1p_of(workarounds.fixed(twice)) * 0.5, x)


ROWS: Rows = {
    ops.sinh: real_or_complex(costly(_sinh), "chlo.sinh"),
    ops.cosh: real_or_complex(costly(_cosh), "chlo.cosh"),
    ops.tanh: direct("tanh"),
    ops.asinh: real_or_complex(costly(_asinh), "chlo.asinh"),
    ops.acosh: real_or_complex(costly(_acosh), "chlo.acosh"),
    ops.atanh: real_or_complex(costly(_atanh), "chlo.atanh"),
}
