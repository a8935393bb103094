"""Bessel functions and the scaled error function, by quadrature: computed in f64, rounded once.

The integrals are of analytic functions, for which the trapezoidal rule converges exponentially;
where the integrand becomes too narrow, or oscillates too fast, an asymptotic series takes over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.dtypes import F64
from lazytensor.core.node import Node
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import cast_to, double, floating

Function = Callable[[Node], Node]
GAMMA: Final = float(np.euler_gamma)
FAR: Final = 25.0
"""From here on the asymptotic series are exact to f64: their smallest term is exp(-2 * FAR)."""
NEAR: Final = 2.0
"""Up to here the power series of functions that are singular at 0 are used."""


def in_double(function: Function) -> Row:
    """A row that computes in f64."""

    def row(x: Any) -> Node:
        (given,) = floating(x)
        return cast_to(function(cast_to(given, F64)), given.type.dtype)

    return row


def _integral(x: Node, nodes: Any, weights: Any, integrand: Callable[[Node, Node], Node]) -> Node:
    """The weighted sum of `integrand(x, node)` over the nodes, which are a last axis."""
    column = ops.reshape(x, shape=(*x.type.shape, 1))
    values = integrand(column, ops.leaf(np.asarray(nodes, np.float64)))
    weighed = ops.multiply(values, ops.leaf(np.asarray(weights, np.float64)))
    made: Node = ops.reduce_sum(weighed, axes=(weighed.type.ndim - 1,))
    return made


def polynomial(x: Node, coefficients: Sequence[float]) -> Node:
    """The sum of powers of `x` times `coefficients`, that of the constant first."""
    made = double(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        made = ops.add(ops.multiply(made, x), double(c))
    return made


def _hankel(order: int, count: int) -> list[float]:
    """The coefficients a(k) of the asymptotic series in 1 / x."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (k * 8))
    return found


def _where(flag: Node, x: Node, y: Node) -> Node:
    made: Node = ops.select(flag, x, y)
    return made


def scaled_i(order: int) -> Function:
    """exp(-|x|) times the modified function of the first kind."""
    count = 40
    nodes = np.pi * np.arange(count + 1) / count
    weights = np.cos(order * nodes) / count
    weights[[0, -1]] /= 2
    series = [c * (-1) ** k for k, c in enumerate(_hankel(order, 16))]
    small = [1 / (math.factorial(k) * math.factorial(k + order)) for k in range(10)]

    def function(x: Node) -> Node:
        size = ops.abs(x)
        near = ops.minimum(size, double(FAR))
        inner = _integral(
            near, np.cos(nodes) - 1, weights, lambda x, bend: ops.exp(ops.multiply(x, bend))
        )
        far = ops.maximum(size, double(FAR))
        tail = ops.multiply(
            polynomial(ops.reciprocal(far), series),
            ops.rsqrt(ops.multiply(far, double(2 * math.pi))),
        )
        made = _where(ops.greater(size, double(FAR)), tail, inner)
        made = _where(ops.is_nan(x), x, made)
        if not order:
            return made
        half = ops.multiply(ops.minimum(size, double(1.0)), double(0.5))
        close = ops.multiply(half, polynomial(ops.square(half), small))
        close = ops.multiply(close, ops.exp(ops.negate(size)))
        made = _where(ops.less(size, double(1.0)), close, made)  # the sum above cancels there
        return ops.multiply(made, ops.sign(x))

    return function


def unscaled_i(order: int) -> Function:
    """The modified function of the first kind."""
    scaled = scaled_i(order)
    return lambda x: ops.multiply(scaled(x), ops.exp(ops.abs(x)))


def _k_series(order: int) -> tuple[list[float], list[float]]:
    """In (x / 2)²: the terms of I, and those that have no logarithm."""
    plain, rest, harmonic = [], [], 0.0
    for k in range(18):
        harmonic += 1 / k if k else 0
        size = 1 / (math.factorial(k) * math.factorial(k + order))
        plain.append(size)
        if order:
            rest.append(-size * (harmonic + (harmonic + 1 / (k + 1)) - 2 * GAMMA) / 2)
        else:
            rest.append(size * (harmonic - GAMMA))
    return plain, rest


