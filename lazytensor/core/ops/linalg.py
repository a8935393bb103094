"""Linear algebra over the last two axes; the axes before them are a batch.

A matrix on which LAPACK fails ("Fails" below) gives NaN; the others of its batch are not affected.
No op raises when it runs. An op that may fail has a twin, named `<op>_checked`, with one more
result: `ok`, a flag per matrix. A frontend that must raise records
`guard(ok, error=…, text=…)` and `guarded(result, ok)`.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, F32, F64, S32, complex_of, real_of
from lazytensor.core.ir.op import Op, check_dtype, primitive, register
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

LAPACK = COMPLEX | {F32, F64}

CHECKED: dict[Op[Any], Op] = {}
"""Per op that may fail: its twin with a flag."""


def checked(op: Op[Any]) -> Op[Any]:
    """Declare the twin of `op` that gives a flag per matrix as its last result."""
    rule = op.rule

    @wraps(rule)
    def flagged(*types: TensorType, **attrs: Any) -> tuple[TensorType, ...]:
        results = rule(*types, **attrs)
        several = results if isinstance(results, tuple) else (results,)
        return *several, tensor_type(BOOL, types[0].shape[:-2])

    twin: Op[Any] = register(Op(f"{op.name}_checked", flagged))
    twin.__doc__ = f"`{op.name}`, and `ok`: pred[batch]."
    CHECKED[op] = twin
    return twin


def _matrices(op: str, x: TensorType) -> tuple[Shape, int, int]:
    """Batch, rows, columns."""
    check_dtype(op, LAPACK, x)
    if x.ndim < 2:
        raise ShapeError(f"{op}: matrices are needed, got {x}")
    return x.shape[:-2], x.shape[-2], x.shape[-1]


def _square(op: str, x: TensorType) -> tuple[Shape, int]:
    """Batch, order."""
    batch, rows, columns = _matrices(op, x)
    if rows != columns:
        raise ShapeError(f"{op}: square matrices are needed, got {x}")
    return batch, rows


def _check_system(op: str, a: TensorType, b: TensorType, axis: int) -> None:
    check_dtype(op, LAPACK, a, b)
    batch, order = _square(op, a)
    if b.ndim != a.ndim or b.shape[:-2] != batch or b.shape[axis] != order:
        raise ShapeError(f"{op}: one batch and one order are needed, got {a} and {b}")


@primitive
def cholesky(x: TensorType, *, lower: bool = True) -> TensorType:
    """The triangle `l` with `l lᴴ = x` (`lower`), or `u` with `uᴴ u = x`; zeros beyond it.

    x: f32 f64 c64 c128[…, n, n], positive definite; only the triangle asked for is read.
    Result: type of x. Fails: not positive definite. Raises: DTypeError, ShapeError.
    Source: LAPACK potrf.
    """
    _square("cholesky", x)
    return x


@primitive
def triangular_solve(
    a: TensorType,
    b: TensorType,
    *,
    left: bool = True,
    lower: bool = True,
    transpose: str = "none",
    unit: bool = False,
) -> TensorType:
    """The `x` with `op(a) x = b`, or `x op(a) = b` unless `left`; `op` is `transpose`.

    a: f32 f64 c64 c128[…, n, n], of which one triangle is read, and not its diagonal if `unit`.
    b: same dtype and batch, […, n, k] (`left`) or […, k, n]. `transpose`: "none", "transpose" or
    "adjoint". Result: type of b. Raises: DTypeError, ShapeError. Source: BLAS trsm.
    """
    if transpose not in ("none", "transpose", "adjoint"):
        raise ShapeError(f"triangular_solve: none, transpose or adjoint, got {transpose!r}")
    _check_system("triangular_solve", a, b, -2 if left else -1)
    return b


@primitive
def lu(x: TensorType) -> tuple[TensorType, TensorType, TensorType]:
    """Triangular factors with partial pivoting: `x[permutation] = l u`.

    x: f32 f64 c64 c128[…, m, n]. Result: l below and u above the diagonal, packed, of the type of
    x; pivots s32[…, min(m, n)]: row i was swapped with row pivots[i]; the permutation s32[…, m].
    Raises: DTypeError, ShapeError. Source: LAPACK getrf.
    """
    batch, rows, columns = _matrices("lu", x)
    pivots = tensor_type(S32, (*batch, min(rows, columns)))
    return x, pivots, tensor_type(S32, (*batch, rows))


@primitive
def permutation(pivots: TensorType, *, size: int) -> TensorType:
    """The order of rows 0 to `size` after swapping each row i with row `pivots[i]`, in turn.

    pivots: s32[…, k], as `lu` gives them, k at most `size`. Result: s32[…, size].
    Raises: DTypeError, ShapeError. Source: LAPACK laswp.
    """
    check_dtype("permutation", frozenset([S32]), pivots)
    if not pivots.ndim or pivots.shape[-1] > size:
        raise ShapeError(f"permutation: at most {size} pivots are needed, got {pivots}")
    return pivots.with_shape((*pivots.shape[:-1], size))


@primitive
def householder_product(x: TensorType, factors: TensorType) -> TensorType:
    """The first columns of the product of reflections `1 - factor v vᴴ`.

    x: f32 f64 c64 c128[…, m, n], m at least n. Column i below the diagonal, with an implied 1 on
    it, is the v of reflection i. factors: same dtype and batch, […, k], k at most n.
    Result: type of x. Raises: DTypeError, ShapeError. Source: LAPACK orgqr.
    """
    check_dtype("householder_product", LAPACK, x, factors)
    batch, rows, columns = _matrices("householder_product", x)
    fits = factors.ndim and factors.shape[:-1] == batch and factors.shape[-1] <= columns
    if rows < columns or not fits:
        raise ShapeError(
            f"householder_product: a tall matrix and no more factors than columns are needed, "
            f"got {x} and {factors}"
        )
    return x


@primitive
def qr(x: TensorType, *, full: bool = False) -> tuple[TensorType, TensorType]:
    """`q`, with orthonormal columns, and `r`, upper triangular: `q r = x`.

    x: f32 f64 c64 c128[…, m, n]. Result: q[…, m, k], r[…, k, n]; k is m if `full`, else the
    smaller of m and n. Raises: DTypeError, ShapeError. Source: LAPACK geqrf, orgqr.
    """
    batch, rows, columns = _matrices("qr", x)
    inner = rows if full else min(rows, columns)
    return x.with_shape((*batch, rows, inner)), x.with_shape((*batch, inner, columns))


@primitive
def svd(x: TensorType, *, full: bool = True) -> tuple[TensorType, TensorType, TensorType]:
    """Singular values, largest first, and vectors: `u diag(s) vh = x`.

    x: f32 f64 c64 c128[…, m, n]. Result: u[…, m, m], s real[…, k], vh[…, n, n] with k the smaller
    of m and n; u[…, m, k] and vh[…, k, n] unless `full`. Fails: no convergence, NaN, infinity.
    Raises: DTypeError, ShapeError. Source: LAPACK gesdd.
    """
    batch, rows, columns = _matrices("svd", x)
    k = min(rows, columns)
    left, right = (rows, columns) if full else (k, k)
    values = tensor_type(real_of(x.dtype), (*batch, k))
    return x.with_shape((*batch, rows, left)), values, x.with_shape((*batch, right, columns))


@primitive
def singular_values(x: TensorType) -> TensorType:
    """Singular values, largest first. x: f32 f64 c64 c128[…, m, n]. Result: real[…, min(m, n)].

    Fails: no convergence, NaN, infinity. Raises: DTypeError, ShapeError. Source: LAPACK gesdd.
    """
    batch, rows, columns = _matrices("singular_values", x)
    return tensor_type(real_of(x.dtype), (*batch, min(rows, columns)))


@primitive
def eigh(x: TensorType, *, lower: bool = True) -> tuple[TensorType, TensorType]:
    """Eigenvalues, ascending, and orthonormal eigenvectors, as columns, of Hermitian matrices.

    x: f32 f64 c64 c128[…, n, n], of which one triangle is read. Result: real[…, n], type of x.
    Fails: no convergence, NaN, infinity. Raises: DTypeError, ShapeError.
    Source: LAPACK syevd, heevd.
    """
    batch, order = _square("eigh", x)
    return tensor_type(real_of(x.dtype), (*batch, order)), x


@primitive
def eigvalsh(x: TensorType, *, lower: bool = True) -> TensorType:
    """Eigenvalues, ascending, of Hermitian matrices, of which one triangle is read.

    x: f32 f64 c64 c128[…, n, n]. Result: real[…, n]. Fails: no convergence, NaN, infinity.
    Raises: DTypeError, ShapeError. Source: LAPACK syevd, heevd.
    """
    batch, order = _square("eigvalsh", x)
    return tensor_type(real_of(x.dtype), (*batch, order))


@primitive
def eig(x: TensorType) -> tuple[TensorType, TensorType]:
    """Eigenvalues, in no order, and eigenvectors of length one, as columns.

    x: f32 f64 c64 c128[…, n, n]. Result: complex[…, n], complex[…, n, n]. Fails: no convergence,
    NaN, infinity. Raises: DTypeError, ShapeError. Source: LAPACK geev.
    """
    batch, order = _square("eig", x)
    dtype = complex_of(x.dtype)
    return tensor_type(dtype, (*batch, order)), x.with_dtype(dtype)


@primitive
def eigvals(x: TensorType) -> TensorType:
    """Eigenvalues, in no order. x: f32 f64 c64 c128[…, n, n]. Result: complex[…, n].

    Fails: no convergence, NaN, infinity. Raises: DTypeError, ShapeError.
    Source: LAPACK geev.
    """
    batch, order = _square("eigvals", x)
    return tensor_type(complex_of(x.dtype), (*batch, order))


@primitive
def det(x: TensorType) -> TensorType:
    """Determinants. x: f32 f64 c64 c128[…, n, n]. Result: dtype of x, the batch.

    Raises: DTypeError, ShapeError. Source: LAPACK getrf.
    """
    batch, _ = _square("det", x)
    return x.with_shape(batch)


@primitive
def slogdet(x: TensorType) -> tuple[TensorType, TensorType]:
    """Determinants as `sign`, of absolute value one, and `logabs`: `det = sign * exp(logabs)`.

    x: f32 f64 c64 c128[…, n, n]. Result: dtype of x and real, each the batch; of a singular matrix
    0 and -inf. Raises: DTypeError, ShapeError. Source: LAPACK getrf.
    """
    batch, _ = _square("slogdet", x)
    return x.with_shape(batch), tensor_type(real_of(x.dtype), batch)


@primitive
def inv(x: TensorType) -> TensorType:
    """Inverses. x: f32 f64 c64 c128[…, n, n]. Result: type of x.

    Fails: exactly singular. Raises: DTypeError, ShapeError. Source: LAPACK gesv.
    """
    _square("inv", x)
    return x


@primitive
def solve(a: TensorType, b: TensorType) -> TensorType:
    """The `x` with `a x = b`. a: f32 f64 c64 c128[…, n, n]. b: same dtype, batch; […, n, k].

    Result: type of b. Fails: `a` exactly singular. Raises: DTypeError, ShapeError.
    Source: LAPACK gesv.
    """
    _check_system("solve", a, b, -2)
    return b


cholesky_checked = checked(cholesky)
svd_checked = checked(svd)
singular_values_checked = checked(singular_values)
eigh_checked = checked(eigh)
eigvalsh_checked = checked(eigvalsh)
eig_checked = checked(eig)
eigvals_checked = checked(eigvals)
inv_checked = checked(inv)
solve_checked = checked(solve)
