"""Chebyshev's polynomials of any degree, from their closed forms, in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazytensor.core import ops
from lazytensor.core.dtypes import F64
from lazytensor.core.node import Node
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import cast_to, floating

Closed = Callable[[Node, Node, Node, Node], Node]


def _number(value: float) -> Node:
    return cast_to(value, F64)


def _wave(x: Node, angle: Node, size: Node, factor: Node, sine: bool) -> Node:
    """cos or sin of `factor * angle` where x is within 1, else cosh or sinh of `factor * size`."""
    inside = (ops.sin if sine else ops.cos)(ops.multiply(factor, angle))
    outside = (ops.sinh if sine else ops.cosh)(ops.multiply(factor, size))
    made: Node = ops.select(ops.less_equal(ops.abs(x), _number(1.0)), inside, outside)
    return made


def _ratio(above: Node, below: Node, limit: Node) -> Node:
    made: Node = ops.select(ops.equal(below, _number(0.0)), limit, ops.divide(above, below))
    return made


def _first(x: Node, angle: Node, size: Node, n: Node) -> Node:
    return _wave(x, angle, size, n, False)


def _second(x: Node, angle: Node, size: Node, n: Node) -> Node:
    more, one = ops.add(n, _number(1.0)), _number(1.0)
    return _ratio(_wave(x, angle, size, more, True), _wave(x, angle, size, one, True), more)


def _half(sine: bool) -> Closed:
    def closed(x: Node, angle: Node, size: Node, n: Node) -> Node:
        more, half = ops.add(n, _number(0.5)), _number(0.5)
        limit = ops.add(ops.multiply(n, _number(2.0)), _number(1.0))
        above, below = (_wave(x, angle, size, f, sine) for f in (more, half))
        return _ratio(above, below, limit)

    return closed


def _mirrored(closed: Closed, other: Closed) -> Callable[[Node, Node], Node]:
    """The polynomial from what it is for x >= 0, and that of which it is the mirror image."""

    def function(x: Node, n: Node) -> Node:
        given = ops.abs(x)
        angle = ops.acos(ops.minimum(given, _number(1.0)))
        size = ops.acosh(ops.maximum(given, _number(1.0)))
        odd = ops.equal(ops.abs(ops.remainder(n, _number(2.0))), _number(1.0))
        below = other(given, angle, size, n)
        below = ops.select(odd, ops.negate(below), below)
        made = ops.select(ops.less(x, _number(0.0)), below, closed(given, angle, size, n))
        made = ops.select(ops.is_nan(x), x, made)
        found: Node = ops.select(ops.less(n, _number(0.0)), _number(0.0), made)
        return found

    return function


def _row(function: Callable[[Node, Node], Node], shifted: bool) -> Row:
    def row(x: Any, n: Any) -> Node:
        given, degree = floating(x, n)
        wide = cast_to(given, F64)
        if shifted:
            wide = ops.subtract(ops.multiply(wide, _number(2.0)), _number(1.0))
        made = function(wide, ops.trunc(cast_to(degree, F64)))
        return cast_to(made, given.type.dtype)

    return row


KINDS = {
    "t": _mirrored(_first, _first),
    "u": _mirrored(_second, _second),
    "v": _mirrored(_half(False), _half(True)),
    "w": _mirrored(_half(True), _half(False)),
}
ROWS: dict[str, Row] = {
    f"special_{prefix}chebyshev_polynomial_{kind}{overload}": _row(function, bool(prefix))
    for kind, function in KINDS.items()
    for prefix in ("", "shifted_")
    for overload in ("", ".x_scalar", ".n_scalar")
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, keeps=True)
