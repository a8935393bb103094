"""LU decomposition, determinants, and solvers by LU and Cholesky factors."""

from __future__ import annotations

from typing import Any, Final

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S32
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.diagonals import last_diagonal
from lazytensor.core.lib.matrices import (
    determinant_by_lu,
    first_zero,
    identities,
    lu_triangles,
    paired,
    permutation_matrix,
    solved_by_cholesky,
    solved_by_lu,
    substituted,
    transposed,
)
from lazytensor.frontends.torch.dispatch.errors import all_sure, require, sure
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


def _counted(pivots: Node) -> Node:
    """Pivots as LAPACK counts them, from 1."""
    return pivots + 1


def check(wanted: bool, name: str, info: Node) -> None:
    """Raise torch's error now, if it is `wanted`, for an `info` that is not 0."""
    if wanted:
        torch.ops.aten._linalg_check_errors(to_cpu(info), name, is_matrix=not info.type.ndim)


def _lu(x: Node, *, pivot: bool = True) -> tuple[Node, Node]:
    require(pivot)
    packed, pivots, _ = ops.lu(x)
    return packed, _counted(pivots)


def _lu_factor(
    x: Any, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Node, Node, Node]:
    packed, pivots = _lu(x, pivot=pivot)
    info = first_zero(packed)
    check(check_errors, "torch.linalg.lu_factor_ex", info)
    return packed, pivots, info


def _unpack(
    packed: Node, pivots: Node, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Node, Node, Node]:
    nothing = filled((0,), 0, packed.type.dtype)
    lower, upper = lu_triangles(packed) if unpack_data else (nothing, nothing)
    if not unpack_pivots:
        return nothing, lower, upper
    size = packed.type.shape[-2]
    places = _sure_pivots(pivots, size, _NO_PIVOTS, _NO_PIVOTS)
    return permutation_matrix(places - 1, size, packed), lower, upper


def _sure_pivots(pivots: Node, size: int, low: str, high: str) -> Node:
    """Pivots from 1 to `size`: checked when the program runs, before they are used as indices."""
    least, most = cast_to(1, S32), cast_to(size, S32)
    within = ops.clamp(least, pivots, most)
    found = sure(within, pivots >= least, low)
    return sure(found, pivots <= most, high)


def _plu(x: Any, *, pivot: bool = True) -> tuple[Node, Node, Node]:
    return _unpack(*_lu(x, pivot=pivot))


def _lu_solve(
    packed: Node, pivots: Node, b: Node, *, left: bool = True, adjoint: bool = False
) -> Node:
    size = packed.type.shape[-1]
    counted = _sure_pivots(pivots, size, _TOO_SMALL, _TOO_LARGE)
    return solved_by_lu(packed, counted - 1, b, left, adjoint)


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
    found = solved_by_lu(packed, pivots - 1, b, left or vector)
    if vector:
        found = ops.reshape(found, shape=found.type.shape[:-1])
    return found, packed, pivots, info


def _det(a: Any) -> tuple[Node, Node, Node]:
    matrix = operand(a)
    packed, pivots = _lu(transposed(matrix) if _of_transpose(a) else matrix)
    return determinant_by_lu(packed, pivots - 1), packed, pivots


def _slogdet(a: Any) -> tuple[Node, Node, Node, Node]:
    matrix = operand(a)
    sign, size = ops.slogdet(matrix)
    if sign.type.dtype in FLOATS:
        sign = ops.select(ops.is_nan(size), cast_to(0, sign.type.dtype), sign)
    packed, pivots = _lu(transposed(matrix) if _of_transpose(a) else matrix)
    return sign, size, packed, pivots


def _cholesky_solve(b: Node, factor: Node, upper: bool) -> Node:
    return solved_by_cholesky(*paired(factor, b), upper)


def _cholesky_inverse(x: Node, upper: bool = False) -> Node:
    n = x.type.shape[-1]
    made = _cholesky_solve(identities(x, n, n), x, upper)
    text = "a diagonal element is zero, the inversion could not be completed because the input "
    regular = ops.not_equal(last_diagonal(x), cast_to(0, x.type.dtype))
    return all_sure([made], regular, f"cholesky_inverse: {text}matrix is singular.")[0]


def _triangular_solve(
    b: Node, a: Node, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Node, Node]:
    matrix, right = paired(a, b)
    how = "transpose" if transpose else "none"
    return substituted(matrix, right, upper, unitriangular, how), matrix


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
