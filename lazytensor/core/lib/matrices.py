"""Linear algebra over stacks of matrices, which are the last two axes: factors and solutions."""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S32, S64, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.arranging import cropped, padded
from lazytensor.core.lib.diagonals import last_diagonal, lower_triangle, upper_triangle
from lazytensor.core.lib.numbers import HALVES, cast_to, filled, widened


def transposed(x: Node) -> Node:
    """The transposes of matrices."""
    n = x.type.ndim
    return ops.transpose(x, axes=(*range(n - 2), n - 1, n - 2))


def adjoint(x: Node) -> Node:
    """The conjugate transposes of matrices."""
    made = transposed(x)
    return ops.conj(made) if x.type.dtype.kind == "c" else made


def in_stack(x: Node, stack: tuple[int, ...]) -> Node:
    """Matrices broadcast to a batch."""
    return ops.broadcast(x, shape=(*stack, *x.type.shape[-2:]))


def paired(a: Node, b: Node) -> tuple[Node, Node]:
    """Two stacks of matrices, broadcast against each other."""
    stack = np.broadcast_shapes(a.type.shape[:-2], b.type.shape[:-2])
    return in_stack(a, stack), in_stack(b, stack)


def product(a: Node, b: Node) -> Node:
    """The products of matrices."""
    first, second = paired(a, b)
    n = first.type.ndim
    batch = tuple(range(n - 2))
    return ops.dot_general(first, second, batch=(batch, batch), contract=((n - 1,), (n - 2,)))


def identities(like: Node, rows_: int, columns: int) -> Node:
    """Identities of the batch and dtype of `like`."""
    sides = [ops.iota(dtype=S64, shape=(rows_, columns), axis=axis) for axis in (0, 1)]
    ones = cast_to(ops.equal(*sides), like.type.dtype)
    return ops.broadcast(ones, shape=(*like.type.shape[:-2], rows_, columns))


def triangle(x: Node, upper: bool, offset: int = 0) -> Node:
    """One triangle of matrices, zeros beyond it."""
    return (upper_triangle if upper else lower_triangle)(x, offset)


def _part(x: Node, rows_: int, columns: int) -> Node:
    return cropped(x, (0,) * x.type.ndim, (*x.type.shape[:-2], rows_, columns))


def first_zero(packed: Node) -> Node:
    """LAPACK's `info`: the place of the first zero on the diagonal of u, from 1; else 0."""
    zeros = ops.equal(last_diagonal(packed), cast_to(0, packed.type.dtype))
    last = zeros.type.ndim - 1
    if not zeros.type.shape[last]:
        return filled(zeros.type.shape[:last], 0, S32)
    at = ops.argmax(zeros, axis=last) + 1
    found = ops.select(ops.reduce_or(zeros, axes=(last,)), at, cast_to(0, S64))
    return cast_to(found, S32)


def lu_triangles(packed: Node) -> tuple[Node, Node]:
    """The unit lower and the upper triangles that `lu` packs into one matrix."""
    m, n = packed.type.shape[-2:]
    k = min(m, n)
    below = triangle(_part(packed, m, k), False, -1)
    return below + identities(packed, m, k), triangle(_part(packed, k, n), True)


def permutation_matrix(swaps: Node, size: int, like_: Node) -> Node:
    """The matrices that restore the order of rows before `swaps`, s32[..., n], of `lu`."""
    places = ops.permutation(swaps, size=size)
    batch = places.type.shape[:-1]
    rows_ = ops.iota(dtype=S64, shape=(*batch, size, size), axis=len(batch))
    column = ops.new_axis(cast_to(places, S64), len(batch))
    return cast_to(ops.equal(rows_, column), like_.type.dtype)


def substituted(a: Node, b: Node, upper: bool, unit: bool, how: str = "none") -> Node:
    """The solutions of triangular systems of equations. `how`: see `triangular_solve`."""
    return ops.triangular_solve(a, b, lower=not upper, unit=unit, transpose=how)


def solved_by_lu(
    factors: Node, swaps: Node, right: Node, left: bool, conjugate: bool = False
) -> Node:
    """The solutions of systems of equations by the results of `lu`.

    factors: floats or complex[..., n, n], both triangles. swaps: s32[..., n]. right: [..., n, k];
    `left`: the matrices are the left factors. `conjugate`: of the matrices' adjoints.
    """
    if not left:
        return adjoint(solved_by_lu(factors, swaps, adjoint(right), True, not conjugate))
    size = factors.type.shape[-1]
    places = cast_to(ops.permutation(swaps, size=size), S64)
    factors, right = paired(factors, right)
    places = ops.broadcast(places, shape=factors.type.shape[:-1])
    axis = right.type.ndim - 2
    if conjugate:
        half = substituted(factors, right, True, False, "adjoint")
        right = substituted(factors, half, False, True, "adjoint")
        places = ops.argsort(places, axis=places.type.ndim - 1)
    found = ops.take_along(right, ops.new_axis(places), axis=axis)
    if conjugate:
        return found
    half = substituted(factors, found, False, True)
    return substituted(factors, half, True, False)


