"""Bessel functions of orders 0 and 1, by polynomials: see `coefficients`.

Near 0 they are power series. Far out they are nearly constant amplitudes times exponentials or
sines and cosines. Sines and cosines are taken of x itself, because `x - π/4` loses digits:
cos(x - π/4) is `(cos x + sin x) / √2`.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.node import Node
from lazytensor.core.ops import coefficients as table
from lazytensor.core.ops.approximation import Function, beside_zeros, in_double, number, polynomial
from lazytensor.core.ops.elementwise import (
    abs,
    copysign,
    equal,
    is_inf,
    maximum,
    minimum,
    reciprocal,
    select,
)
from lazytensor.core.ops.special import cos, exp, log, sin, sqrt

Zeros = tuple[tuple[tuple[float, float], ...], ...]
J_ZEROS: Final[Zeros] = (
    (
        (2.404825557695773, -1.176691651530894e-16),
        (5.520078110286311, 8.088597146146722e-17),
        (8.653727912911013, -2.92812607320779e-16),
    ),
    ((3.8317059702075125, -1.5269184090088067e-16), (7.015586669815619, -9.414165653410389e-17)),
)
"""Per order the zeros of J between 2 and 9, each as the sum of two numbers."""
Y_ZEROS: Final[Zeros] = (
    ((3.957678419314858, -1.0764340697562706e-16), (7.086051060301773, -8.835285723085408e-17)),
    (
        (2.197141326031017, -4.8259835876454966e-17),
        (5.429681040794135, 4.162514026670377e-16),
        (8.596005868331169, 2.8415838340063664e-16),
    ),
)
"""Per order the zeros of Y between 2 and 9, each as the sum of two numbers."""
J_MIDDLE, Y_MIDDLE, FAR = 2.0, 2.5, 8.0
"""Up to these J and Y are power series; from the last on, amplitudes times sines and cosines."""
I_FAR, K_FAR = 5.0, 1.0
"""From here on I and K are amplitudes times exponentials."""


def _series(order: int, x: Node) -> Node:
    """J close to 0."""
    square = x * x
    rest = square * polynomial(square, table.J_SERIES[order])
    return x * 0.5 + x * rest if order else rest + 1.0


def _j_near(order: int, x: Node) -> Node:
    start = _series(order, minimum(x, number(J_MIDDLE)))
    place = maximum(x, number(J_MIDDLE))
    share = polynomial(place - 5.0, table.J_MIDDLE[order])
    found = share * beside_zeros(place, J_ZEROS[order])
    return select(x > J_MIDDLE, found, start)


def _y_near(order: int, x: Node) -> Node:
    start = minimum(x, number(Y_MIDDLE))
    rest = polynomial(start * start, table.Y_SERIES[order])
    grown = log(start) * _series(order, start)
    if order:
        rest, grown = rest * start, grown - reciprocal(start)
    start = grown * (2 / math.pi) + rest
    place = maximum(x, number(Y_MIDDLE))
    share = polynomial(place - 5.25, table.Y_MIDDLE[order])
    found = share * beside_zeros(place, Y_ZEROS[order])
    return select(x > Y_MIDDLE, found, start)


def _waves(order: int, x: Node) -> tuple[Node, Node]:
    """Far out: J0 and Y0, or -Y1 and J1."""
    inverse = reciprocal(x)
    square = inverse * inverse
    even = polynomial(square, table.BESSEL_COSINE[order])
    odd = inverse * polynomial(square, table.BESSEL_SINE[order])
    more, less_ = even + odd, even - odd
    sine, cosine = sin(x), cos(x)
    scale = sqrt(inverse) * (1 / math.sqrt(math.pi))
    first = more * cosine + less_ * sine
    second = more * sine - less_ * cosine
    return scale * first, scale * second


def _j(order: int, x: Node) -> Node:
    size = abs(x)
    near = _j_near(order, minimum(size, number(FAR)))
    far = _waves(order, maximum(size, number(FAR)))[order]
    found = select(size > FAR, far, near)
    return select(x < 0.0, -found, found) if order else found


def _y(order: int, x: Node) -> Node:
    near = _y_near(order, minimum(x, number(FAR)))
    far = _waves(order, maximum(x, number(FAR)))[1 - order]
    far = -far if order else far
    found = select(x > FAR, far, near)
    return select(equal(x, number(0.0)), number(-math.inf), found)


def _i(order: int, is_scaled: bool, x: Node) -> Node:
    size = abs(x)
    half = minimum(size, number(I_FAR)) * 0.5
    near = polynomial(half * half, table.I_NEAR[order])
    near = near * half if order else near
    inverse = reciprocal(maximum(size, number(I_FAR)))
    place = inverse * 10.0 - 1.0
    far = polynomial(place, table.I_FAR[order]) * sqrt(inverse)
    growth = exp(-size if is_scaled else size)
    near, far = (near * growth, far) if is_scaled else (near, far * growth)
    found = select(size > I_FAR, far, near)
    return copysign(found, x) if order else found


def _k(order: int, is_scaled: bool, x: Node) -> Node:
    close = minimum(x, number(K_FAR))
    square = close * close
    grown = log(close) * polynomial(square, table.K_LOGARITHM[order])
    rest = polynomial(square, table.K_NEAR[order])
    near = reciprocal(close) + close * (grown + rest) if order else rest - grown
    inverse = reciprocal(maximum(x, number(K_FAR)))
    below = polynomial(inverse, table.K_FAR_BELOW[order])
    rest = inverse * polynomial(inverse, table.K_FAR[order]) / below
    far = (rest + math.sqrt(math.pi / 2)) * sqrt(inverse)
    fall = exp(x if is_scaled else -x)
    near, far = (near * fall, far) if is_scaled else (near, far * fall)
    found = select(x > K_FAR, far, near)
    return select(equal(x, number(0.0)), number(math.inf), found)


def _spherical(x: Node) -> Node:
    found = select(equal(x, number(0.0)), number(1.0), sin(x) / x)
    return select(is_inf(x), number(0.0), found)


def _row(name: str, function: Function, doc: str) -> Composite:
    return in_double(f"bessel_{name}", function, doc)


bessel_j0 = _row("j0", partial(_j, 0), "J0, the function of the first kind.")
bessel_j1 = _row("j1", partial(_j, 1), "J1, the function of the first kind.")
bessel_y0 = _row("y0", partial(_y, 0), "Y0, of the second kind; -inf at 0, NaN for x < 0.")
bessel_y1 = _row("y1", partial(_y, 1), "Y1, of the second kind; -inf at 0, NaN for x < 0.")
bessel_i0 = _row("i0", partial(_i, 0, False), "I0, the modified function of the first kind.")
bessel_i1 = _row("i1", partial(_i, 1, False), "I1, the modified function of the first kind.")
bessel_i0e = _row("i0e", partial(_i, 0, True), "I0 of x times exp(-|x|).")
bessel_i1e = _row("i1e", partial(_i, 1, True), "I1 of x times exp(-|x|).")
bessel_k0 = _row("k0", partial(_k, 0, False), "K0, modified, of the second kind; NaN for x < 0.")
bessel_k1 = _row("k1", partial(_k, 1, False), "K1, modified, of the second kind; NaN for x < 0.")
bessel_k0e = _row("k0e", partial(_k, 0, True), "K0 of x times exp(x); NaN for x < 0.")
bessel_k1e = _row("k1e", partial(_k, 1, True), "K1 of x times exp(x); NaN for x < 0.")
spherical_bessel_j0 = in_double("spherical_bessel_j0", _spherical, "sin(x) / x; 1 at 0.")
