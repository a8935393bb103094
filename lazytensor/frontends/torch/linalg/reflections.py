"""Linear algebra by reflections: products of the reflections that `geqrf` gives."""

from __future__ import annotations

from lazytensor.core import ops
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.dispatch.promotion import cast_to, of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.linalg.factorization import adjoint, product
from lazytensor.frontends.torch.linalg.matrices import matrix_rows


def _householder_product(x: Node, tau: Node) -> Node:
    return ops.householder_product(x, tau)


def _times_reflections(
    x: Node, tau: Node, other: Node, left: bool = True, transpose: bool = False
) -> Node:
    """The product of `other` and the reflections' whole product, which is square."""
    _check_times(x, tau, other, -2 if left else -1)
    n, ndim, axis = tau.type.shape[-1], x.type.ndim, x.type.ndim - 1
    m = x.type.shape[-2]
    few = ops.slice(x, ops.starts((0,) * ndim), sizes=(*x.type.shape[:-1], n), strides=(1,) * ndim)
    more = (*[0] * axis, m - n)
    zero = cast_to(0, x.type.dtype)
    square = ops.pad(few, zero, low=(0,) * ndim, high=more, interior=(0,) * ndim)
    whole = ops.householder_product(square, tau)
    if transpose:
        whole = adjoint(whole)
    return product(whole, other) if left else product(other, whole)


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
    "linalg_householder_product": _householder_product,
}


matrix_rows(of_nodes(ROWS))
