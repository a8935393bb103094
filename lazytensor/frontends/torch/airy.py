"""The Airy function of the first kind, in f64.

As its integral over a line parallel to the real axis, high enough above it for the integrand to
fall off fast and, of positive numbers, to hardly turn; far below zero by its asymptotic series.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.node import Node
from lazytensor.frontends.torch.bessel import in_double, polynomial
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import double

FAR: Final = -9.0
"""Below, the series is exact to f64 but for what cosines lose; above, the integral cancels less."""
STEP: Final = 0.08
PLACES: Final = np.arange(80) * STEP
WEIGHTS: Final = np.where(PLACES > 0, 1.0, 0.5) * STEP / math.pi


def _terms(count: int) -> list[float]:
    """The coefficients of the series in 1 / zeta: DLMF 9.7.2."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)))
    return found


def _near(x: Node) -> Node:
    height = ops.maximum(ops.sqrt(ops.maximum(x, double(0.0))), double(1.0))
    square = ops.square(height)
    scale = ops.multiply(height, ops.subtract(ops.multiply(square, double(1 / 3)), x))
    column = (*x.type.shape, 1)
    tall = ops.reshape(height, shape=column)
    # Of large numbers the integrand is narrow.
    places = ops.multiply(ops.leaf(PLACES), ops.rsqrt(tall))
    apart = ops.reshape(ops.subtract(x, square), shape=column)
    cube = ops.multiply(places, ops.multiply(ops.square(places), double(1 / 3)))
    turn = ops.cos(ops.add(cube, ops.multiply(apart, places)))
    fall = ops.exp(ops.negate(ops.multiply(tall, ops.square(places))))
    values = ops.multiply(ops.multiply(turn, fall), ops.leaf(WEIGHTS))
    total = ops.reduce_sum(values, axes=(x.type.ndim,))
    made: Node = ops.multiply(ops.multiply(total, ops.exp(scale)), ops.rsqrt(height))
    return made


def _below(x: Node) -> Node:
    size = ops.negate(x)
    root = ops.sqrt(size)
    zeta = ops.multiply(ops.multiply(size, root), double(2 / 3))
    inverse = ops.reciprocal(zeta)
    square = ops.square(inverse)
    terms = _terms(16)
    even = polynomial(square, [c * (-1) ** k for k, c in enumerate(terms[::2])])
    odd = polynomial(square, [c * (-1) ** k for k, c in enumerate(terms[1::2])])
    angle = ops.subtract(zeta, double(math.pi / 4))
    made = ops.add(
        ops.multiply(ops.cos(angle), even),
        ops.multiply(ops.sin(angle), ops.multiply(inverse, odd)),
    )
    found: Node = ops.multiply(ops.multiply(made, double(1 / math.sqrt(math.pi))), ops.rsqrt(root))
    return found


def ai(x: Node) -> Node:
    """The function; NaN for what is not finite."""
    far = ops.less(x, double(FAR))
    near = _near(ops.clamp(double(FAR), x, double(110.0)))  # it is below any f64 there
    made = ops.select(far, _below(ops.minimum(x, double(FAR))), near)
    none = ops.not_(ops.is_finite(x))
    found: Node = ops.select(none, double(math.nan), made)
    return found


ROWS: dict[str, Row] = {"special_airy_ai": in_double(ai)}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, keeps=True, composed=True)
