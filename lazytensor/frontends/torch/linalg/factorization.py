"""LU decomposition, determinants, and solvers by LU and Cholesky factors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.dispatch.errors import all_sure, refuse_sizes, sure
from lazytensor.frontends.torch.dispatch.promotion import cast_to, of_nodes, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.linalg.matrices import is_vector, matrix_rows
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.tensor import to_cpu

_NO_PIVOTS: Final = (
    "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass "
    "the result of lu_factor?"
)
_TOO_SMALL, _TOO_LARGE = (
    f"Pivots given to lu_solve must all be {word} Did you properly pass the result of lu_factor?"
    for word in ("greater or equal to 1.", "smaller or equal to LU.size(-2).")
)


def turned(x: Node) -> Node:
    """The transposes of matrices."""
    n = x.type.ndim
    return ops.transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def adjoint(x: Node) -> Node:
    """The conjugate transposes of matrices."""
    made = turned(x)
    return ops.conj(made) if x.type.dtype.kind == "c" else made


def stacked(x: Node, stack: tuple[int, ...]) -> Node:
    """Matrices broadcast to a batch."""
    return ops.broadcast(x, shape=(*stack, *x.type.shape[-2:]))


def paired(a: Node, b: Node) -> tuple[Node, Node]:
    """Two stacks of matrices, broadcast against each other."""
    refuse_sizes(b.type.shape[:-2], a.type.shape[:-2])
    stack = np.broadcast_shapes(a.type.shape[:-2], b.type.shape[:-2])
    return stacked(a, stack), stacked(b, stack)


def product(a: Node, b: Node) -> Node:
    """The products of matrices."""
    first, second = paired(a, b)
    n = first.type.ndim
    batch = tuple(range(n - 2))
    return ops.dot_general(first, second, batch=(batch, batch), contract=((n - 1,), (n - 2,)))


def identity(like: Node, rows_: int, columns: int) -> Node:
    """Identities of the batch and dtype of `like`."""
    sides = [ops.iota(dtype=S64, shape=(rows_, columns), axis=axis) for axis in (0, 1)]
    ones = cast_to(ops.equal(*sides), like.type.dtype)
    return ops.broadcast(ones, shape=(*like.type.shape[:-2], rows_, columns))


def triangle(x: Node, upper: bool, offset: int = 0) -> Node:
    """One triangle of matrices, zeros beyond it."""
    shape = x.type.shape[-2:]
    row, column = (ops.iota(dtype=S64, shape=shape, axis=axis) for axis in (0, 1))
    edge = row + cast_to(offset, S64)
    inside = (ops.greater_equal if upper else ops.less_equal)(column, edge)
    return ops.select(inside, x, cast_to(0, x.type.dtype))


def _part(x: Node, rows_: int, columns: int) -> Node:
    n = x.type.ndim
    sizes = (*x.type.shape[:-2], rows_, columns)
    return ops.slice(x, ops.starts((0,) * n), sizes=sizes, strides=(1,) * n)


def diagonal(x: Node) -> Node:
    """The diagonals of matrices, as a last axis."""
    n = x.type.ndim
    return ops.diagonal(x, offset=0, axis1=n - 2, axis2=n - 1)


def _counted(pivots: Node) -> Node:
    """Pivots as LAPACK counts them, from 1."""
    return pivots + 1


def first_zero(packed: Node) -> Node:
    """LAPACK's `info`: the place of the first zero on the diagonal of u, from 1; else 0."""
    zeros = ops.equal(diagonal(packed), cast_to(0, packed.type.dtype))
    last = zeros.type.ndim - 1
    if not zeros.type.shape[last]:
        return filled(zeros.type.shape[:last], 0, S32)
    at = ops.argmax(zeros, axis=last) + 1
    found = ops.select(ops.reduce_or(zeros, axes=(last,)), at, cast_to(0, S64))
    return cast_to(found, S32)


def check(wanted: bool, name: str, info: Node) -> None:
    """Raise torch's error now, if it is `wanted`, for an `info` that is not 0."""
    if wanted:
        torch.ops.aten._linalg_check_errors(to_cpu(info), name, is_matrix=not info.type.ndim)


def _lu(x: Node, *, pivot: bool = True) -> tuple[Node, Node]:
    if not pivot:
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU, nor here"
        )
    packed, pivots, _ = ops.lu(x)
    return packed, _counted(pivots)


def _lu_factor(
    x: Any, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Node, Node, Node]:
    packed, pivots = _lu(x, pivot=pivot)
    info = first_zero(packed)
    check(check_errors, "torch.linalg.lu_factor_ex", info)
    return packed, pivots, info


def _triangles(packed: Node) -> tuple[Node, Node]:
    m, n = packed.type.shape[-2:]
    k = min(m, n)
    below = triangle(_part(packed, m, k), False, -1)
    return below + identity(packed, m, k), triangle(_part(packed, k, n), True)


def _matrix_of(pivots: Node, size: int, like: Node) -> Node:
    """The permutation matrices that restore the original order of rows."""
    places = ops.permutation(pivots - 1, size=size)
    batch = places.type.shape[:-1]
    rows_ = ops.iota(dtype=S64, shape=(*batch, size, size), axis=len(batch))
    column = ops.reshape(cast_to(places, S64), shape=(*batch, 1, size))
    return cast_to(ops.equal(rows_, column), like.type.dtype)


