"""Linear algebra: decompositions by singular values and eigenvectors, and what they solve."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.dtypes import BF16, F16, F32, S32, S64, complex_of, real_of
from lazytensor.core.node import Node
from lazytensor.core.op import Op
from lazytensor.frontends.torch.creation import filled
from lazytensor.frontends.torch.errors import refuse_sizes
from lazytensor.frontends.torch.factorization import adjoint, identity, paired, product
from lazytensor.frontends.torch.kernels import Row, composition
from lazytensor.frontends.torch.matrices import is_vector, matrix_rows
from lazytensor.frontends.torch.promotion import cast_to, operand
from lazytensor.frontends.torch.tensor import to_cpu, value


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
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
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
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
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
    # Torch leaves it to this kernel to conjugate what is marked for it.
    return _triangular(value(a), value(b), upper, left, unitriangular)


def _triangular(a: Node, b: Node, upper: bool, left: bool, unit: bool, how: str = "") -> Node:
    a, b = paired(a, b)
    transpose = {"transpose": how} if how else {}
    made: Node = ops.triangular_solve(a, b, lower=not upper, left=left, unit=unit, **transpose)
    return made


def _check_lstsq(matrix: Node, right: Node, driver: str | None) -> None:
    if matrix.type.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if not right.type.ndim:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if driver not in (None, "gels", "gelsd", "gelss", "gelsy"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )


def _lstsq(
    a: Any, b: Any, rcond: float | None = None, *, driver: str | None = None
) -> tuple[Node, Node, Node, Node]:
    """By singular values, whatever driver of LAPACK's is asked for."""
    matrix, right = operand(a), operand(b)
    _check_lstsq(matrix, right, driver)
    vector = is_vector(matrix, right)
    if right.type.shape[-1 if vector else -2] != matrix.type.shape[-2]:
        raise RuntimeError(
            "torch.linalg.lstsq: "
            + (
                "input.size(-2) should match other.size(-1)"
                if vector
                else "input.size(-2) should match other.size(-2)"
            )
        )
    if vector:
        right = ops.reshape(right, shape=(*right.type.shape, 1))
    refuse_sizes(matrix.type.shape[:-2], right.type.shape[:-2])
    m, n = matrix.type.shape[-2:]
    u, s, vh = ops.svd(matrix, full=False)
    own = s.type.dtype
    least = float(np.finfo(own).eps) * max(m, n) if rcond is None else rcond
    last = s.type.ndim - 1
    bound = ops.reduce_max(s, axes=(last,)) if min(m, n) else filled(s.type.shape[:last], 0, own)
    bound = ops.reshape(ops.multiply(bound, cast_to(least, own)), shape=(*s.type.shape[:last], 1))
    counts = ops.greater(s, bound)
    shares = ops.select(counts, ops.reciprocal(s), cast_to(0.0, own))
    column = cast_to(ops.reshape(shares, shape=(*shares.type.shape, 1)), matrix.type.dtype)
    inner = ops.multiply(column, product(adjoint(u), right))
    found = product(adjoint(vh), inner)
    rank = ops.reduce_sum(cast_to(counts, S64), axes=(last,))
    nothing = filled((0,), 0, own)
    residuals = nothing
    if m > n and (driver == "gels" or _all_full(rank, n, driver)):
        apart = ops.abs(ops.subtract(product(matrix, found), right))
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
    """Whether there are residuals: it decides on their shape, and is data. LAPACK's gelsy, which is
    torch's default, gives none."""
    return driver not in (None, "gelsy") and bool((to_cpu(rank) == n).all())


_TERMS = {4: 15, 8: 24}
"""Terms of the exponential's series that a norm of 2 needs, by the bytes of a real number."""
_SQUARINGS = 24
"""Norms up to 2**25 can be brought down to 2 by so many halvings."""


def _matrix_exp(x: Any) -> Node:
    """The series of a matrix halved until its norm is small, squared as often."""
    given = operand(x)
    if given.type.dtype in (F16, BF16):
        return cast_to(_matrix_exp(cast_to(given, F32)), given.type.dtype)
    dtype = given.type.dtype
    real = real_of(dtype)
    n, last = given.type.shape[-1], given.type.ndim - 1
    if not given.type.size:
        return given
    norm = ops.reduce_max(ops.reduce_sum(ops.abs(given), axes=(last - 1,)), axes=(last - 1,))
    often = ops.ceil(ops.log2(ops.multiply(norm, cast_to(0.5, real))))
    often = ops.clamp(cast_to(0.0, real), often, cast_to(float(_SQUARINGS), real))
    shape = (*norm.type.shape, 1, 1)
    factor = ops.reshape(ops.exp2(ops.negate(often)), shape=shape)
    small = ops.multiply(given, cast_to(factor, dtype))
    one = identity(given, n, n)
    found = one
    for k in range(_TERMS[real.itemsize], 0, -1):  # Horner's rule
        found = ops.add(one, ops.multiply(product(small, found), cast_to(1 / k, dtype)))
    for k in range(_SQUARINGS):
        more = ops.reshape(ops.greater(often, cast_to(float(k), real)), shape=shape)
        found = ops.select(more, product(found, found), found)
    return found


ROWS: dict[str, Row] = {
    "linalg_lstsq": _lstsq,
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
    matrix_rows(ROWS)
    matrix_rows({"linalg_matrix_exp": composition("linalg_matrix_exp", _matrix_exp)})
