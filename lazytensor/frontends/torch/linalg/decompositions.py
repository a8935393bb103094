"""Linear algebra: Cholesky, QR, singular values, eigenvectors; least squares; exponentials."""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64, complex_of, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.diagonals import last_diagonal
from lazytensor.core.lib.factor_faults import first_bad_minor, first_zero_pivot
from lazytensor.core.lib.matrices import (
    exponential,
    least_squares,
    paired,
    product,
    triangle,
)
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.frontends.torch.dispatch.errors import all_sure, require
from lazytensor.frontends.torch.dispatch.kernels import composition
from lazytensor.frontends.torch.dispatch.promotion import cast_to, of_nodes, on_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.linalg.factorization import check
from lazytensor.frontends.torch.linalg.matrices import is_vector, matrix_rows
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.tensor import to_cpu, value

_NO_SVD: Final = (
    "The algorithm failed to converge because the input matrix contained non-finite values."
)
_NO_EIGENVALUES: Final = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
    "repeated eigenvalues."
)


def _cholesky(
    x: Node, *, upper: bool = False, check_errors: bool = False, name: str = "linalg.cholesky_ex"
) -> tuple[Node, Node]:
    made, ok = ops.cholesky_checked(x, lower=not upper)
    # LAPACK does not report NaN in the data; torch does.
    fine = ok & ops.reduce_and(_numbers(last_diagonal(made)), axes=(ok.type.ndim,))
    info = first_bad_minor(x, fine, upper)
    check(check_errors, name, info)
    return made, info


def _cholesky_alone(x: Any, upper: bool = False) -> Node:
    return _cholesky(x, upper=upper, check_errors=True, name="cholesky")[0]


def _inverse(x: Node, *, check_errors: bool = False) -> tuple[Node, Node]:
    made, ok = ops.inv_checked(x)
    info = first_zero_pivot(x, ok)
    check(check_errors, "linalg.inv_ex", info)
    return made, info


def _numbers(x: Node) -> Node:
    """Which elements are not NaN."""
    return ops.equal(x, x)


def _qr(x: Node, mode: str = "reduced") -> tuple[Node, Node]:
    require(mode in ("reduced", "complete", "r"))
    q, r = ops.qr(x, full=mode == "complete")
    return (filled((0,), 0, x.type.dtype), r) if mode == "r" else (q, r)


def _converged(x: Node, ok: Node) -> Node:
    """For each matrix, whether torch accepts it: infinities give NaN, NaN itself is refused."""
    axes = (x.type.ndim - 2, x.type.ndim - 1)
    finite = ops.reduce_and(ops.is_finite(x), axes=axes)
    return ok | (~finite & ops.reduce_and(_numbers(x), axes=axes))


def _svd(
    x: Node, full_matrices: bool = False, compute_uv: bool = True, *, driver: Any = None
) -> tuple[Node, Node, Node]:
    text = f"linalg.svd: {_NO_SVD}"
    if not compute_uv:
        empty = filled((0,), 0, x.type.dtype)
        values, ok = ops.singular_values_checked(x)
        return empty, all_sure([values], _converged(x, ok), text)[0], empty
    *made, ok = ops.svd_checked(x, full=bool(full_matrices))
    u, s, vh = all_sure(made, _converged(x, ok), text)
    return u, cast_to(s, real_of(x.type.dtype)), vh


def _eigh(x: Node, UPLO: str = "L", compute_v: bool = True) -> tuple[Node, Node]:
    lower = UPLO.upper() == "L"
    require(UPLO.upper() in ("L", "U"))
    text = f"linalg.eigh: {_NO_EIGENVALUES}"
    if not compute_v:
        values, ok = ops.eigvalsh_checked(x, lower=lower)
        (sure,) = all_sure([values], _converged(triangle(x, not lower), ok), text)
        return sure, filled((0,), 0, x.type.dtype)
    *made, ok = ops.eigh_checked(x, lower=lower)
    values, vectors = all_sure(made, _converged(triangle(x, not lower), ok), text)
    return values, vectors


def _eig(x: Node) -> tuple[Node, ...]:
    text = "torch.linalg.eig: input tensor should not contain infs or NaNs."
    return all_sure(ops.eig(x), ops.is_finite(x), text, RuntimeError)


def _wide(x: Node) -> Node:
    return cast_to(x, complex_of(x.type.dtype))


def _solve_triangular(
    a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Node:
    # Torch leaves pending conjugations to this kernel.
    return _triangular(value(a), value(b), upper, left, unitriangular)


def _triangular(a: Node, b: Node, upper: bool, left: bool, unit: bool, how: str = "") -> Node:
    a, b = paired(a, b)
    transpose = {"transpose": how} if how else {}
    return ops.triangular_solve(a, b, lower=not upper, left=left, unit=unit, **transpose)


def _lstsq(
    a: Node, b: Node, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Node, Node, Node, Node]:
    """Least squares by singular values, for every LAPACK driver."""
    require(a.type.ndim >= 2 and b.type.ndim > 0 and a.type.dtype == b.type.dtype)
    require(driver in (None, "gels", "gelsd", "gelss", "gelsy"))
    vector = is_vector(a, b)
    require(b.type.shape[-1 if vector else -2] == a.type.shape[-2])
    if vector:
        b = ops.reshape(b, shape=(*b.type.shape, 1))
    m, n = a.type.shape[-2:]
    found, rank, s = least_squares(a, b, rcond)
    own = s.type.dtype
    nothing = filled((0,), 0, own)
    residuals = nothing
    if m > n and (driver == "gels" or _all_full(rank, n, driver)):
        apart = ops.abs(product(a, found) - b)
        residuals = ops.reduce_sum(ops.square(apart), axes=(apart.type.ndim - 2,))
        residuals = ops.reshape(residuals, shape=residuals.type.shape[:-1]) if vector else residuals
    if vector:
        found = ops.reshape(found, shape=found.type.shape[:-1])
    return (
        found,
        residuals,
        filled((0,), 0, S64) if driver == "gels" else rank,
        s if driver in ("gelsd", "gelss") else nothing,
    )


def _all_full(rank: Node, n: int, driver: str | None) -> bool:
    """Whether there are residuals. The ranks are data and decide on the residuals' shape.

    LAPACK's gelsy, torch's default, gives none.
    """
    return driver not in (None, "gelsy") and bool((to_cpu(rank) == n).all())


def _matrix_exp(x: Node) -> Node:
    shape = x.type.shape
    require(x.type.ndim >= 2 and shape[-2] == shape[-1] and is_inexact(x.type.dtype))
    return exponential(x)


ROWS: dict[str, Row] = {
    "linalg_lstsq": _lstsq,
    "linalg_cholesky_ex": _cholesky,
    "cholesky": _cholesky_alone,
    "linalg_inv_ex": _inverse,
    "linalg_qr": _qr,
    "_linalg_svd": _svd,
    "_linalg_eigh": _eigh,
    "linalg_eig": _eig,
    "_linalg_eigvals": ops.eigvals,
}


matrix_rows(of_nodes(ROWS))
matrix_rows({"linalg_matrix_exp": composition("linalg_matrix_exp", on_nodes(_matrix_exp))})
matrix_rows({"linalg_solve_triangular": _solve_triangular})
