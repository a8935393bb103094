"""Joining, indexing, and moving elements without views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S32, S64, U8
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.lib import arranging
from lazytensor.core.lib.matrices import triangle
from lazytensor.core.lib.scattering import scattered
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import refuse_overlap, rows, write
from lazytensor.frontends.torch.dispatch.promotion import (
    cast_to,
    of_nodes,
    operand,
    promoted,
    refuse_overflow,
    result_dtype,
)
from lazytensor.frontends.torch.dispatch.recipes import remembering, warn_each_time
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.rows.indices import checking
from lazytensor.frontends.torch.tensors.strides import (
    axes_of,
    axis_of,
    sized,
    strides_for,
    suggested_format,
)
from lazytensor.frontends.torch.tensors.tensor import from_cpu, held_by, laid, to_cpu


def _cat(tensors: Sequence[Any], dim: int = 0) -> Node:
    parts = [operand(x) for x in tensors]
    dtype = result_dtype(*parts)
    # An empty vector joins anything: what torch has kept from its first days.
    kept = [x for x in parts if x.type.shape != (0,)]
    if not kept:
        return cast_to(parts[0], dtype)
    axis = axis_of(dim, kept[0].type.ndim)
    require(all(x.type.ndim for x in parts))
    return arranging.joined([cast_to(x, dtype) for x in kept], axis)


def _stack(tensors: Sequence[Any], dim: int = 0) -> Node:
    parts = promoted(*tensors)
    return arranging.stacked(parts, axis_of(dim, parts[0].type.ndim + 1))


def checked(index: Node, size: int, signed: bool = False) -> Node:
    """Indices as s64, checked when the program runs; `signed`: negative ones count from the end."""
    found = cast_to(index, S64)
    zero, n = cast_to(0, S64), cast_to(size, S64)
    if signed:
        found = ops.select(found < zero, found + n, found)
    inside = (found >= zero) & (found < n)
    return sure(found, inside, f"index out of range for dimension with size {size}")


def _index_select(x: Any, dim: int, index: Any) -> Node:
    given, places = operand(x), operand(index)
    axis = axis_of(dim, given.type.ndim)
    if not given.type.ndim:
        return given
    places = ops.line(places)
    return arranging.taken(given, checked(places, given.type.shape[axis]), axis)


def coordinates(given: Node, axis: int, index: Node) -> list[Node]:
    """For each axis the index of where `gather` and `scatter` along `axis` read and write."""
    shape = index.type.shape
    return [
        checked(index, given.type.shape[axis])
        if i == axis
        else ops.iota(dtype=S64, shape=shape, axis=i)
        for i in range(given.type.ndim)
    ]


def check_sizes(index: Node, x: Node, axis: int) -> None:
    """Refuse an index that reaches beyond `x` on another axis than `axis`."""
    pairs = zip(index.type.shape, x.type.shape, strict=True)
    require(all(n <= m for i, (n, m) in enumerate(pairs) if i != axis))


def _gather(x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Node:
    given, places = operand(x), operand(index)
    axis = axis_of(dim, given.type.ndim)
    if not given.type.ndim:
        return ops.broadcast(given, shape=places.type.shape)
    if not places.type.size:
        return ops.broadcast(cast_to(0, given.type.dtype), shape=places.type.shape)
    if not places.type.ndim:
        return ops.gather(given, checked(places, given.type.shape[0]), axes=(0,))
    require(places.type.ndim == given.type.ndim)
    check_sizes(places, given, axis)
    axes = tuple(range(given.type.ndim))
    return ops.gather(given, *coordinates(given, axis, places), axes=axes)


_UINT8_INDEX: Final = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
)


def _indices(given: Node, indices: Sequence[Any]) -> tuple[tuple[int, ...], list[Node]]:
    """Axes that are indexed, and by what; a mask counts for as many axes as it has."""
    axes, found = [], []
    axis = 0
    for index in indices:
        if index is None:
            axis += 1
            continue
        place = _index_node(index)
        if place.type.dtype in (BOOL, U8):
            if place.type.dtype is U8:
                warn_each_time(_UINT8_INDEX)
            mask = place.type.shape
            require(mask == given.type.shape[axis : axis + len(mask)])
            if place.value is None:
                scheduler.sync(place, cause="boolean mask")
            host = to_cpu(place).bool().nonzero(as_tuple=True)
            for line in host:
                axes.append(axis)
                found.append(ops.leaf(line.numpy()))
                axis += 1
        else:
            require(place.type.dtype in (S32, S64))
            axes.append(axis)
            if axis < given.type.ndim:
                _require_known(place, given.type.shape[axis])
                found.append(checked(place, given.type.shape[axis], signed=True))
            axis += 1
    require(axis <= given.type.ndim)
    shape = np.broadcast_shapes(*(place.type.shape for place in found))
    require(0 in shape or all(given.type.shape[axis] for axis in axes))
    return tuple(axes), found


def _require_known(index: Node, size: int) -> None:
    """Refuse indices that are out of range at once where the host has them, and they are few."""
    values = index.value
    if index.op is PARAMETER and values.__class__ is np.ndarray and size and values.size <= _FEW:
        require(all(-size <= value < size for value in values.ravel().tolist()))


_FEW: Final = 64


def _result_order(axes: tuple[int, ...], front: int, ndim: int) -> tuple[int, ...] | None:
    """Torch leaves the indexed part where it was if the indices are neighbours."""
    first, rest = axes[0], ndim - len(axes)
    if first == 0 or axes != tuple(range(first, first + len(axes))):
        return None
    before = tuple(range(front, front + first))
    return (*before, *range(front), *range(front + first, front + rest))


def _index_node(index: Any) -> Node:
    """An index that lies here or on the CPU."""
    held = held_by(index)
    return from_cpu(index) if held is None else held.node


def _index(x: Any, indices: Sequence[Any]) -> Node:
    given = operand(x)
    axes, places = _indices(given, indices)
    if not axes:
        return given
    found = ops.gather(given, *places, axes=axes)
    front = found.type.ndim - (given.type.ndim - len(axes))
    order = _result_order(axes, front, given.type.ndim)
    return found if order is None else ops.transpose(found, axes=order)


def _index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Node:
    given, updates = operand(x), operand(values)
    masks = [index for index in indices if index is not None]
    if updates.type.size == 1 and not accumulate and len(masks) == 1:
        require(masks[0].dtype is not torch.uint8)
    if len(indices) == 1 and indices[0] is not None and not updates.type.ndim:
        mask = _index_node(indices[0])
        whole = mask.type.dtype is BOOL and mask.type.shape == given.type.shape
        if whole and not accumulate:
            filling = cast_to(updates, given.type.dtype)
            return ops.select(mask, filling, given)
    axes, places = _indices(given, indices)
    target: Any = ops.gather.infer(given.type, *(p.type for p in places), axes=axes)
    front = target.ndim - (given.type.ndim - len(axes))
    order = _result_order(axes, front, given.type.ndim)
    shape = target.shape if order is None else tuple(target.shape[i] for i in order)
    require(updates.type.dtype is given.type.dtype)
    updates = ops.broadcast(_fitting(updates, shape), shape=shape)
    if order is not None:
        updates = ops.transpose(updates, axes=tuple(order.index(i) for i in range(len(order))))
    return scattered(given, updates, places, axes, "add" if accumulate else "set")


def _fitting(updates: Node, shape: tuple[int, ...]) -> Node:
    """`updates` without leading ones that `shape` has no axes for."""
    extra = updates.type.ndim - len(shape)
    if extra <= 0 or any(n != 1 for n in updates.type.shape[:extra]):
        return updates
    return ops.reshape(updates, shape=updates.type.shape[extra:])


def _roll(x: Node, shifts: Sequence[int], dims: Sequence[int] = ()) -> Node:
    require(bool(shifts) and len(shifts) == len(dims or (0,)))
    require(bool(x.type.ndim) or not dims)
    if not x.type.size:
        return x
    line = x if dims else ops.line(x)
    for shift, dim in zip(shifts, dims or (0,), strict=True):
        line = arranging.rolled(line, shift, axis_of(dim, line.type.ndim))
    return ops.reshape(line, shape=x.type.shape)


def _flip(x: Any, dims: Sequence[int]) -> Node:
    given = operand(x)
    axes = axes_of(dims, given.type.ndim) if dims else ()
    return ops.reverse(given, axes=axes) if given.type.ndim else given


def _pad(x: Node, pad: Sequence[int], value: Any = 0) -> Node:
    pairs = [(0, 0)] * x.type.ndim
    for i in range(len(pad) // 2):
        pairs[-1 - i] = pad[2 * i], pad[2 * i + 1]
    refuse_overflow(value, x.type.dtype)
    return arranging.padded(x, cast_to(value, x.type.dtype), pairs)


def _triangle(upper: bool) -> Row:
    def row(x: Node, diagonal: int = 0) -> Node:
        require(x.type.ndim >= 2)
        return triangle(x, upper, diagonal)

    return row


def _repeat(x: Node, repeats: Sequence[int]) -> Node:
    require(len(repeats) >= x.type.ndim)
    sized(repeats)  # refuses negative numbers
    return arranging.tiled(x, repeats)


INDEXED: dict[str, Row] = {
    "index_select": _index_select,
    "gather": _gather,
    "index.Tensor": _index,
    "_unsafe_index.Tensor": _index,
}
"""What looks at indices: flags among them are data, others are checked while the program runs."""


def _in_format(row: Row) -> Row:
    """The row, its results with the channels last where all tensors that it joins have them so."""

    def joined(tensors: Sequence[Any], dim: int = 0) -> Any:
        made = row(tensors, dim)
        if tensors[0].is_contiguous():
            return made
        formats = {suggested_format(x.shape, x.stride()) for x in tensors if x.shape != (0,)}
        return laid(made, strides_for(made.type.shape, *formats)) if len(formats) == 1 else made

    return joined


MOVED: dict[str, Row] = {
    "stack": _stack,
    "roll": _roll,
    "constant_pad_nd": _pad,
    "tril": _triangle(False),
    "triu": _triangle(True),
    "repeat": _repeat,
}


def _index_put_impl(
    self: Any, indices: Sequence[Any], values: Any, accumulate: bool = False, unsafe: bool = False
) -> Any:
    refuse_overlap(self, (indices, values), wholly=True)
    write(self, _index_put(self, indices, values, accumulate))
    return self


rows(checking(INDEXED))
rows(of_nodes(MOVED), pure=True)
rows({"cat": _in_format(remembering(_cat))})
rows({"index_put": _index_put}, follows=True, apart="wholly")
rows({"flip": _flip}, follows=True)
register("_index_put_impl_", _index_put_impl)
