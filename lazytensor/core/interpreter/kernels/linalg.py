"""References of linear algebra: NumPy's LAPACK, with a flag per matrix in place of an exception."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import Reference, Rows
from lazytensor.core.ir.dtypes import complex_of
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.linalg import CHECKED

Results = tuple[np.ndarray, ...]
Decomposition = Callable[..., Any]


def _tuple(results: Any) -> Results:
    return tuple(results) if isinstance(results, tuple) else (results,)


def flagged(op: Op, compute: Decomposition) -> Reference:
    """The reference of the twin of `op`: `compute`, and a flag where it raised no LinAlgError."""

    def run(*arrays: np.ndarray, **attrs: Any) -> Results:
        try:
            return (*_tuple(compute(*arrays, **attrs)), np.ones(arrays[0].shape[:-2], bool))
        except np.linalg.LinAlgError:
            return _one_by_one(op, compute, arrays, attrs)

    return run


def _one_by_one(
    op: Op, compute: Decomposition, arrays: tuple[np.ndarray, ...], attrs: dict[str, Any]
) -> Results:
    """The batch, matrix by matrix; NaN where one fails."""
    types = op.infer(*(tensor_type(a.dtype, a.shape) for a in arrays), **attrs)
    several = types if isinstance(types, tuple) else (types,)
    results = [np.full(t.shape, np.nan, t.dtype) for t in several]
    ok = np.zeros(arrays[0].shape[:-2], bool)
    for index in np.ndindex(ok.shape):
        try:
            found = _tuple(compute(*(a[index] for a in arrays), **attrs))
        except np.linalg.LinAlgError:
            continue
        ok[index] = True
        for result, part in zip(results, found, strict=True):
            result[index] = part
    return (*results, ok)


def _without_flag(run: Reference, several: bool) -> Reference:
    def first(*arrays: np.ndarray, **attrs: Any) -> Any:
        results = run(*arrays, **attrs)[:-1]
        return results if several else results[0]

    return first


def _triangular_solve(
    a: np.ndarray, b: np.ndarray, *, left: bool, lower: bool, transpose: str, unit: bool
) -> np.ndarray:
    """Substitution, row by row."""
    if not left:
        turned = {"none": "transpose", "transpose": "none"}.get(transpose)
        across = a if turned else np.conj(a)
        flipped = np.swapaxes(b, -1, -2)
        solved = _triangular_solve(
            across, flipped, left=True, lower=lower, transpose=turned or "none", unit=unit
        )
        return np.swapaxes(solved, -1, -2)
    if transpose != "none":
        a, lower = np.swapaxes(a, -1, -2), not lower
    if transpose == "adjoint":
        a = np.conj(a)
    order = a.shape[-1]
    x = b.copy()
    for i in range(order) if lower else reversed(range(order)):
        done = slice(0, i) if lower else slice(i + 1, order)
        x[..., i, :] -= np.matmul(a[..., i, None, done], x[..., done, :])[..., 0, :]
        if not unit:
            x[..., i, :] /= a[..., i, i, None]
    return x


_TOGETHER: Final = 32
"""Columns of a matrix in one panel: eliminated one by one, before the columns right of them."""


def _lu(x: np.ndarray) -> Results:
    """Gaussian elimination with partial pivoting, all matrices of the batch at once.

    After each panel the columns right of it are updated by matrix products.
    """
    rows, columns = x.shape[-2:]
    k = min(rows, columns)
    packed = x.reshape((math.prod(x.shape[:-2]), rows, columns)).copy()
    each = np.arange(len(packed))
    pivots = np.empty((len(packed), k), np.int32)
    permutation = np.tile(np.arange(rows, dtype=np.int32), (len(packed), 1))
    for start in range(0, k, _TOGETHER):
        end = min(start + _TOGETHER, k)
        for i in range(start, end):
            column = packed[:, i:, i]
            pivot = i + np.argmax(np.abs(column.real) + np.abs(column.imag), axis=1)
            pivots[:, i] = pivot
            for array in (packed, permutation):
                array[each, i], array[each, pivot] = array[each, pivot], array[each, i].copy()
            divisor = np.where(packed[:, i, i] == 0, 1, packed[:, i, i])
            packed[:, i + 1 :, i] /= divisor[:, None]
            outer = packed[:, i + 1 :, i, None] * packed[:, i, None, i + 1 : end]
            packed[:, i + 1 :, i + 1 : end] -= outer
        for i in range(start + 1, end):
            above = np.matmul(packed[:, i, None, start:i], packed[:, start:i, end:])
            packed[:, i, end:] -= above[:, 0]
        packed[:, end:, end:] -= np.matmul(packed[:, end:, start:end], packed[:, start:end, end:])
    batch = x.shape[:-2]
    return (
        packed.reshape(x.shape),
        pivots.reshape((*batch, k)),
        permutation.reshape((*batch, rows)),
    )


def _permutation(pivots: np.ndarray, *, size: int) -> np.ndarray:
    found = np.broadcast_to(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], size)).copy()
    for i in range(pivots.shape[-1]):
        other = pivots[..., i : i + 1].astype(np.int64)
        swapped = np.take_along_axis(found, other, -1)
        np.put_along_axis(found, other, found[..., i : i + 1].copy(), -1)
        found[..., i : i + 1] = swapped
    return found


def _householder_product(x: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Each reflection applied to the identity's columns, the last one first."""
    rows, columns = x.shape[-2:]
    found = np.broadcast_to(np.eye(rows, columns, dtype=x.dtype), x.shape).copy()
    for i in reversed(range(factors.shape[-1])):
        v = x[..., i].copy()
        v[..., :i] = 0
        v[..., i] = 1
        across = np.matmul(np.conj(v)[..., None, :], found)
        found -= factors[..., i, None, None] * v[..., :, None] * across
    return found


