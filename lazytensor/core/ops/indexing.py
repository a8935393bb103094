"""Ops that read and write at positions given as data."""

from __future__ import annotations

from lazytensor.core.buffers.cell import WRITES, ViewStep, view_step
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import NUMBERS, ORDERED, S64, STORED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, primitive, scalar, starts, traits
from lazytensor.core.ir.shapes import broadcast_shapes, check_axes, without
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import Shape, TensorType, tensor_type
from lazytensor.core.ops.elementwise import equal, not_equal, select
from lazytensor.core.ops.movement import broadcast, iota, pad, reshape, slice

_SCATTERED = {"set": STORED, "add": NUMBERS, "mul": NUMBERS, "min": ORDERED, "max": ORDERED}


@traits(Trait.PICKS)
@primitive
def gather(x: TensorType, *indices: TensorType, axes: tuple[int, ...]) -> TensorType:
    """The parts of `x` at `indices` on `axes`, as NumPy's advanced indexing reads them.

    x: any. indices: s64, one an axis of `axes`, broadcast against each other; not negative, and
    clamped to the last element where they are too large.
    Result: the shape of the indices, then the other axes of x in order.
    Raises: DTypeError, ShapeError. Source: StableHLO gather.
    """
    return x.with_shape(_gathered("gather", x, indices, axes))


@primitive
def scatter(
    x: TensorType, updates: TensorType, *indices: TensorType, axes: tuple[int, ...], mode: str
) -> TensorType:
    """`x` with `updates` written at `indices` on `axes`: the inverse of `gather`.

    x, updates: one dtype; updates of the shape that `gather` gives. indices: as `gather`'s, but
    an update whose index is out of range is dropped. mode: `set` (of equal indices the last one
    wins), `add`, `mul`, `min` or `max`, once for each index.
    Result: type of x. Raises: DTypeError, ShapeError. Source: StableHLO scatter.
    """
    if mode not in _SCATTERED:
        raise ValueError(f"scatter: mode must be one of {', '.join(_SCATTERED)}, got {mode!r}")
    check_dtype("scatter", _SCATTERED[mode], x, updates)
    shape = _gathered("scatter", x, indices, axes)
    if updates.shape != shape:
        raise ShapeError(f"scatter: updates of shape {shape} are needed for {x}, got {updates}")
    return x


@primitive
def reduce_segments(x: TensorType, places: TensorType, *, axis: int, mode: str) -> TensorType:
    """Along `axis`, the elements from each of `places` up to the next, combined as `mode` says.

    x: numbers. places: s64[n], rising and within the axis, at least one. mode: as in `scatter`,
    without `set`. Result: dtype of x, length n of `axis`.
    Raises: DTypeError, ShapeError. Source: numpy.ufunc.reduceat.
    """
    if mode not in _SCATTERED or mode == "set":
        raise ValueError(f"reduce_segments: mode must be add, mul, min or max, got {mode!r}")
    check_dtype("reduce_segments", _SCATTERED[mode], x)
    check_axes("reduce_segments", x, (axis,))
    _check_indices("reduce_segments", x, (places,))
    if places.ndim != 1 or not 0 < places.size <= x.shape[axis]:
        raise ShapeError(f"reduce_segments: places on axis {axis} of {x} are needed, got {places}")
    return x.with_shape((*x.shape[:axis], places.size, *x.shape[axis + 1 :]))


@traits(Trait.PICKS)
@primitive
def take_along(x: TensorType, indices: TensorType, *, axis: int) -> TensorType:
    """Along `axis`, the elements of `x` at `indices`, line by line.

    x: any. indices: s64, as many axes as x, broadcast against x but for `axis`; not negative, and
    clamped to the last element where they are too large.
    Result: dtype of x, length of `axis` from indices. Raises: DTypeError, ShapeError.
    Source: numpy.take_along_axis.
    """
    _check_indices("take_along", x, (indices,))
    check_axes("take_along", x, (axis,))
    if indices.ndim != x.ndim:
        raise ShapeError(f"take_along: indices need as many axes as {x}, got {indices}")
    _check_target("take_along", x, (axis,), indices)
    line = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    places = (*indices.shape[:axis], 1, *indices.shape[axis + 1 :])
    shape = broadcast_shapes("take_along", x.with_shape(line), indices.with_shape(places))
    return x.with_shape((*shape[:axis], indices.shape[axis], *shape[axis + 1 :]))


