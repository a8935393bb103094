"""Writing at positions that are data, and reductions of the elements that meet at one."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.scattering import (
    MODES,
    Target,
    masked_scatter,
    masked_scatter_gradient,
    reduced,
    scattered,
)
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand, refuse_overflow
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.indices import checking
from lazytensor.frontends.torch.rows.joining import (
    check_sizes,
    checked,
    coordinates,
)
from lazytensor.frontends.torch.tensors.strides import axis_of


def _by_element(x: Any, dim: int, index: Any, source: Any) -> Target:
    """Along `dim`, an index for each update: `scatter`."""
    given, places, updates = operand(x), operand(index), operand(source)
    axis = axis_of(dim, given.type.ndim)
    refuse_overflow(updates, given.type.dtype)
    if not isinstance(updates, Node) or not updates.type.ndim:
        updates = ops.broadcast(cast_to(updates, given.type.dtype), shape=places.type.shape)
    require(updates.type.dtype == given.type.dtype)
    require(len({max(x.type.ndim, 1) for x in (given, places, updates)}) == 1)
    if given.type.ndim and places.type.ndim:
        check_sizes(places, given, axis)
        check_sizes(places, updates, -1)
    if places.type.ndim == 0:
        places = ops.reshape(places, shape=(1,) * max(given.type.ndim, 1))
        updates = ops.reshape(updates, shape=places.type.shape)
    for i, n in enumerate(places.type.shape):
        if updates.type.shape[i] != n:
            updates = part(updates, i, 0, n)
    given = given if given.type.ndim else ops.reshape(given, shape=(1,))
    axes = tuple(range(given.type.ndim))
    return Target(given, updates, coordinates(given, axis, places), axes)


def _by_line(x: Any, dim: int, index: Any, source: Any, signed: bool = False) -> Target:
    """Along `dim`, an index for each part of the updates: `index_add`."""
    given, places, updates = operand(x), operand(index), operand(source)
    axis = axis_of(dim, given.type.ndim)
    count = places.type.size
    if not given.type.ndim:
        given, updates = ops.reshape(given, shape=(1,)), ops.reshape(updates, shape=(count,))
    elif updates.type.ndim < given.type.ndim and updates.type.size == 1:
        updates = ops.reshape(updates, shape=(1,) * given.type.ndim)
    shape = tuple(count if i == axis else n for i, n in enumerate(given.type.shape))
    require(updates.type.shape == shape)
    order = (axis, *(i for i in range(given.type.ndim) if i != axis))
    places = ops.reshape(places, shape=(count,))
    where = checked(places, given.type.shape[axis], signed)
    return Target(given, ops.transpose(updates, axes=order), [where], (axis,))


def _shaped(made: Node, x: Any) -> Node:
    shape = operand(x).type.shape
    return made if made.type.shape == shape else ops.reshape(made, shape=shape)


def _scatter(mode: str) -> Row:
    def row(x: Any, dim: int, index: Any, source: Any, **_: Any) -> Node:
        if not operand(index).type.size:
            return operand(x)
        target = _by_element(x, dim, index, source)
        return _shaped(target.with_(target.given, mode), x)

    return row


def _scatter_by_name(x: Any, dim: int, index: Any, source: Any, *, reduce: str) -> Node:
    require(reduce in ("add", "multiply"))
    return _scatter(MODES[reduce])(x, dim, index, source)


def _scatter_reduce(
    x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Node:
    if not operand(index).type.size:
        return operand(x)
    require(reduce in MODES)
    return _shaped(reduced(_by_element(x, dim, index, source), reduce, include_self), x)


def _index_reduce(
    x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Node:
    require(reduce in MODES)
    return _shaped(reduced(_by_line(x, dim, index, source), reduce, include_self), x)


def _index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Node:
    target = _by_line(x, dim, index, source)
    updates = target.updates
    if alpha != 1:
        if updates.type.dtype is BOOL:
            updates = updates & cast_to(alpha, BOOL)
        else:
            refuse_overflow(alpha, updates.type.dtype)
            updates = updates * cast_to(alpha, updates.type.dtype)
    return _shaped(target.with_(target.given, "add", updates), x)


def _index_copy(x: Any, dim: int, index: Any, source: Any) -> Node:
    target = _by_line(x, dim, index, source)
    return _shaped(target.with_(target.given, "set"), x)


def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Node:
    given, places = operand(x), operand(index)
    axis = axis_of(dim, given.type.ndim)
    count = places.type.size
    shape = tuple(count if i == axis else n for i, n in enumerate(given.type.shape)) or (count,)
    require(given.type.dtype.kind == "c" or not isinstance(value, complex))
    refuse_overflow(value, given.type.dtype)
    filling = ops.broadcast(cast_to(operand(value), given.type.dtype), shape=shape)
    target = _by_line(x, dim, index, filling, signed=True)
    return _shaped(target.with_(target.given, "set"), x)


def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Node:
    given, places, updates = operand(x), operand(index), operand(source)
    require(updates.type.dtype == given.type.dtype and updates.type.size == places.type.size)
    if not places.type.size:
        return given
    where = checked(ops.line(places), given.type.size, signed=True)
    mode = "add" if accumulate else "set"
    made = scattered(ops.line(given), ops.line(updates), [where], (0,), mode)
    return _shaped(made, x)


def _masked_scatter(x: Any, mask: Any, source: Any) -> Node:
    given, flags, values = operand(x), operand(mask), operand(source)
    require(flags.type.dtype is BOOL and values.type.dtype == given.type.dtype)
    shape = np.broadcast_shapes(given.type.shape, flags.type.shape)
    given, flags = (ops.broadcast(t, shape=shape) for t in (given, cast_to(flags, BOOL)))
    if not given.type.size:
        return given
    fits = ops.reduce_sum(cast_to(flags, S64), axes=tuple(range(flags.type.ndim)))
    made = given if not values.type.size else masked_scatter(given, flags, values)
    text = "masked_scatter: expected self and source to have the same number of elements"
    return sure(made, fits <= values.type.size, text)


def _masked_scatter_backward(grad: Any, mask: Any, sizes: Any) -> Node:
    """For each source element, in order, the gradient at its target; zero for unused ones.

    Torch's own selects by the mask, whose count of set flags is data.
    """
    flags = cast_to(operand(mask), BOOL)
    return masked_scatter_gradient(operand(grad), flags, tuple(sizes))


ROWS: dict[str, Row] = {
    "scatter.src": _scatter("set"),
    "scatter.value": _scatter("set"),
    "scatter_add": _scatter("add"),
    "scatter.reduce": _scatter_by_name,
    "scatter.value_reduce": lambda x, dim, index, value, *, reduce: _scatter_by_name(
        x, dim, index, value, reduce=reduce
    ),
    "scatter_reduce.two": _scatter_reduce,
    "index_reduce": _index_reduce,
    "index_add": _index_add,
    "index_copy": _index_copy,
    "put": _put,
}
MASKED: dict[str, Row] = {
    "masked_scatter": _masked_scatter,
    "masked_scatter_backward": _masked_scatter_backward,
}


FOLLOWING: dict[str, Row] = {
    "index_fill.int_Scalar": _index_fill,
    "index_fill.int_Tensor": _index_fill,
}
"""Results lie as the first operand does."""


rows(checking(ROWS), apart="wholly")
rows(checking(FOLLOWING), follows=True, apart="wholly")
rows(MASKED)
