"""Lowerings of the hyperbolic functions and their inverses, from exponentials and logarithms."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.backends.xla.elementwise.arithmetic import direct, real_or_complex
from lazytensor.backends.xla.elementwise.exponential import LN2, half_expm1, log1p_of, quarter_exp
from lazytensor.backends.xla.emit import LOWERINGS
from lazytensor.backends.xla.lowerings.expansion import costly, fixed, number
from lazytensor.core import ops
from lazytensor.core.ir.node import Node

LARGE: Final = 2.0**60
"""From here on 1 + x is x, and its square is not infinite yet."""


def _sinh(x: Node) -> Node:
    half = half_expm1(ops.abs(x))
    more = ops.divide(half, ops.add(ops.add(half, half), number(1, x)))
    more = ops.select(ops.less(half, number(LARGE, x)), more, number(0.5, x))  # not inf / inf
    return ops.copysign(ops.add(half, more), x)


def _cosh(x: Node) -> Node:
    p, h = quarter_exp(ops.abs(x))
    quarter = ops.add(ops.multiply(p, h), h)
    half = ops.add(quarter, quarter)
    return ops.add(half, ops.divide(number(0.25, x), half))


def _asinh(x: Node) -> Node:
    size, one = ops.abs(x), number(1, x)
    square = ops.multiply(size, size)
    root = ops.sqrt(ops.add(square, one))
    near = ops.add(size, ops.divide(square, ops.add(root, one)))
    return ops.copysign(_log1p_or_log(size, near), x)


def _acosh(x: Node) -> Node:
    less = ops.subtract(x, number(1, x))
    root = ops.sqrt(ops.add(ops.add(less, less), ops.multiply(less, less)))
    found = _log1p_or_log(x, ops.add(less, root))
    return ops.select(ops.less(x, number(1, x)), number(np.nan, x), found)


def _log1p_or_log(x: Node, near: Node) -> Node:
    """log1p(near), or log(2 * x) where x is large and `near` may have overflowed."""
    far = ops.greater(x, number(LARGE, x))
    more = ops.select(far, number(LN2, x), number(0, x))
    return ops.add(log1p_of(ops.select(far, x, near)), more)


def _atanh(x: Node) -> Node:
    size = ops.abs(x)
    twice = ops.divide(ops.add(size, size), ops.subtract(number(1, x), size))
    return ops.copysign(ops.multiply(log1p_of(fixed(twice)), number(0.5, x)), x)


LOWERINGS.update(
    {
        ops.sinh: real_or_complex(costly(_sinh), "chlo.sinh"),
        ops.cosh: real_or_complex(costly(_cosh), "chlo.cosh"),
        ops.tanh: direct("tanh"),
        ops.asinh: real_or_complex(costly(_asinh), "chlo.asinh"),
        ops.acosh: real_or_complex(costly(_acosh), "chlo.acosh"),
        ops.atanh: real_or_complex(costly(_atanh), "chlo.atanh"),
    }
)