def _unpack(
    packed: Node, pivots: Node, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Node, Node, Node]:
    nothing = filled((0,), 0, packed.type.dtype)
    lower, upper = _triangles(packed) if unpack_data else (nothing, nothing)
    if not unpack_pivots:
        return nothing, lower, upper
    size = packed.type.shape[-2]
    places = _sure_pivots(pivots, size, _NO_PIVOTS, _NO_PIVOTS)
    return _matrix_of(places, size, packed), lower, upper


def _sure_pivots(pivots: Node, size: int, low: str, high: str) -> Node:
    """Pivots from 1 to `size`: checked when the program runs, before they are used as indices."""
    least, most = cast_to(1, S32), cast_to(size, S32)
    within = ops.clamp(least, pivots, most)
    found = sure(within, pivots >= least, low)
    return sure(found, pivots <= most, high)


def _plu(x: Any, *, pivot: bool = True) -> tuple[Node, Node, Node]:
    return _unpack(*_lu(x, pivot=pivot))


def _substituted(a: Node, b: Node, upper: bool, unit: bool, how: str = "none") -> Node:
    return ops.triangular_solve(a, b, lower=not upper, unit=unit, transpose=how)


def _lu_solve(
    packed: Node, pivots: Node, b: Node, *, left: bool = True, adjoint: bool = False
) -> Node:
    size = packed.type.shape[-1]
    counted = _sure_pivots(pivots, size, _TOO_SMALL, _TOO_LARGE)
    return _solved(packed, counted, b, left, adjoint)


def _solved(factors: Node, pivots: Node, right: Node, left: bool, adjoint: bool = False) -> Node:
    if not left:
        return _adjoint(_solved(factors, pivots, _adjoint(right), True, not adjoint))
    size = factors.type.shape[-1]
    swaps = pivots - 1
    places = cast_to(ops.permutation(swaps, size=size), S64)
    factors, right = paired(factors, right)
    places = ops.broadcast(places, shape=factors.type.shape[:-1])
    axis = right.type.ndim - 2
    if adjoint:
        half = _substituted(factors, right, True, False, "adjoint")
        found = _substituted(factors, half, False, True, "adjoint")
        places = ops.argsort(places, axis=places.type.ndim - 1)
    else:
        found = right
    column = ops.reshape(places, shape=(*places.type.shape, 1))
    found = ops.take_along(found, column, axis=axis)
    if adjoint:
        return found
    half = _substituted(factors, found, False, True)
    return _substituted(factors, half, True, False)


_adjoint = adjoint


def _of_transpose(a: Any) -> bool:
    """Whether a determinant's backward takes the factors for those of the transpose."""
    return bool(a.is_contiguous()) and not a.is_complex()


def _solve(
    a: Node, b: Node, *, left: bool = True, check_errors: bool = False
) -> tuple[Node, Node, Node, Node]:
    vector = is_vector(a, b)
    if vector:
        b = ops.reshape(b, shape=(*b.type.shape, 1))
    packed, pivots, info = _lu_factor(a)
    check(check_errors, "torch.linalg.solve_ex", info)
    found = _solved(packed, pivots, b, left or vector)
    if vector:
        found = ops.reshape(found, shape=found.type.shape[:-1])
    return found, packed, pivots, info


def _det(a: Any) -> tuple[Node, Node, Node]:
    matrix = operand(a)
    packed, pivots = _lu(turned(matrix) if _of_transpose(a) else matrix)
    last = pivots.type.ndim - 1
    places = ops.iota(dtype=S32, shape=pivots.type.shape, axis=last) + 1
    odd = ops.reduce_xor(ops.not_equal(pivots, places), axes=(last,))
    total = ops.reduce_prod(diagonal(packed), axes=(last,))
    return ops.select(odd, -total, total), packed, pivots


def _slogdet(a: Any) -> tuple[Node, Node, Node, Node]:
    matrix = operand(a)
    sign, size = ops.slogdet(matrix)
    if sign.type.dtype in FLOATS:
        sign = ops.select(ops.is_nan(size), cast_to(0, sign.type.dtype), sign)
    packed, pivots = _lu(turned(matrix) if _of_transpose(a) else matrix)
    return sign, size, packed, pivots


def _cholesky_solve(b: Node, factor: Node, upper: bool) -> Node:
    a, right = paired(factor, b)
    half = _substituted(a, right, upper, False, "adjoint" if upper else "none")
    return _substituted(a, half, upper, False, "none" if upper else "adjoint")


def _cholesky_inverse(x: Node, upper: bool = False) -> Node:
    n = x.type.shape[-1]
    made = _cholesky_solve(identity(x, n, n), x, upper)
    text = "a diagonal element is zero, the inversion could not be completed because the input "
    regular = ops.not_equal(diagonal(x), cast_to(0, x.type.dtype))
    return all_sure([made], regular, f"cholesky_inverse: {text}matrix is singular.")[0]


def _triangular_solve(
    b: Node, a: Node, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Node, Node]:
    matrix, right = paired(a, b)
    how = "transpose" if transpose else "none"
    return _substituted(matrix, right, upper, unitriangular, how), matrix


ROWS: dict[str, Row] = {
    "linalg_lu_factor_ex": _lu_factor,
    "linalg_lu": _plu,
    "lu_unpack": _unpack,
    "linalg_lu_solve": _lu_solve,
    "_linalg_solve_ex": _solve,
    "_cholesky_solve_helper": _cholesky_solve,
    "cholesky_inverse": _cholesky_inverse,
    "triangular_solve": _triangular_solve,
}


matrix_rows(of_nodes(ROWS))
matrix_rows({"_linalg_det": _det, "_linalg_slogdet": _slogdet})  # strides matter: not composed
