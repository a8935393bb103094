"""Orthogonal polynomials of any degree, in f64: Chebyshev's from their closed forms, Hermite's,
Laguerre's and Legendre's by recurrence, which is as long as the highest degree asked for.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import double
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, floating
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.tensor import is_lazy, node, to_cpu

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


def _mirrored(closed: Closed, other: Closed) -> Callable[[Node, Node], Node]:
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


def _row(function: Callable[[Node, Node], Node], shifted: bool) -> Row:
    def row(x: Any, n: Any) -> Node:
        given, degree = floating(x, n)
        wide = cast_to(given, F64)
        if shifted:
            wide = wide * 2.0 - 1.0
        made = function(wide, ops.trunc(cast_to(degree, F64)))
        return cast_to(made, given.type.dtype)

    return row


def _highest(n: Any) -> int:
    """The highest degree. Where degrees are data, the graph is cut to know it."""
    if not isinstance(n, torch.Tensor):
        return int(n)
    degrees = to_cpu(node(n)) if is_lazy(n) else n
    return int(degrees.max()) if degrees.numel() else 0


def _by_recurrence(first: Callable[[Node], Node], following: Next, most: bool = False) -> Row:
    """A row for polynomials that begin with 1 and `first`.

    `most`: there are none of a high degree, as torch has it.
    """

    def row(x: Any, n: Any) -> Node:
        given, degrees = floating(x, n)
        wide, degree = cast_to(given, F64), ops.trunc(cast_to(degrees, F64))
        bound = (512 if given.type.dtype == F64 else 128) if most else None
        below, last = double(1.0), first(wide)
        made = ops.select(degree <= 0.0, below, last)
        for k in range(1, min(_highest(n), bound or sys.maxsize)):
            below, last = last, following(wide, last, below, k)
            made = ops.select(degree > float(k), last, made)
        made = ops.select(degree < 0.0, double(0.0), made)
        if bound is not None:
            beyond = degree > float(bound)
            made = ops.select(beyond, double(math.nan), made)
        return cast_to(made, given.type.dtype)

    return row


def _weighed(a: Node, last: Node, b: float, below: Node, by: float) -> Node:
    """`(a * last - b * below) / by`."""
    above = a * last - b * below
    return above / by if by != 1 else above


def _times(factor: float, x: Node, shift: float = 0.0) -> Node:
    made = factor * x
    return made + shift if shift else made


RECURRENCES: dict[str, Row] = {
    "hermite_polynomial_h": _by_recurrence(
        lambda x: _times(2.0, x),
        lambda x, last, below, k: _weighed(_times(2.0, x), last, 2.0 * k, below, 1.0),
        most=True,
    ),
    "hermite_polynomial_he": _by_recurrence(
        lambda x: x, lambda x, last, below, k: _weighed(x, last, float(k), below, 1.0), most=True
    ),
    "laguerre_polynomial_l": _by_recurrence(
        lambda x: _times(-1.0, x, 1.0),
        lambda x, last, below, k: _weighed(
            _times(-1.0, x, 2.0 * k + 1), last, float(k), below, k + 1.0
        ),
    ),
    "legendre_polynomial_p": _by_recurrence(
        lambda x: x,
        lambda x, last, below, k: _weighed(_times(2.0 * k + 1, x), last, float(k), below, k + 1.0),
    ),
}
POLYNOMIALS = {
    "t": _mirrored(_first, _first),
    "u": _mirrored(_second, _second),
    "v": _mirrored(_half(False), _half(True)),
    "w": _mirrored(_half(True), _half(False)),
}
OVERLOADS = ("", ".x_scalar", ".n_scalar")
ROWS: dict[str, Row] = {
    f"special_{prefix}chebyshev_polynomial_{kind}{overload}": _row(function, bool(prefix))
    for kind, function in POLYNOMIALS.items()
    for prefix in ("", "shifted_")
    for overload in OVERLOADS
} | {f"special_{name}{tail}": row for name, row in RECURRENCES.items() for tail in OVERLOADS}


rows(ROWS, keeps=True, composed=True)
