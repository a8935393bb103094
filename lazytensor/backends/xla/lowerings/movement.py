"""Lowerings of the ops that move elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lazytensor.backends.xla.attributes import comparison, direction, i64, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import TRANSPOSED_RATIO, Emitter, Rows, is_thin
from lazytensor.backends.xla.lowerings.transposition import sliced, transpose
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

Ints = tuple[int, ...]
Branch = tuple[list[TensorType], Callable[[], list[Value]]]
LEAST_BASE: Final = 2**12
"""Elements of an array from which its small slices are computed outside the loops that read them.
"""


def _broadcast(e: Emitter, type: TensorType, x: Value, *, shape: Shape) -> Value:
    return e.expand(x, shape)


def _reshape(e: Emitter, type: TensorType, x: Value, *, shape: Shape) -> Value:
    return e.reshape(x, shape)


def reverse(e: Emitter, x: Value, axes: Sequence[int]) -> Value:
    """`x` backwards along `axes`."""
    return e.op("reverse", x.type, x, dimensions=i64s(axes)) if axes else x


def static_slice(e: Emitter, x: Value, begin: Ints, sizes: Shape, strides: Ints) -> Value:
    """A slice whose starts are known; strides positive."""
    if sizes == x.type.shape:
        return x
    lines = zip(begin, sizes, strides, strict=True)
    stops = [b + max(n - 1, 0) * s + min(n, 1) for b, n, s in lines]
    return e.op(
        "slice",
        x.type.with_shape(sizes),
        x,
        start_indices=i64s(begin),
        limit_indices=i64s(stops),
        strides=i64s(strides),
    )


def backward_axes(sizes: Shape, strides: Ints) -> list[int]:
    """The axes along which a slice runs backwards."""
    return [axis for axis, s in enumerate(strides) if s < 0 and sizes[axis] > 1]


def lowest(begin: np.ndarray, sizes: Shape, strides: Ints) -> Ints:
    """The start of a slice with its backward axes turned forwards."""
    return tuple(
        int(b) + min(s, 0) * max(n - 1, 0) for b, n, s in zip(begin, sizes, strides, strict=True)
    )


def spans_of(sizes: Shape, strides: Ints) -> Shape:
    """The extent of a slice along each axis, gaps included."""
    return tuple((n - 1) * abs(s) + 1 if n else 0 for n, s in zip(sizes, strides, strict=True))


def scalars(e: Emitter, begin: Value, sizes: Shape, strides: Ints) -> list[Value]:
    """The lowest start of each axis, as 0-d values."""
    shift = [min(s, 0) * max(n - 1, 0) for n, s in zip(sizes, strides, strict=True)]
    lowest = begin
    if any(shift):
        lowest = e.op("add", begin.type, begin, e.constant(np.array(shift, S64)))
    one = tensor_type(S64, (1,))
    found = []
    for axis in range(len(sizes)):
        cut = e.op(
            "slice",
            one,
            lowest,
            start_indices=i64s([axis]),
            limit_indices=i64s([axis + 1]),
            strides=i64s([1]),
        )
        found.append(e.reshape(cut, ()))
    return found


def _slice(
    e: Emitter, type: TensorType, x: Value, begin: Value, *, sizes: Shape, strides: Ints
) -> Value:
    steps = tuple(abs(s) for s in strides)
    backward = backward_axes(sizes, strides)
    if not type.ndim or 0 in sizes:
        return x if not type.ndim else e.full(0, type)
    if begin.constant is not None and x.turned is not None:
        source, there, wanted, steps = sliced(e, x, begin, sizes, strides)
        made = _slice(e, x.type.with_shape(wanted), source, there, sizes=wanted, strides=steps)
        return transpose(e, type, made, axes=x.turned[1])
    if begin.constant is not None:
        if x.update and x.update[1:] == (tuple(begin.constant.tolist()), strides):
            written = x.update[0]
            if written.type is type:  # the slice is the value just written
                return written
        corner = lowest(begin.constant, sizes, strides)
        if x.bordered and is_thin(sizes, x.type.shape):
            key = corner, sizes, steps
            line = e.call("line", lambda _, whole: static_slice(e, whole, *key), key, type, x)
            return reverse(e, line, backward)
        return reverse(e, static_slice(e, x, corner, sizes, steps), backward)
    spans = spans_of(sizes, strides)
    starts = scalars(e, begin, sizes, strides)
    window = _window(e, x, starts, spans)
    return reverse(e, static_slice(e, window, (0,) * type.ndim, sizes, steps), backward)


def _window(e: Emitter, x: Value, starts: Sequence[Value], sizes: Shape) -> Value:
    """A slice without gaps whose starts are data.

    XLA:CPU computes such a slice within the loop that reads it, which is then not vectorised and
    several times slower. It does not look into a `case` of three branches, so the slice is one.
    """

    type = x.type.with_shape(sizes)

    def cut() -> list[Value]:
        return [e.op("dynamic_slice", type, x, *starts, slice_sizes=i64s(sizes))]

    small = LEAST_BASE <= x.type.size >= TRANSPOSED_RATIO * type.size and type.size > 1
    if e.is_plain or not small or not (x.stored or x.shared):
        return cut()[0]
    never = e.full(np.iinfo(np.int64).min, starts[0].type)
    known = e.op("compare", never.type.with_dtype(BOOL), starts[0], never, **comparing(S64, "NE"))
    branch, zeros = e.convert(known, S32), e.full(0, type)
    for value in (x, *starts, zeros):
        assert value.ir  # emits it here, outside the branches
    other: Branch = ([], lambda: [zeros])
    return e.region_op("case", [type], [branch], [other, ([], cut), other])[0]


def comparing(dtype: np.dtype, name: str) -> dict[str, Any]:
    """The attributes of `compare`."""
    return {"comparison_direction": direction(name), "compare_type": comparison(dtype)}


def _pad(
    e: Emitter, type: TensorType, x: Value, value: Value, *, low: Ints, high: Ints, interior: Ints
) -> Value:
    if x.turned is not None:
        source, axes = x.turned
        back = [axes.index(axis) for axis in range(len(axes))]
        shape, low, high, interior = (
            tuple(given[i] for i in back) for given in (type.shape, low, high, interior)
        )
        made = _pad(e, type.with_shape(shape), source, value, low=low, high=high, interior=interior)
        return transpose(e, type, made, axes=axes)
    return e.op(
        "pad",
        type,
        x,
        value,
        edge_padding_low=i64s(low),
        edge_padding_high=i64s(high),
        interior_padding=i64s(interior),
    )


def _concatenate(e: Emitter, type: TensorType, *xs: Value, axis: int) -> Value:
    return e.op("concatenate", type, *xs, dimension=i64(axis)) if len(xs) > 1 else xs[0]


def _iota(e: Emitter, type: TensorType, *, dtype: np.dtype, shape: Shape, axis: int) -> Value:
    return e.op("iota", type, iota_dimension=i64(axis))


def _diagonal(
    e: Emitter, type: TensorType, x: Value, *, offset: int, axis1: int, axis2: int
) -> Value:
    """In row-major order a diagonal is a slice: its elements are a row's length plus 1 apart."""
    if not type.size:
        return e.full(0, type)
    outer = type.shape[:-1]
    order = [axis for axis in range(x.type.ndim) if axis not in (axis1, axis2)] + [axis1, axis2]
    rows, columns = x.type.shape[axis1], x.type.shape[axis2]
    moved = x.type.with_shape((*outer, rows, columns))
    x = e.op("transpose", moved, x, permutation=i64s(order)) if order != sorted(order) else x
    flat = e.reshape(x, (*outer, rows * columns))
    first = offset if offset >= 0 else -offset * columns
    ones = (1,) * len(outer)
    return static_slice(e, flat, (*(0 for _ in outer), first), type.shape, (*ones, columns + 1))


