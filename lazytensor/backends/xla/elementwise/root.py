"""Lowerings of roots and of the hypotenuse."""

from __future__ import annotations

import numpy as np

from lazytensor.backends.xla.elementwise.arithmetic import direct, real_or_complex
from lazytensor.backends.xla.emit import LOWERINGS
from lazytensor.backends.xla.lowerings.expansion import costly, number, polynomial
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64, S64
from lazytensor.core.ir.node import Node


def _cbrt(x: Node) -> Node:
    """From y = |x|**(-1/3), which Newton's method finds without division."""
    dtype = x.type.dtype
    if dtype == F32:
        return ops.convert(_cbrt(ops.convert(x, dtype=F64)), dtype=F32)
    size, half = ops.abs(x), ops.scalar(32, S64)
    # To begin with, a third of the upper half of the bits: of the exponent, and so of the log.
    upper = ops.shift_right(ops.bitcast(size, dtype=S64), half)
    third = ops.shift_right(ops.multiply(upper, ops.scalar(0x55555556, S64)), half)
    guess = ops.subtract(ops.scalar(0x553EF0FF, S64), third)
    y = ops.bitcast(ops.shift_left(guess, half), dtype=dtype)
    for _ in range(2):  # each step four times as many bits
        error = ops.subtract(number(1, x), times(size, y, y, y))
        series = polynomial(error, (1 / 3, 2 / 9, 14 / 81))
        y = ops.add(y, times(y, error, series))
    root = times(size, y, y)
    error = ops.subtract(times(root, root, root), size)
    root = ops.subtract(root, times(error, ops.multiply(y, y), number(1 / 3, x)))
    plain = ops.and_(ops.greater(size, number(0, x)), ops.less(size, number(np.inf, x)))
    return ops.select(plain, ops.copysign(root, x), x)


def _rsqrt(x: Node) -> Node:
    """More exact than XLA's own, and twice as fast in f64."""
    return ops.divide(number(1, x), ops.sqrt(x))


def times(x: Node, *others: Node) -> Node:
    """The product, from the left."""
    for y in others:
        x = ops.multiply(x, y)
    return x


def _hypot(x: Node, y: Node) -> Node:
    """The larger times sqrt(1 + ratio²), whose square does not overflow."""
    x, y = ops.abs(x), ops.abs(y)
    large, small = ops.maximum(x, y), ops.minimum(x, y)
    one, infinity = number(1, x), number(np.inf, x)
    ratio = ops.divide(small, ops.select(ops.equal(large, number(0, x)), one, large))
    length = ops.multiply(large, ops.sqrt(ops.add(one, ops.square(ratio))))
    length = ops.select(ops.equal(small, large), ops.multiply(large, number(2**0.5, x)), length)
    infinite = ops.or_(ops.equal(x, infinity), ops.equal(y, infinity))
    return ops.select(infinite, infinity, length)


LOWERINGS.update(
    {
        ops.sqrt: direct("sqrt"),
        ops.rsqrt: real_or_complex(costly(_rsqrt), "rsqrt"),
        ops.cbrt: real_or_complex(costly(_cbrt), "cbrt"),
        ops.hypot: costly(_hypot),
    }
)
