"""Identities, triangles and diagonals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.op import Op, scalar
from lazytensor.core.lib.diagonals import band, on_diagonal
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand
from lazytensor.frontends.numpy.functions.creation import dtype_of, laid_out, shape_of
from lazytensor.frontends.numpy.functions.signatures import (
    NO_VALUE,
    Function,
    Given,
    like,
    named,
)
from lazytensor.frontends.numpy.functions.views import diagonal
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert


def _band(function: Function, compare: Op) -> Function:
    """`eye` and `tri`."""

    @like(function)
    def create(given: Given) -> Any:
        height, width, k = (real(x) for x in (given.N, given.M, given.k))
        try:
            kind = dtype_of(given.dtype)
        except HostOnly:
            return function(height, width, k, given.dtype)
        shape = shape_of((height, height if width is None else width))
        made = wrap(convert(band(shape, operator.index(k), compare), kind))
        return made if given.order is NO_VALUE else laid_out(made, given.order)

    return create


eye, tri = _band(np.eye, ops.equal), _band(np.tri, ops.less_equal)


def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """See numpy.identity."""
    return eye(n, dtype=dtype)


def _triangle(k_added: int, inside: bool) -> Function:
    def cut(m: Any, k: int = 0) -> Any:
        node = operand(m)
        shape = node.type.shape
        if node.type.ndim == 1:  # NumPy repeats a line
            shape = (shape[0], shape[0])
        elif not shape:
            np.tril(np.zeros(()))  # raises
        mask = band(shape[-2:], operator.index(real(k)) + k_added, ops.less_equal)
        zero = scalar(0, node.type.dtype)
        return wrap(ops.select(mask, *((node, zero) if inside else (zero, node))))

    return cut


def diag(v: Any, k: int = 0) -> Any:
    """See numpy.diag."""
    array = asarray(v)
    offset = operator.index(k)
    if array.ndim == 2:
        return diagonal(array, offset)
    refuse_unless(array.ndim == 1)
    return wrap(on_diagonal(array.node, offset))


def diagflat(v: Any, k: int = 0) -> Any:
    """See numpy.diagflat."""
    node = operand(v)
    return wrap(on_diagonal(ops.line(node), operator.index(k)))


LAZY = named(diag, diagflat, tril=_triangle(0, True), triu=_triangle(-1, False))
PLAIN = named(eye, identity, tri)
"""Lazy even without a lazy argument."""