def _finite(x: np.ndarray) -> np.ndarray:
    """`x`. Raises: LinAlgError for NaN or infinity, for which OpenBLAS may never return."""
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError("NaN or infinity")
    return x


def _triangle(x: np.ndarray, lower: bool) -> np.ndarray:
    """One triangle, below the diagonal, where `eigh` reads it; elements above it are arbitrary."""
    if not np.isfinite(x).all():  # the check costs less than a copy of the triangle
        x = _finite(np.tril(x) if lower else np.triu(x))
    return x if lower else np.conj(np.swapaxes(x, -1, -2))


def _eig(x: np.ndarray) -> Results:
    values, vectors = np.linalg.eig(x)
    dtype = complex_of(x.dtype)
    return values.astype(dtype), vectors.astype(dtype)


MAY_FAIL: dict[Op[Any], Decomposition] = {
    ops.cholesky: lambda x, *, lower: np.linalg.cholesky(x, upper=not lower),
    ops.svd: lambda x, *, full: tuple(np.linalg.svd(_finite(x), full_matrices=full)),
    ops.singular_values: lambda x: np.linalg.svd(_finite(x), compute_uv=False),
    ops.eigh: lambda x, *, lower: tuple(np.linalg.eigh(_triangle(x, lower))),
    ops.eigvalsh: lambda x, *, lower: np.linalg.eigvalsh(_triangle(x, lower)),
    ops.eig: _eig,
    ops.eigvals: lambda x: np.linalg.eigvals(x).astype(complex_of(x.dtype)),
    ops.inv: np.linalg.inv,
    ops.solve: np.linalg.solve,
}

FLAGGED: Rows = {op: flagged(op, compute) for op, compute in MAY_FAIL.items()}

ROWS: Rows = {
    **{CHECKED[op]: row for op, row in FLAGGED.items()},
    **{op: _without_flag(row, op in (ops.svd, ops.eigh, ops.eig)) for op, row in FLAGGED.items()},
    ops.triangular_solve: _triangular_solve,
    ops.lu: _lu,
    ops.permutation: _permutation,
    ops.householder_product: _householder_product,
    ops.qr: lambda x, *, full: tuple(np.linalg.qr(x, "complete" if full else "reduced")),
    ops.det: np.linalg.det,
    ops.slogdet: lambda x: tuple(np.linalg.slogdet(x)),
}