def scaled_k(order: int) -> Function:
    """exp(x) times the modified function of the second kind; NaN for x < 0."""
    step = 0.4
    nodes = np.arange(24) * step
    weights = np.exp(-(nodes**2) / 2) * step
    weights[0] /= 2
    plain, rest = _k_series(order)

    def integrand(x: Node, square: Node) -> Node:
        share = ops.divide(square, x)
        made = ops.rsqrt(ops.add(double(1.0), ops.multiply(share, double(0.25))))
        more = ops.add(double(1.0), ops.multiply(share, double(0.5)))
        found: Node = ops.multiply(made, more) if order else made
        return found

    def function(x: Node) -> Node:
        near = ops.minimum(x, double(NEAR))
        half = ops.multiply(near, double(0.5))
        square, logarithm = ops.square(half), ops.log(half)
        if order:
            inner = ops.multiply(logarithm, polynomial(square, plain))
            inner = ops.multiply(half, ops.add(inner, polynomial(square, rest)))
            inner = ops.add(inner, ops.reciprocal(near))
        else:
            inner = ops.subtract(
                polynomial(square, rest), ops.multiply(logarithm, polynomial(square, plain))
            )
        inner = ops.multiply(inner, ops.exp(near))
        far = ops.maximum(x, double(NEAR))
        tail = ops.multiply(_integral(far, nodes**2, weights, integrand), ops.rsqrt(far))
        made = _where(ops.greater(x, double(NEAR)), tail, inner)
        return _where(ops.equal(x, double(0.0)), double(math.inf), made)

    return function


def unscaled_k(order: int) -> Function:
    """The modified function of the second kind; NaN for x < 0."""
    scaled = scaled_k(order)
    return lambda x: ops.multiply(scaled(x), ops.exp(ops.negate(x)))


def _phases(order: int, x: Node) -> tuple[Node, Node, Node]:
    """Of the asymptotic series: the factors of cosine and sine, and the angle."""
    terms = _hankel(order, 18)
    inverse = ops.reciprocal(x)
    square = ops.square(inverse)
    even = [c * (-1) ** k for k, c in enumerate(terms[::2])]
    odd = [c * (-1) ** k for k, c in enumerate(terms[1::2])]
    angle = ops.subtract(x, double((order / 2 + 0.25) * math.pi))
    return polynomial(square, even), ops.multiply(inverse, polynomial(square, odd)), angle


def _amplitude(x: Node) -> Node:
    made: Node = ops.sqrt(ops.divide(double(2 / math.pi), x))
    return made


def j(order: int) -> Function:
    """The function of the first kind."""
    count = 64
    nodes = np.pi * (np.arange(count) + 0.5) / count

    def integrand(x: Node, sine: Node) -> Node:
        turn = ops.leaf(order * nodes)
        made: Node = ops.cos(ops.subtract(ops.multiply(x, sine), turn))
        return made

    def function(x: Node) -> Node:
        size = ops.abs(x)
        near = ops.minimum(size, double(FAR))
        inner = _integral(near, np.sin(nodes), np.full(count, 1 / count), integrand)
        far = ops.maximum(size, double(FAR))
        p, q, angle = _phases(order, far)
        tail = ops.subtract(ops.multiply(p, ops.cos(angle)), ops.multiply(q, ops.sin(angle)))
        tail = ops.multiply(_amplitude(far), tail)
        made = _where(ops.is_nan(x), x, _where(ops.greater(size, double(FAR)), tail, inner))
        return ops.multiply(made, ops.sign(x)) if order else made

    return function


def _y_series(order: int) -> list[float]:
    """In (x / 2)², what Y has beside J's logarithm and 1 / x, times π."""
    found, harmonic = [], 0.0
    for k in range(24):
        harmonic += 1 / k if k else 0
        size = (-1) ** k / (math.factorial(k) * math.factorial(k + order))
        both = harmonic + (harmonic + 1 / (k + 1) if order else harmonic)
        found.append(size * (2 * GAMMA - both))
    return found


def _y_near(order: int) -> Function:
    """The function of the second kind by its power series."""
    first, series = j(order), _y_series(order)

    def near(x: Node) -> Node:
        half = ops.multiply(x, double(0.5))
        rest = polynomial(ops.square(half), series)
        made = ops.multiply(ops.multiply(first(x), ops.log(half)), double(2 / math.pi))
        if order:
            rest = ops.subtract(ops.multiply(half, rest), ops.reciprocal(half))
        found: Node = ops.add(made, ops.multiply(rest, double(1 / math.pi)))
        return found

    return near


