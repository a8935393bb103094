"""Shape arithmetic that several type rules share."""

from __future__ import annotations

from collections.abc import Sequence

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.types import Shape, TensorType


def broadcast_shapes(op: str, *types: TensorType) -> Shape:
    """The shape that all operands broadcast to, by NumPy's rule."""
    first = types[0].shape
    if all(type.shape == first for type in types):
        return first
    ndim = max(type.ndim for type in types)
    result = [1] * ndim
    for type in types:
        for axis, n in enumerate(type.shape, ndim - type.ndim):
            if n != 1 and result[axis] not in (1, n):
                given = ", ".join(map(str, types))
                raise ShapeError(f"{op}: operands do not broadcast, got {given}")
            if n != 1:
                result[axis] = n
    return tuple(result)


def rows(shape: Shape) -> tuple[int, ...]:
    """The strides, in elements, of an array whose elements lie in rows."""
    strides, step = [1] * len(shape), 1
    for axis in reversed(range(len(shape))):
        strides[axis] = step
        step *= shape[axis] or 1
    return tuple(strides)


def check_axes(op: str, type: TensorType, axes: Sequence[int]) -> tuple[int, ...]:
    """`axes`, each in range and none twice (negative axes are the frontend's to resolve)."""
    if len(set(axes)) != len(axes) or not all(0 <= axis < type.ndim for axis in axes):
        raise ShapeError(f"{op}: axes must be distinct and within {type}, got {tuple(axes)}")
    return tuple(axes)


def without(shape: Shape, axes: Sequence[int]) -> Shape:
    """`shape` with `axes` removed."""
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)