def _gathered(
    op: str, x: TensorType, indices: tuple[TensorType, ...], axes: tuple[int, ...]
) -> Shape:
    check_axes(op, x, axes)
    _check_indices(op, x, indices)
    if len(indices) != len(axes) or not indices:
        raise ShapeError(f"{op}: one index an axis is needed, got {len(indices)} for {axes}")
    front = tensor_type(S64, broadcast_shapes(op, *indices))
    if op == "gather":
        _check_target(op, x, axes, front)
    return front.shape + without(x.shape, axes)


def _check_indices(op: str, x: TensorType, indices: tuple[TensorType, ...]) -> None:
    check_dtype(op, STORED, x)
    if any(index.dtype != S64 for index in indices):
        given = ", ".join(map(str, indices))
        raise DTypeError(f"{op}: indices must be s64, got {given}")


def _check_target(op: str, x: TensorType, axes: tuple[int, ...], indices: TensorType) -> None:
    if indices.size and any(x.shape[axis] == 0 for axis in axes):
        raise ShapeError(f"{op}: {x} has no elements to read on axes {axes}, got {indices}")


def _places(start: Node, shape: Shape, strides: tuple[int, ...]) -> Node:
    """`start + sum(i * stride)` for each index within `shape`."""
    places: Node = broadcast(reshape(start, shape=()), shape=shape)
    for axis, stride in enumerate(strides):
        count = iota(dtype=S64, shape=shape, axis=axis)
        places = places + count * stride
    return places


@composite
def strided(x: Node, start: Node, *, shape: Shape, strides: tuple[int, ...]) -> Node:
    """Element `start + sum(i * stride)` of the line `x`, for each index within `shape`.

    x: any, 1-d. start: s64[1], a slot or data. Every such element must be within `x`: the frontend
    checks. Result: dtype of x. Raises: ShapeError. Source: numpy.lib.stride_tricks.as_strided.
    """
    if x.type.ndim != 1 or len(shape) != len(strides):
        raise ShapeError(f"strided: a line and a stride an axis are needed, got {x.type}, {shape}")
    return gather(x, _places(start, shape, strides), axes=(0,))


def _write_strided(
    base: Node, value: Node, start: Node, *, shape: Shape, strides: tuple[int, ...]
) -> Node:
    """`base` with `value` written; if an element is shown twice, the last changed value wins."""
    places = _places(start, shape, strides)
    if not _repeats(shape, strides):
        return scatter(base, value, places, axes=(0,), mode="set")
    # An unchanged duplicate must not overwrite the value written through another one.
    old, size = gather(base, places, axes=(0,)), base.type.size
    both_nan = not_equal(value, value) & not_equal(old, old)
    places = select(equal(value, old) | both_nan, scalar(size, S64), places)
    spare = pad(base, scalar(0, base.type.dtype), low=(0,), high=(1,), interior=(0,))
    made = scatter(spare, value, places, axes=(0,), mode="set")
    return slice(made, starts((0,)), sizes=(size,), strides=(1,))


def _repeats(shape: Shape, strides: tuple[int, ...]) -> bool:
    """Whether some element may be shown twice."""
    reach = 0
    for stride, n in sorted((abs(s), n) for s, n in zip(strides, shape, strict=True) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


WRITES[strided] = _write_strided


def strided_step(start: int, shape: Shape, strides: tuple[int, ...]) -> ViewStep:
    """The view step of `strided`."""
    return view_step(strided, (start,), (("shape", shape), ("strides", strides)))
