"""Identities, triangles and diagonals."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.diagonals import band, on_diagonal
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand
from lazytensor.frontends.numpy.functions.creation import dtype_of, laid_out, shape_of
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.views import diagonal
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert


def eye(
    N: Any,
    M: Any = None,
    k: Any = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """See numpy.eye."""
    try:
        kind = dtype_of(dtype)
    except HostOnly:
        return np.eye(real(N), real(M), real(k), dtype, order)
    shape = shape_of((real(N), real(N) if M is None else real(M)))
    return laid_out(wrap(convert(band(shape, operator.index(real(k)), ops.equal), kind)), order)


def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """See numpy.identity."""
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """See numpy.tri."""
    try:
        kind = dtype_of(dtype)
    except HostOnly:
        return np.tri(real(N), real(M), real(k), dtype)
    shape = shape_of((real(N), real(N) if M is None else real(M)))
    return wrap(convert(band(shape, operator.index(real(k)), ops.less_equal), kind))


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
    return wrap(on_diagonal(ops.reshape(node, shape=(node.type.size,)), operator.index(k)))


LAZY: dict[str, Function] = {
    "diag": diag,
    "diagflat": diagflat,
    "tril": _triangle(0, True),
    "triu": _triangle(-1, False),
}

PLAIN: dict[str, Function] = {"eye": eye, "identity": identity, "tri": tri}
"""Lazy even without a lazy argument."""
