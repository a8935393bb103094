"""Ops that move elements without computing: views, padding, joining; and their writes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lazytensor.core.cell import MERGES, WRITES, Step
from lazytensor.core.dtypes import STORED
from lazytensor.core.errors import ShapeError
from lazytensor.core.node import Node
from lazytensor.core.op import check_dtype, primitive
from lazytensor.core.shapes import broadcast_shapes, check_axes
from lazytensor.core.types import Shape, TensorType, tensor_type


@primitive
def broadcast(x: TensorType, *, shape: Shape) -> TensorType:
    """`x` repeated to `shape`, aligned at the last axis as NumPy does. Raises: ShapeError."""
    result = x.with_shape(shape)
    if broadcast_shapes("broadcast", x, result) != shape:
        raise ShapeError(f"broadcast: {x} does not broadcast to {result}")
    return result


@primitive
def reshape(x: TensorType, *, shape: Shape) -> TensorType:
    """The elements of `x`, in row-major order, in another shape of the same size."""
    if math.prod(shape) != x.size:
        raise ShapeError(f"reshape: the size must stay, got {x} and {shape}")
    return x.with_shape(shape)


@primitive
def transpose(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
    """`x` with its axes in the order `axes`, a permutation."""
    if sorted(axes) != list(range(x.ndim)):
        raise ShapeError(f"transpose: a permutation of the axes of {x} is needed, got {axes}")
    return x.with_shape(tuple(x.shape[axis] for axis in axes))


@primitive
def slice(
    x: TensorType, starts: TensorType, *, sizes: Shape, strides: tuple[int, ...]
) -> TensorType:
    """Element `starts + i * strides` of `x` for each `i` below `sizes`.

    x: any. starts: s64[ndim], slots or data. strides: one an axis, negative ones run backwards,
    none zero. Every element named must be within `x`: the frontend checks.
    """
    _check_slice("slice", x, starts, sizes, strides)
    return x.with_shape(sizes)


@primitive
def update_slice(
    x: TensorType, value: TensorType, starts: TensorType, *, strides: tuple[int, ...]
) -> TensorType:
    """`x` with `slice(x, starts, sizes=value.shape, strides=strides)` replaced by `value`."""
    check_dtype("update_slice", STORED, x, value)
    _check_slice("update_slice", x, starts, value.shape, strides)
    return x


def _check_slice(
    op: str, x: TensorType, starts: TensorType, sizes: Shape, strides: tuple[int, ...]
) -> None:
    if not len(sizes) == len(strides) == x.ndim or starts.shape != (x.ndim,):
        raise ShapeError(f"{op}: one start, size and stride an axis of {x}, got {sizes}, {strides}")
    for n, size, stride in zip(x.shape, sizes, strides, strict=True):
        if stride == 0 or size < 0 or (size and (size - 1) * abs(stride) >= n):
            raise ShapeError(f"{op}: {sizes} elements {strides} apart do not fit into {x}")


WRITES[reshape] = lambda base, value, *, shape: reshape(value, shape=base.type.shape)
WRITES[slice] = lambda base, value, starts, *, sizes, strides: update_slice(
    base, value, starts, strides=strides
)


def _write_transpose(base: Node, value: Node, *, axes: tuple[int, ...]) -> Node:
    inverse = tuple(axes.index(axis) for axis in range(len(axes)))
    node: Node = transpose(value, axes=inverse)
    return node


WRITES[transpose] = _write_transpose


def _merge_slices(first: Step, second: Step) -> Step:
    assert first.starts is not None and second.starts is not None
    before, after = dict(first.attrs), dict(second.attrs)
    begin = tuple(
        a + b * step for a, b, step in zip(first.starts, second.starts, before["strides"], strict=True)
    )
    strides = tuple(a * b for a, b in zip(before["strides"], after["strides"], strict=True))
    return slice_step(begin, after["sizes"], strides)


def slice_step(begin: tuple[int, ...], sizes: Shape, strides: tuple[int, ...]) -> Step:
    """The view step of a slice."""
    return Step(slice, begin, (("sizes", sizes), ("strides", strides)))


def reshape_step(shape: Shape) -> Step:
    """The view step of a reshape."""
    return Step(reshape, None, (("shape", shape),))


def transpose_step(axes: tuple[int, ...]) -> Step:
    """The view step of a transpose."""
    return Step(transpose, None, (("axes", axes),))


MERGES[slice, slice] = _merge_slices
MERGES[reshape, reshape] = lambda first, second: second
MERGES[transpose, transpose] = lambda first, second: transpose_step(
    tuple(first.attrs[0][1][axis] for axis in second.attrs[0][1])
)
