"""Products: `dot`, `matmul` and their relatives."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import NUMBERS
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import linear_algebra
from lazytensor.core.lib.manipulation import moveaxis
from lazytensor.core.lib.matrices import cross as cross_product
from lazytensor.core.lib.signal import slid_products
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import common
from lazytensor.frontends.numpy.functions.creation import empty
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.results import deliver
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.functions.views import array_of
from lazytensor.frontends.numpy.host import parts
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless

UNFIT = (
    "output array is not acceptable (must have the right datatype, number of dimensions, and be a "
    "C-Array)"
)


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """See numpy.dot."""
    made = parts.product(np.dot, a, b) if settings.small and out is None else None
    if made is not None:
        return made
    x, y = common(a, b)
    n, m = x.type.ndim, y.type.ndim
    refuse_unless(out is None or hasattr(out, "flags"))
    if out is not None and (out.dtype != x.type.dtype or not out.flags.c_contiguous):
        raise ValueError(UNFIT)
    if n == m == 2 and x.type.dtype in NUMBERS and x.type.shape[1] == y.type.shape[0]:
        made = ops.dot_general(x, y, contract=((1,), (0,)))
        check("dot", [x, y], made, axes=None)
        return deliver(made, out)
    if not n or not m:
        return deliver(_times(x, y), out)
    shared = max(m - 2, 0)
    refuse_unless(x.type.shape[-1] == y.type.shape[shared])
    right = [*range(n, n + m)]
    right[shared] = n - 1
    rest = [label for label in right if label != n - 1]
    made = ops.contract(x, y, range(n), right, [*range(n - 1), *rest])
    check("dot", [x, y], made, axes=None)
    return deliver(made, out)


def _times(x: Node, y: Node) -> Node:
    return x * y if x.type.dtype in NUMBERS else x & y


def vdot(a: Any, b: Any, /) -> Any:
    """See numpy.vdot."""
    x, y = (ops.line(node) for node in common(a, b))
    refuse_unless(x.type.size == y.type.size)
    return deliver(ops.contract(_conjugate(x), y, "i", "i", ""))


def _conjugate(x: Node) -> Node:
    return ops.conj(x) if x.type.dtype.kind == "c" else x


def inner(a: Any, b: Any, /) -> Any:
    """See numpy.inner."""
    x, y = common(a, b)
    n, m = x.type.ndim, y.type.ndim
    if not n or not m:
        return deliver(_times(x, y))
    refuse_unless(x.type.shape[-1] == y.type.shape[-1])
    rest = range(n, n + m - 1)
    return deliver(ops.contract(x, y, range(n), [*rest, n - 1], [*range(n - 1), *rest]))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """See numpy.tensordot."""
    x, y = common(a, b)
    left, right = _tensordot_axes(axes)
    for mine in (left, right):
        refuse_unless(len(set(mine)) == len(mine))
    refuse_unless(
        len(left) == len(right)
        and all(x.type.shape[i] == y.type.shape[j] for i, j in zip(left, right, strict=True))
    )
    return wrap(linear_algebra.tensordot(x, y, axes=(left, right)))


def _tensordot_axes(axes: Any) -> tuple[list[int], list[int]]:
    try:
        left, right = axes
    except TypeError:
        count = operator.index(axes)
        return list(range(-count, 0)), list(range(count))
    return _ints(left), _ints(right)


def _ints(axes: Any) -> list[int]:
    return [operator.index(i) for i in axes] if np.iterable(axes) else [operator.index(axes)]


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """See numpy.outer."""
    x, y = (ops.line(node) for node in common(a, b))
    return deliver(_times(ops.new_axis(x), ops.new_axis(y, 0)), out, spreads=True)


def kron(a: Any, b: Any) -> Any:
    """See numpy.kron."""
    x, y = common(array_of(a), array_of(b))  # Python's numbers get their default dtypes here
    rank = max(x.type.ndim, y.type.ndim)
    first, second = ((1,) * (rank - node.type.ndim) + node.type.shape for node in (x, y))
    x = ops.reshape(x, shape=tuple(n for size in first for n in (size, 1)))
    y = ops.reshape(y, shape=tuple(n for size in second for n in (1, size)))
    shape = tuple(n * m for n, m in zip(first, second, strict=True))
    return deliver(ops.reshape(_times(x, y), shape=shape))


_cross_of_numpy = rebound("cross", empty=empty)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """See numpy.cross."""
    x, y = common(a, b)
    ends = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    refuse_unless(x.type.ndim and y.type.ndim)
    vectors = [
        moveaxis(node, normalize_axis_index(end, node.type.ndim, prefix), -1)
        for node, end, prefix in zip((x, y), ends, ("axisa", "axisb"), strict=False)
    ]
    if any(node.type.shape[-1] != 3 for node in vectors):
        return _cross_of_numpy(a, b, axisa, axisb, axisc, axis)
    first, second = (node.type.shape for node in vectors)
    shape = np.broadcast_shapes(first, second)
    x, y = (ops.broadcast(node, shape=shape) for node in vectors)
    made = cross_product(x, y, len(shape) - 1)
    return wrap(moveaxis(made, -1, normalize_axis_index(ends[2], len(shape), "axisc")))


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """See numpy.convolve."""
    x, y = common(a, v)
    x, y = (n if n.type.ndim else ops.reshape(n, shape=(1,)) for n in (x, y))
    refuse_unless(x.type.ndim <= 1 and y.type.ndim <= 1 and x.type.size and y.type.size)
    if y.type.size > x.type.size:
        x, y = y, x
    return deliver(_slid(x, ops.reverse(y, axes=(0,)), mode))


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """See numpy.correlate."""
    x, y = common(a, v)
    refuse_unless(x.type.ndim == 1 and y.type.ndim == 1 and x.type.size and y.type.size)
    y = _conjugate(y)
    if y.type.size <= x.type.size:
        return deliver(_slid(x, y, mode))
    return deliver(ops.reverse(_slid(y, x, mode), axes=(0,)))


_MODES = {"valid": 0, "same": 1, "full": 2}


def _slid(x: Node, y: Node, mode: Any) -> Node:
    """Inner products of `y` with the windows of `x`, where `x` is at least as long as `y`."""
    refuse_unless(mode is not None)
    refuse_unless(mode in _MODES or mode in (0, 1, 2))
    size = y.type.size
    padding = {0: (0, 0), 1: (size // 2, (size - 1) // 2), 2: (size - 1, size - 1)}[
        _MODES.get(mode, mode)
    ]
    return slid_products(x, y, *padding)


LAZY = named(convolve, correlate, cross, dot, inner, kron, outer, tensordot, vdot)
