"""Orthogonal polynomials of any degree, in f64: Chebyshev's from their closed forms, Hermite's,
Laguerre's and Legendre's by recurrence, which is as long as the highest degree asked for.
"""

from __future__ import annotations

import math
from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import double
from lazytensor.core.lib.polynomials import (
    CHEBYSHEV,
    RECURRENCES,
    SHIFTED_CHEBYSHEV,
    Polynomial,
    Recurrence,
)
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, floating
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.tensor import is_lazy, node, to_cpu

_MOST_DEGREES: Final = {"hermite_polynomial_h", "hermite_polynomial_he"}
"""Polynomials that torch does not have of a high degree."""


def _row(function: Polynomial) -> Row:
    def row(x: Any, n: Any) -> Node:
        given, degree = floating(x, n)
        made = function(cast_to(given, F64), ops.trunc(cast_to(degree, F64)))
        return cast_to(made, given.type.dtype)

    return row


def _highest(n: Any) -> int:
    """The highest degree. Where degrees are data, the graph is cut to know it."""
    if not isinstance(n, torch.Tensor):
        return int(n)
    degrees = to_cpu(node(n)) if is_lazy(n) else n
    return int(degrees.max()) if degrees.numel() else 0


def _by_recurrence(name: str, recurrence: Recurrence) -> Row:
    def row(x: Any, n: Any) -> Node:
        given, degrees = floating(x, n)
        wide, degree = cast_to(given, F64), ops.trunc(cast_to(degrees, F64))
        highest = _highest(n)
        if name not in _MOST_DEGREES:
            return cast_to(recurrence(wide, degree, highest), given.type.dtype)
        bound = 512 if given.type.dtype == F64 else 128
        made = recurrence(wide, degree, min(highest, bound))
        return cast_to(ops.select(degree > float(bound), double(math.nan), made), given.type.dtype)

    return row


OVERLOADS = ("", ".x_scalar", ".n_scalar")
ROWS: dict[str, Row] = {
    f"special_{prefix}chebyshev_polynomial_{kind}{overload}": _row(function)
    for prefix, table in (("", CHEBYSHEV), ("shifted_", SHIFTED_CHEBYSHEV))
    for kind, function in table.items()
    for overload in OVERLOADS
} | {
    f"special_{name}{tail}": _by_recurrence(name, recurrence)
    for name, recurrence in RECURRENCES.items()
    for tail in OVERLOADS
}


rows(ROWS, keeps=True, composed=True)
