"""The array API standard's linear algebra, over nodes: stacks of matrices are the last two axes.

Source: data-apis.org/array-api, 2024.12, extension linalg.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf
from typing import Any, NamedTuple

from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import diagonals, distances, matrices, numerics, statistics
from lazytensor.core.lib.arranging import Axes, axes_of
from lazytensor.core.lib.manipulation import broadcast_arrays, moveaxis


def matmul(x1: Node, x2: Node, /) -> Node:
    """Products of matrices; a vector is a row on the left and a column on the right."""
    return numerics.matmul(x1, x2)


def matrix_transpose(x: Node, /) -> Node:
    """The transposes."""
    return matrices.transposed(x)


def vecdot(x1: Node, x2: Node, /, *, axis: int = -1) -> Node:
    """Products of vectors along an axis, the first conjugated."""
    return numerics.vecdot(moveaxis(x1, axis, -1), moveaxis(x2, axis, -1))


def outer(x1: Node, x2: Node, /) -> Node:
    """The products of all elements of two vectors."""
    return ops.new_axis(x1) * x2


def tensordot(
    x1: Node, x2: Node, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Node:
    """The sum of products over pairs of axes: the last of `x1` and the first of `x2`, or those."""
    n, m = x1.type.ndim, x2.type.ndim
    both: Any = (range(n - axes, n), range(axes)) if isinstance(axes, int) else axes
    pairs = {j % m: i % n for i, j in zip(*both, strict=True)}
    labels = [pairs.get(j, n + j) for j in range(m)]
    left = [i for i in (*range(n), *labels) if i not in pairs.values()]
    return ops.contract(x1, x2, range(n), labels, left)


def cross(x1: Node, x2: Node, /, *, axis: int = -1) -> Node:
    """The cross products of vectors of three elements along an axis."""
    x, y = broadcast_arrays(x1, x2)
    return matrices.cross(x, y, normalize_axis_index(axis, x.type.ndim))


def diagonal(x: Node, /, *, offset: int = 0) -> Node:
    """A diagonal of each matrix."""
    return diagonals.last_diagonal(x, offset)


def trace(x: Node, /, *, offset: int = 0, dtype: Any = None) -> Node:
    """The sum of a diagonal."""
    return statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def cholesky(x: Node, /, *, upper: bool = False) -> Node:
    """Cholesky's factors."""
    return ops.cholesky(x, lower=not upper)


class QRResult(NamedTuple):
    """The factors of matrices."""

    Q: Node
    R: Node


def qr(x: Node, /, *, mode: str = "reduced") -> QRResult:
    """The factors Q and R; mode: `reduced` or `complete`."""
    return QRResult(*ops.qr(x, full=mode == "complete"))


class SVDResult(NamedTuple):
    """Singular vectors and values; `Vh`: the adjoints of the right vectors."""

    U: Node
    S: Node
    Vh: Node


def svd(x: Node, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular vectors and values."""
    return SVDResult(*ops.svd(x, full=full_matrices))


def svdvals(x: Node, /) -> Node:
    """Singular values, the largest first."""
    return ops.singular_values(x)


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Node
    eigenvectors: Node


def eigh(x: Node, /) -> EighResult:
    """The eigenvalues of Hermitian matrices, the least first, and their vectors."""
    return EighResult(*ops.eigh(x))


def eigvalsh(x: Node, /) -> Node:
    """The eigenvalues of Hermitian matrices, the least first."""
    return ops.eigvalsh(x)


class SlogdetResult(NamedTuple):
    """The signs of determinants, and the logarithms of their sizes."""

    sign: Node
    logabsdet: Node


def slogdet(x: Node, /) -> SlogdetResult:
    """The signs of determinants, and the logarithms of their sizes."""
    return SlogdetResult(*ops.slogdet(x))


def det(x: Node, /) -> Node:
    """Determinants."""
    return ops.det(x)


def inv(x: Node, /) -> Node:
    """Inverses."""
    return ops.inv(x)


def solve(x1: Node, x2: Node, /) -> Node:
    """The solutions of `x1 @ x = x2`; a right side of one axis is a vector."""
    vector = x2.type.ndim == 1
    made = ops.solve(*ops.stacked(x1, ops.new_axis(x2) if vector else x2))
    return ops.at_index(made, made.type.ndim - 1, 0) if vector else made


def pinv(x: Node, /, *, rtol: float | Node | None = None) -> Node:
    """Pseudo-inverses: singular values up to `rtol` of the largest count as 0."""
    m = x.type.shape[-2]
    return matrices.least_squares(x, matrices.identities(x, m, m), rtol)[0]


def matrix_rank(x: Node, /, *, rtol: float | Node | None = None) -> Node:
    """The number of singular values beyond `rtol` of the largest."""
    return matrices.least_squares(x, ops.part(x, x.type.ndim - 1, 0, 0), rtol)[1]


def matrix_power(x: Node, n: int, /) -> Node:
    """The product of `n` times the matrix, or of `-n` times its inverse."""
    base, powers = ops.inv(x) if n < 0 else x, list[Node]()
    for bit in reversed(f"{abs(n):b}"):
        powers += [base] * int(bit)
        base = matrices.product(base, base)
    size = x.type.shape[-1]
    return reduce(matrices.product, powers or [matrices.identities(x, size, size)])


def vector_norm(x: Node, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Node:
    """The norm of vectors along axes, or of all elements."""
    axes = axes_of(x, axis)
    return ops.kept(distances.vector_norm(x, ord, axes), x, axes, keepdims)


def matrix_norm(x: Node, /, *, keepdims: bool = False, ord: Any = "fro") -> Node:
    """The norm of matrices: of Frobenius, nuclear, of sums of rows or columns, spectral."""
    last = x.type.ndim - 2, x.type.ndim - 1
    if ord == "fro":
        made = distances.vector_norm(x, 2, last)
    elif ord in (1, -1, inf, -inf):
        lines = ops.reduce_sum(ops.abs(x), axes=(last[abs(ord) != 1],))
        made = (ops.reduce_max if ord > 0 else ops.reduce_min)(lines, axes=(last[0],))
    else:
        fold = {"nuc": ops.reduce_sum, 2: ops.reduce_max, -2: ops.reduce_min}[ord]
        made = fold(ops.singular_values(x), axes=(last[0],))
    return ops.kept(made, x, last, keepdims)
