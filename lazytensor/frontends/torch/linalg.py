"""Linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.dtypes import S32, complex_of, real_of
from lazytensor.core.node import Node
from lazytensor.core.op import Op
from lazytensor.frontends.torch.creation import filled
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import cast_to, operand


def _with_info(op: Op, **attrs: Any) -> Row:
    """A factor, and per matrix 0 or 1: whether it failed."""

    def row(x: Any, *, check_errors: bool = False) -> tuple[Node, Node]:
        made, ok = op(operand(x), **attrs)
        return made, cast_to(ops.not_(ok), S32)

    return row


def _cholesky(x: Any, *, upper: bool = False, check_errors: bool = False) -> tuple[Node, Node]:
    return _with_info(ops.cholesky_checked, lower=not upper)(x)


def _qr(x: Any, mode: str = "reduced") -> tuple[Node, Node]:
    given = operand(x)
    q, r = ops.qr(given, full=mode == "complete")
    return (filled((0,), 0, given.type.dtype), r) if mode == "r" else (q, r)


def _svd(
    x: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: Any = None
) -> tuple[Node, Node, Node]:
    given = operand(x)
    if not compute_uv:
        empty = filled((0,), 0, given.type.dtype)
        return empty, ops.singular_values(given), empty
    u, s, vh = ops.svd(given, full=bool(full_matrices))
    return u, cast_to(s, real_of(given.type.dtype)), vh


def _eigh(x: Any, UPLO: str = "L", compute_v: bool = True) -> tuple[Node, Node]:
    given, lower = operand(x), UPLO.upper() == "L"
    if not compute_v:
        return ops.eigvalsh(given, lower=lower), filled((0,), 0, given.type.dtype)
    values, vectors = ops.eigh(given, lower=lower)
    return values, vectors


def _wide(x: Any) -> Node:
    given = operand(x)
    return cast_to(given, complex_of(given.type.dtype))


def _solve_triangular(
    a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Node:
    return _triangular(operand(a), operand(b), upper, left, unitriangular)


def _triangular(a: Node, b: Node, upper: bool, left: bool, unit: bool, how: str = "") -> Node:
    outer = np.broadcast_shapes(a.type.shape[:-2], b.type.shape[:-2])
    a = ops.broadcast(a, shape=(*outer, *a.type.shape[-2:]))
    b = ops.broadcast(b, shape=(*outer, *b.type.shape[-2:]))
    transpose = {"transpose": how} if how else {}
    made: Node = ops.triangular_solve(a, b, lower=not upper, left=left, unit=unit, **transpose)
    return made


ROWS: dict[str, Row] = {
    "linalg_cholesky_ex": _cholesky,
    "cholesky": lambda x, upper=False: ops.cholesky(operand(x), lower=not upper),
    "linalg_inv_ex": _with_info(ops.inv_checked),
    "linalg_qr": _qr,
    "_linalg_svd": _svd,
    "_linalg_eigh": _eigh,
    "linalg_eig": lambda x: ops.eig(operand(x)),
    "_linalg_eigvals": lambda x: ops.eigvals(operand(x)),
    "linalg_solve_triangular": _solve_triangular,
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS)
