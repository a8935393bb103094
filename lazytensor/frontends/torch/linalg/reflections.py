"""Linear algebra by reflections: products of the reflections that `geqrf` gives."""

from __future__ import annotations

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.matrices import times_reflections
from lazytensor.frontends.torch.dispatch.promotion import of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.linalg.matrices import matrix_rows


def _times_reflections(
    x: Node, tau: Node, other: Node, left: bool = True, transpose: bool = False
) -> Node:
    """The product of `other` and the reflections' whole product, which is square."""
    _check_times(x, tau, other, -2 if left else -1)
    return times_reflections(x, tau, other, left, transpose)


def _check_times(x: Node, factors: Node, other: Node, side: int) -> None:
    a, b, c = x.type.shape, factors.type.shape, other.type.shape
    fits = len(a) >= 2 and len(c) == len(a) and a[:-2] == c[:-2] == b[:-1]
    if not fits or c[side] != a[-2] or b[-1:] != (min(a[-2:]),):
        raise ShapeError(
            f"ormqr: a matrix, its reflections and what they are applied to are needed, got "
            f"{x.type}, {factors.type} and {other.type}"
        )


ROWS: dict[str, Row] = {
    "ormqr": _times_reflections,
    "linalg_householder_product": ops.householder_product,
}


matrix_rows(of_nodes(ROWS))
