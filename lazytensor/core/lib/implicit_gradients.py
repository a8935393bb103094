"""How draws from gamma and beta distributions move with their parameters, in f64.

By implicit differentiation: Figurnov et al. (2018), arXiv 1805.08498. A distribution function is an
integral, and so is its derivative for a parameter; over the exponent `v` of a share `exp(-v)` of
where it ends, both are smooth and fall off at one scale, as far as parameters are at least 1: those
below are shifted by recurrences. Of the integral up to the draw and of that from there on, which
are each other's negative, the one is taken whose integrand keeps its sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import double

QUADRATURE_STEP: Final = 0.1

_QUADRATURE_TURNS: Final = np.arange(-38, 39) * QUADRATURE_STEP

QUADRATURE_PLACES: Final = np.exp(_QUADRATURE_TURNS - np.exp(-_QUADRATURE_TURNS))
"""Nodes from 0 to beyond 40, for what falls off as exp(-v): by Takahasi and Mori (1974)."""

QUADRATURE_WEIGHTS: Final = QUADRATURE_STEP * QUADRATURE_PLACES * (1 + np.exp(-_QUADRATURE_TURNS))


def _scale(slope: Node, bend: Node) -> Node:
    """Where `slope * v + bend * v² / 2` is 1."""
    steep = ops.maximum(slope, double(0.0))
    root = ops.sqrt(ops.square(steep) + 2.0 * bend)
    return 2.0 / (steep + root)


def _integral(scale: Node, integrand: Callable[[Node], Node]) -> Node:
    """Over all positive `v`, which are a new last axis."""
    column = ops.reshape(scale, shape=(*scale.type.shape, 1))
    places = column * ops.leaf(QUADRATURE_PLACES)
    values = integrand(places) * ops.leaf(QUADRATURE_WEIGHTS)
    total = ops.reduce_sum(values, axes=(values.type.ndim - 1,))
    return total * scale


def gamma_slope(shape: Node, draw: Node) -> Node:
    """How draws of a gamma distribution of scale 1 move with its shape. shape, draw: f64."""
    low = shape < 1.0
    a = ops.select(low, shape + 1.0, shape)
    lower = draw <= a
    apart = ops.abs(draw - a)
    near = draw < 1.0
    scale = ops.select(near, ops.reciprocal(a), _scale(apart, draw))
    centre = ops.log(draw) - ops.digamma(a)
    side = ops.select(lower, double(-1.0), double(1.0))

    def integrand(v: Node) -> Node:
        way = ops.new_axis(side) * v
        weight = ops.exp(ops.new_axis(a) * way - ops.new_axis(draw) * ops.expm1(way))
        return weight * (ops.new_axis(centre) + way)

    made = side * draw * _integral(scale, integrand)
    ahead = draw / shape * (made - centre)
    made = ops.select(low, ahead, made)
    return ops.select(draw > 0.0, made, double(0.0))


def _beta_slope(a: Node, b: Node, draw: Node) -> Node:
    """For `a` and `b` of at least 1: minus the slope of the distribution function with `a`, over
    the density and over `1 - draw`."""
    rest = 1.0 - draw
    lower = draw * b <= rest * a
    near, far = ops.select(lower, draw, rest), ops.select(lower, rest, draw)
    first, second = ops.select(lower, a, b), ops.select(lower, b, a)
    more, odds = second - 1.0, near / far
    bend = more * (odds * (odds + 1.0))
    scale = _scale(first - more * odds, bend)
    centre = ops.digamma(a + b) - ops.digamma(a)
    logarithm, edge = ops.log(near), ops.log(far)

    def integrand(v: Node) -> Node:
        beyond = ops.log1p(-(ops.new_axis(near) * ops.exp(-v)))
        fall = ops.new_axis(first) * v
        weight = ops.exp(ops.new_axis(more) * (beyond - ops.new_axis(edge)) - fall)
        at = ops.select(ops.new_axis(lower), ops.new_axis(logarithm) - v, beyond)
        return weight * (ops.new_axis(centre) + at)

    side = ops.select(lower, -odds, double(1.0))
    return side * _integral(scale, integrand)


def dirichlet_slope(draw: Node, shape: Node, total: Node) -> Node:
    """How draws of a Dirichlet distribution move with the parameter of each.

    draw, shape: f64, shares and their parameters. total: f64, the sum of the parameters.
    """
    other, one = total - shape, double(1.0)
    few, small = shape < one, other < one
    a = ops.select(few, shape + one, shape)
    b = ops.select(small, other + one, other)
    rest, logarithm = one - draw, ops.log(draw)
    made = _beta_slope(a, b, draw)
    # From b + 1 to b, then from a + 1 to a.
    centre = logarithm + (ops.digamma(a + other) - ops.digamma(a))
    back = rest * (a + other) * made + draw * centre
    made = ops.select(small, back / other, made)
    centre = logarithm + (ops.digamma(total) - ops.digamma(shape + one))
    back = draw / shape * (total * made - centre)
    made = ops.select(few, back, made)
    return ops.select(draw > 0.0, made, double(0.0))
