"""How draws from gamma and beta distributions move with their parameters, in f64.

By implicit differentiation: Figurnov et al. (2018), arXiv 1805.08498. A distribution function is an
integral, and so is its derivative for a parameter; over the exponent `v` of a share `exp(-v)` of
where it ends, both are smooth and fall off at one scale, as far as parameters are at least 1: those
below are shifted by recurrences. Of the integral up to the draw and of that from there on, which
are each other's negative, the one is taken whose integrand keeps its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.dispatch.kernels import Row, rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, double, operand

STEP: Final = 0.1
_TURNS: Final = np.arange(-38, 39) * STEP
PLACES: Final = np.exp(_TURNS - np.exp(-_TURNS))
"""Nodes from 0 to beyond 40, for what falls off as exp(-v): by Takahasi and Mori (1974)."""
WEIGHTS: Final = STEP * PLACES * (1 + np.exp(-_TURNS))


def _plus(x: Node, y: Node, *rest: Node) -> Node:
    made: Node = ops.add(x, y)
    for z in rest:
        made = ops.add(made, z)
    return made


def _minus(x: Node, y: Node) -> Node:
    return ops.subtract(x, y)


def _times(x: Node, y: Node) -> Node:
    return ops.multiply(x, y)


def _over(x: Node, y: Node) -> Node:
    return ops.divide(x, y)


def _where(flag: Node, x: Node, y: Node) -> Node:
    return ops.select(flag, x, y)


def _scale(slope: Node, bend: Node) -> Node:
    """Where `slope * v + bend * v² / 2` is 1."""
    steep = ops.maximum(slope, double(0.0))
    root = ops.sqrt(_plus(ops.square(steep), _times(double(2.0), bend)))
    return _over(double(2.0), _plus(steep, root))


def _integral(scale: Node, integrand: Callable[[Node], Node]) -> Node:
    """Over all positive `v`, which are a new last axis."""
    column = ops.reshape(scale, shape=(*scale.type.shape, 1))
    places = _times(column, ops.leaf(PLACES))
    values = _times(integrand(places), ops.leaf(WEIGHTS))
    total = ops.reduce_sum(values, axes=(values.type.ndim - 1,))
    return _times(total, scale)


def _column(x: Node) -> Node:
    return ops.reshape(x, shape=(*x.type.shape, 1))


def _gamma_slope(shape: Node, draw: Node) -> Node:
    low = ops.less(shape, double(1.0))
    a = _where(low, _plus(shape, double(1.0)), shape)
    lower = ops.less_equal(draw, a)
    apart = ops.abs(_minus(draw, a))
    near = ops.less(draw, double(1.0))
    scale = _where(near, ops.reciprocal(a), _scale(apart, draw))
    centre = _minus(ops.log(draw), ops.digamma(a))
    side = _where(lower, double(-1.0), double(1.0))

    def integrand(v: Node) -> Node:
        way = _times(_column(side), v)
        weight = ops.exp(_minus(_times(_column(a), way), _times(_column(draw), ops.expm1(way))))
        return _times(weight, _plus(_column(centre), way))

    made = _times(_times(side, draw), _integral(scale, integrand))
    ahead = _times(_over(draw, shape), _minus(made, centre))
    made = _where(low, ahead, made)
    return _where(ops.greater(draw, double(0.0)), made, double(0.0))


def _standard_gamma_grad(x: Any, output: Any) -> Node:
    given, draw = operand(x), operand(output)
    made = _gamma_slope(cast_to(given, F64), cast_to(draw, F64))
    return cast_to(made, given.type.dtype)


def _beta_slope(a: Node, b: Node, draw: Node) -> Node:
    """For `a` and `b` of at least 1: minus the slope of the distribution function with `a`, over
    the density and over `1 - draw`."""
    rest = _minus(double(1.0), draw)
    lower = ops.less_equal(_times(draw, b), _times(rest, a))
    near, far = _where(lower, draw, rest), _where(lower, rest, draw)
    first, second = _where(lower, a, b), _where(lower, b, a)
    more, odds = _minus(second, double(1.0)), _over(near, far)
    bend = _times(more, _times(odds, _plus(odds, double(1.0))))
    scale = _scale(_minus(first, _times(more, odds)), bend)
    centre = _minus(ops.digamma(_plus(a, b)), ops.digamma(a))
    logarithm, edge = ops.log(near), ops.log(far)

    def integrand(v: Node) -> Node:
        beyond = ops.log1p(ops.negate(_times(_column(near), ops.exp(ops.negate(v)))))
        fall = _times(_column(first), v)
        weight = ops.exp(_minus(_times(_column(more), _minus(beyond, _column(edge))), fall))
        at = _where(_column(lower), _minus(_column(logarithm), v), beyond)
        return _times(weight, _plus(_column(centre), at))

    side = _where(lower, ops.negate(odds), double(1.0))
    return _times(side, _integral(scale, integrand))


def _dirichlet_slope(draw: Node, shape: Node, total: Node) -> Node:
    other, one = _minus(total, shape), double(1.0)
    few, small = ops.less(shape, one), ops.less(other, one)
    a = _where(few, _plus(shape, one), shape)
    b = _where(small, _plus(other, one), other)
    rest, logarithm = _minus(one, draw), ops.log(draw)
    made = _beta_slope(a, b, draw)
    # From b + 1 to b, then from a + 1 to a.
    centre = _plus(logarithm, _minus(ops.digamma(_plus(a, other)), ops.digamma(a)))
    back = _plus(_times(_times(rest, _plus(a, other)), made), _times(draw, centre))
    made = _where(small, _over(back, other), made)
    centre = _plus(logarithm, _minus(ops.digamma(total), ops.digamma(_plus(shape, one))))
    back = _times(_over(draw, shape), _minus(_times(total, made), centre))
    made = _where(few, back, made)
    return _where(ops.greater(draw, double(0.0)), made, double(0.0))


def _dirichlet_grad(x: Any, alpha: Any, total: Any) -> Node:
    given = operand(x)
    wide = [cast_to(operand(t), F64) for t in (x, alpha, total)]
    return cast_to(_dirichlet_slope(*wide), given.type.dtype)


ROWS: dict[str, Row] = {
    "_standard_gamma_grad": _standard_gamma_grad,
    "_dirichlet_grad": _dirichlet_grad,
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, composed=True)
