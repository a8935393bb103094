"""Orthogonal polynomials of any degree, in f64: Chebyshev's from their closed forms, Hermite's,
Laguerre's and Legendre's by recurrence, which is as long as the highest degree asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import double

Polynomial = Callable[[Node, Node], Node]
"""From the argument and the degree, f64."""

Closed = Callable[[Node, Node, Node, Node], Node]

Next = Callable[[Node, Node, Node, int], Node]
"""From the argument, the polynomials of degree k and k - 1, and k: that of degree k + 1."""


def _wave(x: Node, angle: Node, size: Node, factor: Node, sine: bool) -> Node:
    """cos or sin of `factor * angle` where x is within 1, else cosh or sinh of `factor * size`."""
    inside = (ops.sin if sine else ops.cos)(factor * angle)
    outside = (ops.sinh if sine else ops.cosh)(factor * size)
    return ops.select(ops.abs(x) <= 1.0, inside, outside)


def _ratio(above: Node, below: Node, limit: Node) -> Node:
    return ops.select(ops.equal(below, double(0.0)), limit, above / below)


def _first(x: Node, angle: Node, size: Node, n: Node) -> Node:
    return _wave(x, angle, size, n, False)


def _second(x: Node, angle: Node, size: Node, n: Node) -> Node:
    more, one = n + 1.0, double(1.0)
    return _ratio(_wave(x, angle, size, more, True), _wave(x, angle, size, one, True), more)


def _half(sine: bool) -> Closed:
    def closed(x: Node, angle: Node, size: Node, n: Node) -> Node:
        more, half = n + 0.5, double(0.5)
        limit = n * 2.0 + 1.0
        above, below = (_wave(x, angle, size, f, sine) for f in (more, half))
        return _ratio(above, below, limit)

    return closed


def _mirrored(closed: Closed, other: Closed) -> Polynomial:
    """The polynomial from what it is for x >= 0, and that of which it is the mirror image."""

    def function(x: Node, n: Node) -> Node:
        given = ops.abs(x)
        angle = ops.acos(ops.minimum(given, double(1.0)))
        size = ops.acosh(ops.maximum(given, double(1.0)))
        odd = ops.equal(ops.abs(ops.remainder(n, double(2.0))), double(1.0))
        below = other(given, angle, size, n)
        below = ops.select(odd, -below, below)
        made = ops.select(x < 0.0, below, closed(given, angle, size, n))
        made = ops.select(ops.is_nan(x), x, made)
        return ops.select(n < 0.0, double(0.0), made)

    return function


def _shifted(function: Polynomial) -> Polynomial:
    """The polynomial on the interval from 0 to 1."""
    return lambda x, n: function(x * 2.0 - 1.0, n)


class Recurrence(NamedTuple):
    """Polynomials that begin with 1 and `first(x)`."""

    first: Callable[[Node], Node]
    following: Next

    def __call__(self, x: Node, degree: Node, highest: int) -> Node:
        """The polynomial of each degree, of which `highest` is the last that counts.

        x, degree: f64, shapes that broadcast. A negative degree gives 0.
        """
        below, last = double(1.0), self.first(x)
        made = ops.select(degree <= 0.0, below, last)
        for k in range(1, highest):
            below, last = last, self.following(x, last, below, k)
            made = ops.select(degree > float(k), last, made)
        return ops.select(degree < 0.0, double(0.0), made)


def _weighed(a: Node, last: Node, b: float, below: Node, by: float) -> Node:
    """`(a * last - b * below) / by`."""
    above = a * last - b * below
    return above / by if by != 1 else above


def _times(factor: float, x: Node, shift: float = 0.0) -> Node:
    made = factor * x
    return made + shift if shift else made


RECURRENCES: Final[dict[str, Recurrence]] = {
    "hermite_polynomial_h": Recurrence(
        lambda x: _times(2.0, x),
        lambda x, last, below, k: _weighed(_times(2.0, x), last, 2.0 * k, below, 1.0),
    ),
    "hermite_polynomial_he": Recurrence(
        lambda x: x, lambda x, last, below, k: _weighed(x, last, float(k), below, 1.0)
    ),
    "laguerre_polynomial_l": Recurrence(
        lambda x: _times(-1.0, x, 1.0),
        lambda x, last, below, k: _weighed(
            _times(-1.0, x, 2.0 * k + 1), last, float(k), below, k + 1.0
        ),
    ),
    "legendre_polynomial_p": Recurrence(
        lambda x: x,
        lambda x, last, below, k: _weighed(_times(2.0 * k + 1, x), last, float(k), below, k + 1.0),
    ),
}

CHEBYSHEV: Final[dict[str, Polynomial]] = {
    "t": _mirrored(_first, _first),
    "u": _mirrored(_second, _second),
    "v": _mirrored(_half(False), _half(True)),
    "w": _mirrored(_half(True), _half(False)),
}
"""Chebyshev's polynomials of the four kinds, by their letters."""

SHIFTED_CHEBYSHEV: Final = {kind: _shifted(function) for kind, function in CHEBYSHEV.items()}
