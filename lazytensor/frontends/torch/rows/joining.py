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
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib import arranging
from lazytensor.core.lib.diagonals import lower_triangle, upper_triangle
from lazytensor.core.lib.scattering import scattered
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.dispatch.errors import dtype_name, sure
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
from lazytensor.frontends.torch.tensors.tensor import TORCH, from_cpu, held_by, laid, to_cpu


def _cat(tensors: Sequence[Any], dim: int = 0) -> Node:
    parts = [operand(x) for x in tensors]
    dtype = result_dtype(*parts)
    # An empty vector joins anything: what torch has kept from its first days.
    kept = [x for x in parts if x.type.shape != (0,)]
    if not kept:
        return cast_to(parts[0], dtype)
    axis = axis_of(dim, kept[0].type.ndim)
    first = kept[0].type
    for place, part in enumerate(parts):
        if not part.type.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {place}) cannot be concatenated"
            )
    for place, part in enumerate(kept):
        if part.type.ndim != first.ndim:
            raise RuntimeError(
                "Tensors must have same number of dimensions: "
                f"got {first.ndim} and {part.type.ndim}"
            )
        for i, (n, m) in enumerate(zip(first.shape, part.type.shape, strict=True)):
            if n != m and i != axis:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size {n} "
                    f"but got size {m} for tensor number {place} in the list."
                )
    return arranging.joined([cast_to(x, dtype) for x in kept], axis)


def _stack(tensors: Sequence[Any], dim: int = 0) -> Node:
    parts = promoted(*tensors)
    shape = parts[0].type.shape
    if any(x.type.shape != shape for x in parts):
        other = next(i for i, x in enumerate(parts) if x.type.shape != shape)
        raise RuntimeError(
            f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
            f"{list(parts[other].type.shape)} at entry {other}"
        )
    axis = axis_of(dim, len(shape) + 1)
    return arranging.stacked(parts, axis)


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
    places = ops.reshape(places, shape=(places.type.size,))
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


def check_sizes(index: Node, x: Node, axis: int, role: str = "self") -> None:
    """Raise torch's error where an index reaches beyond `x` on another axis than `axis`."""
    for i, (n, m) in enumerate(zip(index.type.shape, x.type.shape, strict=True)):
        if i != axis and n > m:
            raise RuntimeError(
                f"Size does not match at dimension {i} expected index {list(index.type.shape)} to "
                f"be no larger than {role} {list(x.type.shape)} apart from dimension {axis}"
            )


def _gather(x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Node:
    given, places = operand(x), operand(index)
    axis = axis_of(dim, given.type.ndim)
    if not given.type.ndim:
        return ops.broadcast(given, shape=places.type.shape)
    if not places.type.size:
        return ops.broadcast(cast_to(0, given.type.dtype), shape=places.type.shape)
    if not places.type.ndim:
        return ops.gather(given, checked(places, given.type.shape[0]), axes=(0,))
    if places.type.ndim != given.type.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    check_sizes(places, given, axis)
    axes = tuple(range(given.type.ndim))
    return ops.gather(given, *coordinates(given, axis, places), axes=axes)


def _check_mask(mask: Shape, shape: Shape, axis: int) -> None:
    """Raise torch's error for a mask that has not the sizes of the axes from `axis` on."""
    for i, (n, m) in enumerate(zip(mask, shape[axis:], strict=False)):
        if n != m:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {i} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {axis + i}"
            )


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
            _check_mask(place.type.shape, given.type.shape, axis)
            if place.value is None:
                scheduler.sync(place, cause="boolean mask")
            host = to_cpu(place).bool().nonzero(as_tuple=True)
            for line in host:
                axes.append(axis)
                found.append(ops.leaf(line.numpy()))
                axis += 1
        elif place.type.dtype not in (S32, S64):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        else:
            axes.append(axis)
            if axis < given.type.ndim:
                _refuse_known(place, axis, given.type.shape[axis])
                found.append(checked(place, given.type.shape[axis], signed=True))
            axis += 1
    if axis > given.type.ndim:
        raise IndexError(f"too many indices for tensor of dimension {given.type.ndim} (got {axis})")
    shape = _together([place.type.shape for place in found])
    if 0 not in shape and any(not given.type.shape[axis] for axis in axes):
        raise IndexError("index is out of bounds for dimension with size 0")
    return tuple(axes), found


def _refuse_known(index: Node, axis: int, size: int) -> None:
    """Raise torch's error at once where the host has the indices, and they are few."""
    values = index.value
    if (
        not size
        or index.op is not PARAMETER
        or values.__class__ is not np.ndarray
        or values.size > _FEW
    ):
        return
    for value in values.ravel().tolist():
        if not -size <= value < size:
            raise IndexError(
                f"index {value} is out of bounds for dimension {axis} with size {size}"
            )


_FEW: Final = 64


def _together(shapes: Sequence[Shape]) -> Shape:
    """The shape that indices broadcast to. Raises: IndexError, torch's."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing tensors could not be broadcast together with shapes "
            + ", ".join(str(list(shape)) for shape in shapes)
        ) from None


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


def _refuse_bytes(indices: Sequence[Any]) -> None:
    """Raise torch's error where one value goes to where a mask is set, which is one of bytes."""
    masks = [index for index in indices if index is not None]
    if len(masks) == 1 and masks[0].dtype is torch.uint8:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
        )


def _index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Node:
    given, updates = operand(x), operand(values)
    if updates.type.size == 1 and not accumulate:
        _refuse_bytes(indices)
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
    updates = _fitting(updates, shape)
    if not _broadcasts(updates.type.shape, shape):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(operand(values).type.shape)} cannot be "
            f"broadcast to indexing result of shape {list(shape)}"
        )
    if updates.type.dtype is not given.type.dtype:
        names = [dtype_name(TORCH[t.type.dtype]) for t in (given, updates)]
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{names[0]} for the destination and {names[1]} for the source."
        )
    updates = ops.broadcast(updates, shape=shape)
    if order is not None:
        updates = ops.transpose(updates, axes=tuple(order.index(i) for i in range(len(order))))
    return scattered(given, updates, places, axes, "add" if accumulate else "set")


def _broadcasts(shape: Shape, whole: Shape) -> bool:
    pairs = zip(reversed(shape), reversed(whole), strict=False)
    return len(shape) <= len(whole) and all(n in (1, m) for n, m in pairs)


def _fitting(updates: Node, shape: tuple[int, ...]) -> Node:
    """`updates` without leading ones that `shape` has no axes for."""
    extra = updates.type.ndim - len(shape)
    if extra <= 0 or any(n != 1 for n in updates.type.shape[:extra]):
        return updates
    return ops.reshape(updates, shape=updates.type.shape[extra:])


def _roll(x: Node, shifts: Sequence[int], dims: Sequence[int] = ()) -> Node:
    if not shifts:
        raise RuntimeError("`shifts` required")
    if len(shifts) != len(dims or (0,)):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    if dims and not x.type.ndim:
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if not x.type.size:
        return x
    line = x if dims else ops.reshape(x, shape=(x.type.size,))
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
        if x.type.ndim < 2:
            name = "triu" if upper else "tril"
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return (upper_triangle if upper else lower_triangle)(x, diagonal)

    return row


def _repeat(x: Node, repeats: Sequence[int]) -> Node:
    if len(repeats) < x.type.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
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
