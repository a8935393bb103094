"""Linear algebra, Fourier transforms. A matrix that TF refuses is refused when it is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import C64, C128, F32, S32, complex_of
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, scalar
from lazytensor.core.lib import arranging, matrices
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows import checks


def _checked(op: Op[Any], text: str, *operands: Node, **attrs: Any) -> list[Node]:
    """The results of an op that gives a flag per matrix as its last result."""
    *made, ok = op(*operands, **attrs)
    sure = checks.guard(ops.reduce_and(ok, axes=tuple(range(ok.type.ndim))), text)
    return made if sure is None else [ops.guarded(node, sure) for node in made]


def _cholesky(x: Node, **_: Any) -> Node:
    """NaN in the triangle of a matrix that is not positive definite: TF's kernel raises nothing."""
    return matrices.triangle(ops.cholesky(x, lower=True), False)


def _inverse(x: Node, *, adjoint: bool = False, **_: Any) -> Node:
    (made,) = _checked(ops.inv_checked, "Input is not invertible.", x)
    return matrices.adjoint(made) if adjoint else made


def _solve(a: Node, b: Node, *, adjoint: bool = False, **_: Any) -> Node:
    (made,) = _checked(
        ops.solve_checked,
        "Input matrix is not invertible.",
        matrices.adjoint(a) if adjoint else a,
        b,
    )
    return made


def _triangular_solve(
    a: Node, b: Node, *, lower: bool = True, adjoint: bool = False, **_: Any
) -> Node:
    if adjoint:
        a, lower = matrices.adjoint(a), not lower
    return matrices.substituted(*matrices.paired(a, b), not lower, False)


def _qr(x: Node, *, full_matrices: bool = False, **_: Any) -> Any:
    return ops.qr(x, full=full_matrices)


def _svd(x: Node, *, compute_uv: bool = True, full_matrices: bool = False, **_: Any) -> Any:
    if not compute_uv:
        raise ValueError("singular values alone have empty vectors beside them")
    u, s, vh = ops.svd(x, full=full_matrices)
    if s.type.dtype != x.type.dtype:
        s = ops.convert(s, dtype=x.type.dtype)
    return s, u, matrices.adjoint(vh)


def _eigh(x: Node, *, compute_v: bool = True, **_: Any) -> Any:
    if not compute_v:
        raise ValueError("eigenvalues alone have empty vectors beside them")
    text = "Self-adjoint eigen decomposition was not successful. The input might not be valid."
    values, vectors = _checked(ops.eigh_checked, text, x, lower=True)
    if values.type.dtype != x.type.dtype:
        values = ops.convert(values, dtype=x.type.dtype)
    return values, vectors


def _fft(kind: str, axes: int) -> Function:
    def row(x: Node, **_: Any) -> Node:
        return ops.fft(x, kind=kind, lengths=x.type.shape[x.type.ndim - axes :])

    return row


def _fitted(x: Node, sizes: tuple[int, ...]) -> Node:
    """The last axes cut or filled with zeros to `sizes`."""
    for axis, n in enumerate(sizes, x.type.ndim - len(sizes)):
        x = arranging.fitted(x, axis, n)
    return x


def _rfft(axes: int) -> Function:
    def row(x: Node, given: np.ndarray, *, Tcomplex: Any = C64, **_: Any) -> Node:
        if complex_of(x.type.dtype) != Tcomplex:
            raise ValueError("the result has another precision")
        lengths = tuple(int(n) for n in given.ravel())
        return ops.fft(_fitted(x, lengths), kind="RFFT", lengths=lengths)

    return row


def _irfft(axes: int) -> Function:
    def row(x: Node, given: np.ndarray, *, Treal: Any = F32, **_: Any) -> Node:
        if (x.type.dtype == C128) != (Treal != F32):
            raise ValueError("the result has another precision")
        lengths = tuple(int(n) for n in given.ravel())
        half = (*lengths[:-1], lengths[-1] // 2 + 1)
        return ops.fft(_fitted(x, half), kind="IRFFT", lengths=lengths)

    return row


def _log_determinant(x: Node, **_: Any) -> Any:
    sign, size = ops.slogdet(x)
    sign = ops.select(ops.is_nan(size), scalar(np.nan, sign.type.dtype), sign)
    if size.type.dtype != x.type.dtype:
        size = ops.convert(size, dtype=x.type.dtype)
    return sign, size


def _lu(x: Node, *, output_idx_type: np.dtype = S32, **_: Any) -> tuple[Node, Node]:
    packed, _pivots, places = ops.lu(x)
    info = matrices.first_zero(packed)
    fine = ops.reduce_and(ops.equal(info, scalar(0, S32)), axes=tuple(range(info.type.ndim)))
    sure = checks.guard(fine, "Input is not invertible.")
    made = packed if sure is None else ops.guarded(packed, sure)
    return made, ops.convert(places, dtype=output_idx_type)


rows({"Lu": _lu}, moving=True)
rows({"MatrixInverse": _inverse, "MatrixSolve": _solve, "SelfAdjointEigV2": _eigh}, moving=True)
rows({"MatrixTriangularSolve": _triangular_solve, "Qr": _qr, "Svd": _svd,
      "Cholesky": _cholesky, "LogMatrixDeterminant": _log_determinant,
      "MatrixDeterminant": lambda x, **_: ops.det(x)})  # fmt: skip
for axes, suffix in ((1, ""), (2, "2D"), (3, "3D")):
    rows({f"FFT{suffix}": _fft("FFT", axes), f"IFFT{suffix}": _fft("IFFT", axes)})
    rows({f"RFFT{suffix}": _rfft(axes), f"IRFFT{suffix}": _irfft(axes)}, host=(1,))