def determinant_by_lu(packed: Node, swaps: Node) -> Node:
    """The determinants of matrices by the results of `lu`."""
    last = swaps.type.ndim - 1
    places = ops.iota(dtype=S32, shape=swaps.type.shape, axis=last)
    odd = ops.reduce_xor(ops.not_equal(swaps, places), axes=(last,))
    total = ops.reduce_prod(last_diagonal(packed), axes=(last,))
    return ops.select(odd, -total, total)


def solved_by_cholesky(factor: Node, right: Node, upper: bool) -> Node:
    """The solutions of systems of equations by Cholesky's factors of their matrices."""
    half = substituted(factor, right, upper, False, "adjoint" if upper else "none")
    return substituted(factor, half, upper, False, "none" if upper else "adjoint")


def least_squares(a: Node, b: Node, rcond: float | Node | None) -> tuple[Node, Node, Node]:
    """The solutions of least length of `a @ x ~ b` by singular values, the ranks, the values.

    a: floats or complex[..., m, n]. b: dtype of a[..., m, k]. `rcond`: singular values up to this
    share of the largest, one for all or for each matrix, count as 0; None: the rounding error.
    Result: [..., n, k]; s64; reals.
    """
    m, n = a.type.shape[-2:]
    u, s, vh = ops.svd(a, full=False)
    own = s.type.dtype
    least = float(np.finfo(own).eps) * max(m, n) if rcond is None else rcond
    last = s.type.ndim - 1
    bound = ops.reduce_max(s, axes=(last,)) if min(m, n) else filled(s.type.shape[:last], 0, own)
    counts = s > ops.new_axis(bound * cast_to(least, own))
    shares = ops.select(counts, ops.reciprocal(s), cast_to(0.0, own))
    column = cast_to(ops.new_axis(shares), a.type.dtype)
    found = product(adjoint(vh), column * product(adjoint(u), b))
    return found, ops.reduce_sum(cast_to(counts, S64), axes=(last,)), s


_TERMS: Final = {4: 15, 8: 24}
"""Terms of the exponential's series that a norm of 2 needs, by the bytes of a real number."""
_SQUARINGS: Final = 24
"""The number of halvings that brings a norm of up to 2**25 down to 2."""


def exponential(x: Node) -> Node:
    """The exponentials of matrices: halve until the norm is small, sum the series, square as often.

    x: floats or complex[..., n, n]. Result: type of x.
    """
    if x.type.dtype in HALVES:
        return cast_to(exponential(widened(x)), x.type.dtype)
    if not x.type.size:
        return x
    dtype, real = x.type.dtype, real_of(x.type.dtype)
    n, last = x.type.shape[-1], x.type.ndim - 1
    norm = ops.reduce_max(ops.reduce_sum(ops.abs(x), axes=(last - 1,)), axes=(last - 1,))
    often = ops.ceil(ops.log2(norm * 0.5))
    often = ops.clamp(cast_to(0.0, real), often, cast_to(float(_SQUARINGS), real))
    shape = (*norm.type.shape, 1, 1)
    small = x * cast_to(ops.reshape(ops.exp2(-often), shape=shape), dtype)
    one = identities(x, n, n)
    found = one
    for k in range(_TERMS[real.itemsize], 0, -1):  # Horner's rule
        found = one + product(small, found) * cast_to(1 / k, dtype)
    for k in range(_SQUARINGS):
        more = ops.reshape(often > cast_to(float(k), real), shape=shape)
        found = ops.select(more, product(found, found), found)
    return found


def times_reflections(x: Node, factors: Node, other: Node, left: bool, conjugate: bool) -> Node:
    """The product of `other` and the whole, square product of reflections, as `qr` packs them.

    x: floats or complex[..., m, n]. factors: dtype of x[..., k]. `left`: the reflections are the
    left factor. `conjugate`: their adjoint.
    """
    m, n = x.type.shape[-2], factors.type.shape[-1]
    few = cropped(x, (0,) * x.type.ndim, (*x.type.shape[:-1], n))
    none = [(0, 0)] * (x.type.ndim - 1)
    whole = ops.householder_product(
        padded(few, cast_to(0, x.type.dtype), [*none, (0, m - n)]), factors
    )
    if conjugate:
        whole = adjoint(whole)
    return product(whole, other) if left else product(other, whole)


def cross(x: Node, y: Node, axis: int) -> Node:
    """The cross products of vectors of three elements along `axis`. x, y: numbers of one type."""
    (a, b, c), (d, e, f) = ([ops.part(t, axis, i, 1) for i in range(3)] for t in (x, y))
    return ops.concatenate(b * f - c * e, c * d - a * f, a * e - b * d, axis=axis)
