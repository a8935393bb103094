"""Draws from gamma, Poisson, binomial and Dirichlet distributions, computed in f64.

Rejection sampling needs a loop of random length. Here each element has a fixed number of candidates
instead and takes the first accepted one. That none is accepted is rarer than a rounding error. The
uniform and normal numbers are drawn outside, so that each distribution is one composite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import cast_to, double
from lazytensor.core.lib.random import RandomStream, normal, positive_uniform, uniform

ROUNDS: Final = 24
"""Candidates per element: at the worst acceptance rate (3 in 4) all fail with probability 10⁻¹⁴."""

SMALL: Final = 12.0
"""Means below which a count is found by adding up probabilities, above by rejection."""

COUNTED: Final = 56
"""Counts tried below that mean: the tail of a Poisson distribution of mean 12 is then 10⁻¹⁸."""


def _first(values: Node, accepted: Node) -> Node:
    """Along the first axis, the value that is accepted first."""
    shape = values.type.shape
    at = ops.reshape(ops.argmax(accepted, axis=0), shape=(1, *shape[1:]))
    return ops.reshape(ops.take_along(values, at, axis=0), shape=shape[1:])


@one_node
def gamma_draw(shape: Node, normal: Node, uniform: Node, rest: Node) -> Node:
    """By Marsaglia and Tsang (2000), doi 10.1145/358407.358414.

    A draw for a shape below 1 is one for the shape plus 1, times a power of a uniform number.
    """
    low = shape < 1.0
    more = ops.select(low, shape + 1.0, shape)
    d = more + -1 / 3
    c = ops.rsqrt(9.0 * d)
    root = c * normal + 1.0
    cube = root * ops.square(root)
    inside = ops.maximum(cube, double(np.finfo(np.float64).tiny))
    bound = 0.5 * ops.square(normal) + d * (ops.log(inside) - cube + 1.0)
    accepted = (cube > 0.0) & (ops.log(uniform) < bound)
    made = d * _first(cube, accepted)
    made = ops.select(low, made * rest ** ops.reciprocal(shape), made)
    return ops.select(shape > 0.0, made, double(math.nan))


def _counted(start: Node, ratio: Callable[[int], Node], uniform: Node) -> Node:
    """How many probabilities, each `ratio` times the one before, add up to a uniform number."""
    share = total = start
    count = cast_to(uniform >= total, F64)
    for k in range(1, COUNTED):
        share = share * ratio(k)
        total = total + share
        count = count + cast_to(uniform >= total, F64)
    return count


def _log_factorial(x: Node) -> Node:
    return ops.lgamma(x + 1.0)


@one_node
def poisson_draw(mean: Node, uniform: Node, first: Node, second: Node) -> Node:
    """By transformed rejection (PTRS): Hörmann (1993), doi 10.1016/0167-6687(93)90997-4."""
    low = mean < SMALL
    little = ops.minimum(mean, double(SMALL))
    few = _counted(ops.exp(-little), lambda k: little * (1 / k), uniform)
    much = ops.maximum(mean, double(SMALL))
    b = 2.53 * ops.sqrt(much) + 0.931
    a = 0.02483 * b + -0.059
    scale = 1.1328 / (b + -3.4) + 1.1239
    bound = 0.9277 - 3.6224 / (b + -2.0)
    side = first + -0.5
    edge = 0.5 - ops.abs(side)
    place = (2.0 * a / edge + b) * side
    count = ops.floor(place + much + 0.43)
    left = ops.log(second * scale / _hat(a, b, edge))
    share = count * ops.log(much) - much
    right = share - _log_factorial(ops.maximum(count, double(0.0)))
    accepted = _accepted(edge, second, bound, count, left, right)
    made = ops.select(low, few, _first(count, accepted))
    valid = mean >= 0.0
    return ops.select(valid, made, double(math.nan))


def _hat(a: Node, b: Node, edge: Node) -> Node:
    return a / ops.square(edge) + b


def _accepted(edge: Node, second: Node, bound: Node, count: Node, left: Node, right: Node) -> Node:
    """Which candidates of transformed rejection are accepted: at once, or by their probability."""
    surely = (edge >= 0.07) & (second <= bound)
    far = (edge < 0.013) & (second > edge)
    rightly = ~far & (left <= right)
    return (count >= 0.0) & (surely | rightly)


@one_node
def binomial_draw(trials: Node, p: Node, uniform: Node, first: Node, second: Node) -> Node:
    """By transformed rejection (BTRS): Hörmann (1993), doi 10.1080/00949659308811496."""
    turned = p > 0.5
    share = ops.select(turned, 1.0 - p, p)
    rest = 1.0 - share
    odds = share / rest
    low = trials * share < SMALL

    def ratio(k: int) -> Node:
        left = ops.maximum(trials + (1.0 - k), double(0.0))
        return left * (1 / k) * odds

    few = ops.minimum(_counted(rest**trials, ratio, uniform), trials)
    spread = ops.sqrt(trials * share * rest)
    b = 2.53 * spread + 1.15
    a = 0.0248 * b + 0.01 * share + -0.0873
    middle = trials * share + 0.5
    bound = 0.92 - 4.2 / b
    scale = (5.1 / b + 2.83) * spread
    side = first + -0.5
    edge = 0.5 - ops.abs(side)
    place = (2.0 * a / edge + b) * side
    count = ops.floor(place + middle)
    peak = ops.floor((trials + 1.0) * share)
    left = ops.log(second * scale / _hat(a, b, edge))
    within = ops.clamp(double(0.0), count, trials)
    right = _weight(trials, odds, within) - _weight(trials, odds, peak)
    accepted = _accepted(edge, second, bound, count, left, right)
    accepted = accepted & (count <= trials)
    found = ops.select(low, few, _first(within, accepted))
    return ops.select(turned, trials - found, found)


def _weight(trials: Node, odds: Node, count: Node) -> Node:
    """The logarithm of a count's probability, without the terms common to all counts."""
    both = _log_factorial(count) + _log_factorial(trials - count)
    return count * ops.log(odds) - both


def gamma(shape: Node, stream: RandomStream) -> Node:
    """Draws for each shape, f64, at a scale of 1."""
    size = shape.type.shape
    normals = normal((ROUNDS, *size), F64, stream)
    uniforms = positive_uniform((ROUNDS, *size), stream)
    return gamma_draw(shape, normals, uniforms, positive_uniform(size, stream))


def _pair(shape: Shape, stream: RandomStream) -> tuple[Node, ...]:
    """A uniform number, and two for each candidate."""
    pair = [positive_uniform((ROUNDS, *shape), stream) for _ in range(2)]
    return uniform(shape, F64, stream), *pair


def dirichlet(shape: Node, stream: RandomStream) -> Node:
    """Shares along the last axis, which add up to 1, f64."""
    made = gamma(shape, stream)
    return made / ops.new_axis(ops.reduce_sum(made, axes=(made.type.ndim - 1,)))


def poisson(mean: Node, stream: RandomStream) -> Node:
    """Counts of each mean, f64."""
    return poisson_draw(mean, *_pair(mean.type.shape, stream))


def binomial(trials: Node, p: Node, stream: RandomStream) -> Node:
    """Counts of successes in trials, each with probability `p`. trials, p: f64, one shape."""
    return binomial_draw(trials, p, *_pair(trials.type.shape, stream))