def _update_diagonal(
    e: Emitter, type: TensorType, x: Value, value: Value, *, offset: int, axis1: int, axis2: int
) -> Value:
    """A select between the value, spread over the rows, and the base; it fuses."""
    if not value.type.size:
        return x
    *outer, length = value.type.shape
    first, rows = max(-offset, 0), type.shape[axis1]
    zeros = (0,) * len(outer)
    column = _pad(
        e,
        value.type.with_shape((*outer, rows)),
        value,
        e.constant(0, type.dtype),
        low=(*zeros, first),
        high=(*zeros, rows - first - length),
        interior=(*zeros, 0),
    )
    others = [axis for axis in range(type.ndim) if axis not in (axis1, axis2)]
    kept = [*others, axis1]
    spread = e.place(_sorted_axes(e, column, kept), type.shape, sorted(kept))
    plane = tensor_type(S32, (rows, type.shape[axis2]))
    row, other = (e.op("iota", plane, iota_dimension=i64(axis)) for axis in (0, 1))
    shifted = e.op("add", plane, row, e.full(offset, plane))
    on = e.op("compare", plane.with_dtype(BOOL), other, shifted, **comparing(S32, "EQ"))
    mask = e.place(_sorted_axes(e, on, [axis1, axis2]), type.shape, sorted([axis1, axis2]))
    return e.op("select", type, mask, spread, x)


def _sorted_axes(e: Emitter, x: Value, axes: list[int]) -> Value:
    """`x`, whose axes are to become `axes`, transposed so that these ascend."""
    order = sorted(range(len(axes)), key=axes.__getitem__)
    if order == sorted(order):
        return x
    type = x.type.with_shape(tuple(x.type.shape[i] for i in order))
    return e.op("transpose", type, x, permutation=i64s(order))


ROWS: Rows = {
    ops.broadcast: _broadcast,
    ops.reshape: _reshape,
    ops.slice: _slice,
    ops.reverse: lambda e, type, x, *, axes: reverse(e, x, axes),
    ops.pad: _pad,
    ops.concatenate: _concatenate,
    ops.iota: _iota,
    ops.diagonal: _diagonal,
    ops.update_diagonal: _update_diagonal,
}
