"""Lowerings of powers, exponentials, logarithms, trigonometry and the special functions."""

from __future__ import annotations

import numpy as np

from lazytensor.backends.xla.elementwise import direct
from lazytensor.backends.xla.emit import LOWERINGS
from lazytensor.backends.xla.expansion import not_a_number, number, widened
from lazytensor.core import ops
from lazytensor.core.dtypes import BF16, F16, F32
from lazytensor.core.node import Node

_LN2 = float(np.log(2.0))


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


def _logaddexp(x: Node, y: Node) -> Node:
    apart = ops.negate(ops.abs(ops.subtract(x, y)))
    found = ops.add(ops.maximum(x, y), ops.log1p(ops.exp(apart)))
    # Equal infinities, whose difference is NaN.
    return ops.select(ops.equal(x, y), ops.add(x, number(_LN2, x)), found)


def _logaddexp2(x: Node, y: Node) -> Node:
    apart = ops.negate(ops.abs(ops.subtract(x, y)))
    more = ops.multiply(ops.log1p(ops.exp2(apart)), number(1 / _LN2, x))
    return ops.select(ops.equal(x, y), ops.add(x, number(1, x)), ops.add(ops.maximum(x, y), more))


def _digamma_at_zero(x: Node) -> Node:
    return x


LOWERINGS.update(
    {
        ops.sqrt: direct("sqrt"),
        ops.exp: direct("exponential"),
        ops.logistic: direct("logistic"),
        ops.tanh: direct("tanh"),
        ops.erf: direct("chlo.erf"),
        ops.erfc: direct("chlo.erfc"),
        ops.erf_inv: direct("chlo.erf_inv"),
        ops.lgamma: direct("chlo.lgamma"),
        ops.digamma: direct("chlo.digamma"),
        ops.bessel_i1e: direct("chlo.bessel_i1e"),
        ops.hypot: widened(_hypot),
        ops.logaddexp: widened(_logaddexp),
        ops.logaddexp2: widened(_logaddexp2),
        ops.zeta: direct("chlo.zeta"),
        ops.polygamma: direct("chlo.polygamma"),
    }
)
