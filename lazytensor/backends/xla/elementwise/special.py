"""Lowerings of the special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.backends.xla.elementwise.arithmetic import direct
from lazytensor.backends.xla.emitter import Rows
from lazytensor.backends.xla.lowerings.expansion import (
    costly,
    expansion,
    number,
    polynomial,
    widened,
)
from lazytensor.backends.xla.lowerings.library import JaxFunction, inlined
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op

ERF: Final = (
    1.1283791670955126,
    -0.3761263890318375,
    0.11283791670954856,
    -0.026866170645072397,
    0.0052239776247756465,
    -0.0008548326978423318,
    0.00012055331024638187,
    -1.4925593198285884e-05,
    1.6460967659554394e-06,
    -1.6349968511560234e-07,
    1.4657485677052853e-08,
    -1.1364096579687535e-09,
    5.942534656422471e-11,
)
"""Minimax polynomial of erf(x) / x in x², for |x| up to 1."""
_LN2 = float(np.log(2.0))
ROWS: Final[Rows] = {}


def _logaddexp(x: Node, y: Node) -> Node:
    apart = -ops.abs(x - y)
    found = ops.maximum(x, y) + ops.log1p(ops.exp(apart))
    # Equal infinities, whose difference is NaN.
    return ops.select(ops.equal(x, y), x + _LN2, found)


def _logaddexp2(x: Node, y: Node) -> Node:
    apart = -ops.abs(x - y)
    more = ops.log1p(ops.exp2(apart)) * (1 / _LN2)
    return ops.select(ops.equal(x, y), x + 1, ops.maximum(x, y) + more)


def _digamma(x: Node) -> Node:
    infinity = ops.broadcast(number(np.inf, x), shape=x.type.shape)
    pole = ops.copysign(infinity, -x)
    return ops.select(ops.equal(x, number(0, x)), pole, _library_digamma(x))


def _erf(x: Node) -> Node:
    """XLA's own in f32; in f64 XLA would call a scalar function for each element."""
    if x.type.dtype != F64:
        return _library_erf(x)
    size, one = ops.abs(x), number(1, x)
    near = x * polynomial(x * x, ERF)
    far = ops.copysign(one - ops.erfc(size), x)
    return ops.select(size < one, near, far)


def _erf_inv(x: Node) -> Node:
    """XLA's own; in f64 it loses 12 bits near 1, which a step of Halley's method restores."""
    found = _library_erf_inv(x)
    if x.type.dtype != F64:
        return found
    size, y = ops.abs(x), ops.abs(found)
    missing = 1 - size - ops.erfc(y)
    error = ops.select(y < 0.5, ops.erf(y) - size, missing)
    slope = ops.exp(-(y * y)) * (2 / np.pi**0.5)
    step = error / slope
    better = y - step / (y * step + 1)
    return ops.select(size < 1, ops.copysign(better, x), found)


def _library(name: str) -> Op:
    """An instruction for this module's own use: CHLO's function of that name."""
    op = Op(f"library_{name}", lambda x: x)
    ROWS[op] = direct(f"chlo.{name}")
    return op


_library_digamma, _library_erf, _library_erf_inv = map(_library, ("digamma", "erf", "erf_inv"))


def _incomplete_gamma(name: str, upper: bool) -> Callable[..., Any]:
    """jax's function, with the limits that it lacks."""
    inner = Op(f"library_{name}", lambda x, y: x)
    ROWS[inner] = inlined(JaxFunction("jax.lax", name))

    def body(x: Node, y: Node) -> Node:
        shape = np.broadcast_shapes(x.type.shape, y.type.shape)
        x, y = (ops.broadcast(t, shape=shape) for t in (x, y))
        zero, ends = number(0, x), (number(upper, x), number(not upper, x))
        found = ops.select(ops.is_inf(x), ends[0], inner(x, y))
        found = ops.select(ops.is_inf(y), ends[1], found)
        found = ops.select(ops.equal(x, zero), ends[1], found)
        wrong = ops.equal(x, zero) & ops.equal(y, zero)
        for flag in (
            ops.is_inf(x) & ops.is_inf(y), x < zero, y < zero,
            ops.is_nan(x), ops.is_nan(y),
        ):  # fmt: skip
            wrong = wrong | flag
        return ops.select(wrong, number(np.nan, x), found)

    return body


ROWS.update(
    {
        ops.exp: direct("exponential"),
        ops.logistic: direct("logistic"),
        ops.erf: costly(_erf),
        ops.erfc: direct("chlo.erfc"),
        ops.erf_inv: costly(_erf_inv),
        ops.lgamma: direct("chlo.lgamma"),
        ops.digamma: expansion(_digamma),
        ops.logaddexp: widened(_logaddexp),
        ops.logaddexp2: widened(_logaddexp2),
        ops.igamma: widened(_incomplete_gamma("igamma", upper=False)),
        ops.igammac: widened(_incomplete_gamma("igammac", upper=True)),
        ops.zeta: direct("chlo.zeta"),
        ops.polygamma: direct("chlo.polygamma"),
    }
)