def y(order: int) -> Function:
    """The function of the second kind; -inf at 0, NaN below."""
    close = _y_near(order)
    bound = 4.0
    turns, shares = np.polynomial.legendre.leggauss(64)
    angles, angle_shares = (turns + 1) * np.pi / 2, shares / 2
    reach = math.asinh(45 / bound)
    times, time_shares = (turns + 1) * reach / 2, shares * reach / 2 / math.pi
    growth = np.exp(order * times) + (-1) ** order * np.exp(-order * times)

    def swing(x: Node, sine: Node) -> Node:
        made: Node = ops.sin(ops.subtract(ops.multiply(x, sine), ops.leaf(order * angles)))
        return made

    def decay(x: Node, rise: Node) -> Node:
        made: Node = ops.exp(ops.negate(ops.multiply(x, rise)))
        return made

    def function(x: Node) -> Node:
        near = ops.minimum(ops.maximum(x, double(bound)), double(FAR))
        middle = ops.subtract(
            _integral(near, np.sin(angles), angle_shares, swing),
            _integral(near, np.sinh(times), time_shares * growth, decay),
        )
        far = ops.maximum(x, double(FAR))
        p, q, angle = _phases(order, far)
        tail = ops.add(ops.multiply(p, ops.sin(angle)), ops.multiply(q, ops.cos(angle)))
        made = _where(ops.greater(x, double(FAR)), ops.multiply(_amplitude(far), tail), middle)
        made = _where(ops.less(x, double(bound)), close(ops.minimum(x, double(bound))), made)
        return _where(ops.equal(x, double(0.0)), double(-math.inf), made)

    return function


def erfcx(x: Node) -> Node:
    """exp(x²) times erfc(x)."""
    step = 0.3
    nodes = np.arange(21) * step
    weights = np.exp(-(nodes**2)) * step * 2 / math.pi
    weights[0] /= 2
    near = ops.minimum(x, double(NEAR))
    inner = ops.multiply(ops.exp(ops.square(near)), ops.erfc(near))
    far = ops.maximum(x, double(NEAR))
    tail = _integral(
        far, nodes**2, weights,
        lambda x, square: ops.reciprocal(ops.add(x, ops.divide(square, x))),
    )  # fmt: skip
    return _where(ops.greater(x, double(NEAR)), tail, inner)


def ndtri(p: Node) -> Node:
    """The place below which a normal distribution has the share `p`."""
    low = ops.minimum(p, ops.subtract(double(1.0), p))
    start = ops.multiply(
        ops.erf_inv(ops.subtract(ops.multiply(p, double(2.0)), double(1.0))), double(math.sqrt(2))
    )
    logarithm = ops.log(low)
    found = ops.negate(ops.sqrt(ops.multiply(double(-2.0), logarithm)))
    for _ in range(6):  # Newton's method for the logarithm, which is nearly a parabola
        tail = ops.multiply(erfcx(ops.multiply(found, double(-math.sqrt(0.5)))), double(0.5))
        square = ops.multiply(ops.square(found), double(-0.5))
        error = ops.subtract(ops.add(ops.log(tail), square), logarithm)
        slope = ops.divide(double(1 / math.sqrt(2 * math.pi)), tail)
        found = ops.subtract(found, ops.divide(error, slope))
    signed = _where(ops.greater(p, double(0.5)), ops.negate(found), found)
    inside = ops.and_(ops.less(low, double(0.01)), ops.greater(low, double(0.0)))
    return _where(inside, signed, start)


def _sinc(x: Node) -> Node:
    made = _where(ops.equal(x, double(0.0)), double(1.0), ops.divide(ops.sin(x), x))
    return _where(ops.is_inf(x), double(0.0), made)


FUNCTIONS: dict[str, Function] = {
    "i0": unscaled_i(0),
    "special_i0e": scaled_i(0),
    "special_i1": unscaled_i(1),
    "special_i1e": scaled_i(1),
    "special_modified_bessel_i0": unscaled_i(0),
    "special_modified_bessel_i1": unscaled_i(1),
    "special_modified_bessel_k0": unscaled_k(0),
    "special_modified_bessel_k1": unscaled_k(1),
    "special_scaled_modified_bessel_k0": scaled_k(0),
    "special_scaled_modified_bessel_k1": scaled_k(1),
    "special_bessel_j0": j(0),
    "special_bessel_j1": j(1),
    "special_bessel_y0": y(0),
    "special_bessel_y1": y(1),
    "special_spherical_bessel_j0": _sinc,
    "special_erfcx": erfcx,
    "special_ndtri": ndtri,
}
ROWS: dict[str, Row] = {name: in_double(function) for name, function in FUNCTIONS.items()}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, keeps=True, composed=True)
