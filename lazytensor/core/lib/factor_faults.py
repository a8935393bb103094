"""LAPACK's `info` for matrices that cannot be factored: the row or minor at fault.

It needs a second factorization, in a branch that runs only if a matrix has failed.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node, trace_types
from lazytensor.core.ir.dtypes import COMPLEX, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.matrices import adjoint, first_zero, triangle
from lazytensor.core.lib.numbers import cast_to, filled
from lazytensor.core.ops.control import Region


def _region(name: str, body: Any, *nodes: Node) -> Region:
    return Region(name, trace_types(body, [node.type for node in nodes], {}))


def _every(flags: Node) -> Node:
    return ops.reduce_and(flags, axes=tuple(range(flags.type.ndim)))


@one_node
def _zero_pivot(x: Node, ok: Node) -> Node:
    branches = (
        _region("no pivot is zero", lambda x, ok: cast_to(~ok, S32), x, ok),
        _region("the first pivot that is zero", lambda x, ok: first_zero(ops.lu(x)[0]), x, ok),
    )
    failed = cast_to(~_every(ok), S32)
    made: Node = ops.case(failed, x, ok, branches=branches)
    return made


@one_node
def _bad_minor(x: Node, ok: Node, *, upper: bool) -> Node:
    n, stack = x.type.shape[-1], x.type.shape[:-2]
    shape = (ok.type.size, n, n)
    half = ops.reshape(triangle(adjoint(x) if upper else x, False), shape=shape)
    whole = half + adjoint(triangle(half, False, -1))
    zero = cast_to(0, S64)
    size = ops.select(_every(ok), zero, cast_to(n, S64))
    state = (ops.broadcast(zero, shape=()), size, whole, filled(shape[:1], 0, S32))
    made = ops.while_(
        *state,
        condition=_region("minors: more", lambda at, end, *_: at < end, *state),
        body=_region("minors", _eliminated, *state),
    )
    return ops.reshape(made[3], shape=stack)


def _eliminated(at: Node, end: Node, x: Node, info: Node) -> tuple[Node, ...]:
    """Eliminate row and column `at` of Hermitian matrices; `info` keeps the first bad minor."""
    rows, columns = (ops.iota(dtype=S64, shape=x.type.shape, axis=axis) for axis in (1, 2))
    nothing = cast_to(0, x.type.dtype)
    column = ops.reduce_sum(ops.select(ops.equal(columns, at), x, nothing), axes=(2,))
    place = ops.iota(dtype=S64, shape=column.type.shape, axis=1)
    pivot = ops.reduce_sum(ops.select(ops.equal(place, at), column, nothing), axes=(1,))
    size = ops.real(pivot) if x.type.dtype in COMPLEX else pivot
    bad = ~(size > 0)
    count, n = column.type.shape
    across = ops.conj(column) if x.type.dtype in COMPLEX else column
    shares = column / ops.reshape(pivot, shape=(count, 1))
    outer = ops.reshape(shares, shape=(count, n, 1)) * ops.reshape(across, shape=(count, 1, n))
    inside = (rows > at) & (columns > at)
    later = ops.select(inside, x - outer, x)
    first = bad & ops.equal(info, cast_to(0, S32))
    step = at + 1
    return step, end, later, ops.select(first, cast_to(step, S32), info)


def first_zero_pivot(x: Node, ok: Node) -> Node:
    """For each matrix, the place of the first zero on u's diagonal, from 1; 0 where `ok`."""
    return _zero_pivot(x, ok) if x.type.size else filled(ok.type.shape, 0, S32)


def first_bad_minor(x: Node, ok: Node, upper: bool) -> Node:
    """For each matrix, the order of its first non-positive leading minor; 0 where `ok`."""
    empty = not x.type.size
    return filled(ok.type.shape, 0, S32) if empty else _bad_minor(x, ok, upper=upper)
