"""Ops that move elements without computing: views, padding, joining; and their writes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from lazytensor.core.buffers.cell import MERGES, WRITES, ViewStep, view_step
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import NUMBERS, STORED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, primitive, starts, traits
from lazytensor.core.ir.shapes import broadcast_shapes, check_axes, without
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import Shape, TensorType, tensor_type
from lazytensor.core.ops.elementwise import complex_, imag, real

Ints = tuple[int, ...]


@traits(Trait.MOVES, Trait.SHOWS)
@primitive
def broadcast(x: TensorType, *, shape: Shape) -> TensorType:
    """`x` repeated to `shape`, aligned at the last axis as NumPy does.

    x: any. Raises: ShapeError where an axis of `x` is neither 1 nor that of `shape`.
    Source: StableHLO broadcast_in_dim.
    """
    result = x.with_shape(shape)
    if broadcast_shapes("broadcast", x, result) != shape:
        raise ShapeError(f"broadcast: {x} does not broadcast to {result}")
    return result


@traits(Trait.MOVES, Trait.RESHAPES)
@primitive
def reshape(x: TensorType, *, shape: Shape) -> TensorType:
    """The elements of `x`, in row-major order, in another shape of the same size.

    x: any. Raises: ShapeError. Source: StableHLO reshape.
    """
    if math.prod(shape) != x.size:
        raise ShapeError(f"reshape: the size must stay, got {x} and {shape}")
    return x.with_shape(shape)


@traits(Trait.MOVES, Trait.RESHAPES)
@primitive
def transpose(x: TensorType, *, axes: Ints) -> TensorType:
    """`x` with its axes in the order `axes`, a permutation.

    x: any. Raises: ShapeError. Source: StableHLO transpose.
    """
    if sorted(axes) != list(range(x.ndim)):
        raise ShapeError(f"transpose: a permutation of the axes of {x} is needed, got {axes}")
    return x.with_shape(tuple(x.shape[axis] for axis in axes))


@traits(Trait.MOVES, Trait.SHOWS)
@primitive
def slice(x: TensorType, starts: TensorType, *, sizes: Shape, strides: Ints) -> TensorType:
    """Element `starts + i * strides` of `x` for each `i` below `sizes`.

    x: any. starts: s64[ndim], slots or data. strides: one an axis, negative ones run backwards,
    none zero. Every such element must be within `x`: the frontend checks.
    Raises: ShapeError. Source: StableHLO dynamic_slice, with strides.
    """
    _check_slice("slice", x, starts, sizes, strides)
    return x.with_shape(sizes)


@traits(Trait.MOVES, Trait.REPLACES)
@primitive
def update_slice(
    x: TensorType, value: TensorType, starts: TensorType, *, strides: Ints
) -> TensorType:
    """`x` with `slice(x, starts, sizes=value.shape, strides=strides)` replaced by `value`.

    x, value: one dtype. starts: s64[ndim]. Result: type of x. Raises: DTypeError, ShapeError.
    Source: StableHLO dynamic_update_slice, with strides.
    """
    check_dtype("update_slice", STORED, x, value)
    _check_slice("update_slice", x, starts, value.shape, strides)
    return x


def _check_slice(op: str, x: TensorType, starts: TensorType, sizes: Shape, strides: Ints) -> None:
    if not len(sizes) == len(strides) == x.ndim or starts.shape != (x.ndim,):
        raise ShapeError(f"{op}: one start, size and stride an axis of {x}, got {sizes}, {strides}")
    for n, size, stride in zip(x.shape, sizes, strides, strict=True):
        if stride == 0 or size < 0 or (size and (size - 1) * abs(stride) >= n):
            raise ShapeError(f"{op}: {sizes} elements {strides} apart do not fit into {x}")


@traits(Trait.SHOWS)
@primitive
def reverse(x: TensorType, *, axes: Ints) -> TensorType:
    """`x` backwards along `axes`. x: any. Raises: ShapeError. Source: StableHLO reverse."""
    check_axes("reverse", x, axes)
    return x


@primitive
def pad(x: TensorType, value: TensorType, *, low: Ints, high: Ints, interior: Ints) -> TensorType:
    """`x` with `value` around it and between its elements.

    x: any. value: 0-d, dtype of x. low, high: how many before and after an axis; negative ones cut
    off. interior: how many between two neighbours. Raises: DTypeError, ShapeError.
    Source: StableHLO pad.
    """
    check_dtype("pad", STORED, x, value)
    if value.shape or not len(low) == len(high) == len(interior) == x.ndim:
        raise ShapeError(f"pad: three numbers an axis and a 0-d value, got {x}, {value}, {low}")
    shape = tuple(
        before + after + n + max(n - 1, 0) * between
        for n, before, after, between in zip(x.shape, low, high, interior, strict=True)
    )
    if min((*shape, *interior, 0)) < 0:
        raise ShapeError(f"pad: cuts more off {x} than there is, got {low}, {high}, {interior}")
    return x.with_shape(shape)


@primitive
def concatenate(*xs: TensorType, axis: int) -> TensorType:
    """Its operands one after another along `axis`.

    xs: at least one, of one dtype, of equal shapes but for `axis`. Raises: DTypeError, ShapeError.
    Source: StableHLO concatenate.
    """
    check_dtype("concatenate", STORED, *xs)
    first = xs[0]
    check_axes("concatenate", first, (axis,))
    rest = without(first.shape, (axis,))
    if any(x.ndim != first.ndim or without(x.shape, (axis,)) != rest for x in xs):
        given = ", ".join(map(str, xs))
        raise ShapeError(f"concatenate: shapes must be equal but for axis {axis}, got {given}")
    joined = sum(x.shape[axis] for x in xs)
    return first.with_shape((*first.shape[:axis], joined, *first.shape[axis + 1 :]))


@primitive
def iota(*, dtype: np.dtype, shape: Shape, axis: int) -> TensorType:
    """Each element's index along `axis`. dtype: a number's. Raises: DTypeError, ShapeError.

    Source: StableHLO iota.
    """
    result = tensor_type(dtype, shape)
    check_dtype("iota", NUMBERS, result)
    check_axes("iota", result, (axis,))
    return result


@traits(Trait.SHOWS)
@primitive
def diagonal(x: TensorType, *, offset: int, axis1: int, axis2: int) -> TensorType:
    """The elements whose index on `axis2` is that on `axis1` plus `offset`.

    x: any, two axes or more. Result: the other axes of x in order, then the diagonal's own.
    Raises: ShapeError. Source: numpy.diagonal.
    """
    return x.with_shape(_diagonal_shape("diagonal", x, offset, axis1, axis2))


@primitive
def update_diagonal(
    x: TensorType, value: TensorType, *, offset: int, axis1: int, axis2: int
) -> TensorType:
    """`x` with `diagonal(x, …)` replaced by `value`.

    x, value: one dtype. Result: type of x. Raises: DTypeError, ShapeError.
    """
    check_dtype("update_diagonal", STORED, x, value)
    if value.shape != _diagonal_shape("update_diagonal", x, offset, axis1, axis2):
        raise ShapeError(f"update_diagonal: {value} is not of the shape of that diagonal of {x}")
    return x


def _diagonal_shape(op: str, x: TensorType, offset: int, axis1: int, axis2: int) -> Shape:
    check_axes(op, x, (axis1, axis2))
    rows, columns = x.shape[axis1] + min(offset, 0), x.shape[axis2] - max(offset, 0)
    return (*without(x.shape, (axis1, axis2)), max(min(rows, columns), 0))


def _write_transpose(base: Node, value: Node, *, axes: Ints) -> Node:
    inverse = tuple(axes.index(axis) for axis in range(len(axes)))
    return transpose(value, axes=inverse)


def _write_slice(base: Node, value: Node, starts: Node, *, sizes: Shape, strides: Ints) -> Node:
    whole = value.type is base.type
    if whole and all(s == 1 or n < 2 for s, n in zip(strides, sizes, strict=True)):
        return value  # the whole base is replaced, so it need not be computed
    return update_slice(base, value, starts, strides=strides)


WRITES[reshape] = lambda base, value, *, shape: reshape(value, shape=base.type.shape)
WRITES[transpose] = _write_transpose
WRITES[reverse] = lambda base, value, *, axes: reverse(value, axes=axes)
WRITES[diagonal] = update_diagonal
WRITES[slice] = _write_slice
WRITES[real] = lambda base, value: complex_(value, imag(base))
WRITES[imag] = lambda base, value: complex_(real(base), value)


def reshaped(x: Node, type: TensorType) -> Node:
    """`x` in this type, of the same size; `x` or a node it was reshaped from, if one has it."""
    while x.type is not type:
        if x.op is not reshape or not x.operands:
            return reshape(x, shape=type.shape)
        (x,) = x.operands
    return x


def line(x: Node) -> Node:
    """The elements of `x` along one axis; `x` itself if it has one."""
    return x if x.type.ndim == 1 else reshape(x, shape=(x.type.size,))


def kept(reduced: Node, x: Node, axes: Ints, keepdims: bool = True) -> Node:
    """A reduction of `x`; with `keepdims` the reduced axes stay, with length one."""
    if not keepdims or not axes:
        return reduced
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(x.type.shape))
    return reshape(reduced, shape=shape)


def part(x: Node, axis: int, start: int, count: int) -> Node:
    """`count` elements of `axis` from `start` on."""
    sizes = tuple(count if i == axis else n for i, n in enumerate(x.type.shape))
    begin = starts(tuple(start if i == axis else 0 for i in range(x.type.ndim)))
    return slice(x, begin, sizes=sizes, strides=(1,) * x.type.ndim)


def at_index(x: Node, axis: int, index: int) -> Node:
    """The elements at an index of `axis`, which is dropped."""
    shape = x.type.shape
    return reshape(part(x, axis, index, 1), shape=(*shape[:axis], *shape[axis + 1 :]))


def new_axis(x: Node, axis: int | None = None) -> Node:
    """`x` with an axis of one element at `axis`, or as the last one."""
    shape, at = x.type.shape, x.type.ndim if axis is None else axis
    return reshape(x, shape=(*shape[:at], 1, *shape[at:]))


def interleaved(phases: Mapping[Ints, Node], steps: Ints) -> Node:
    """Nodes of one type in turns along each axis: element i is of the phase i % steps there.

    phases: for every combination of numbers below `steps`.
    """
    made = dict(phases)
    for axis in reversed(range(len(steps))):
        made = {
            phase: _in_turns([made[(*phase, r)] for r in range(steps[axis])], axis)
            for phase in product(*map(range, steps[:axis]))
        }
    return made[()]


def _in_turns(xs: Sequence[Node], axis: int) -> Node:
    if len(xs) == 1:
        return xs[0]
    shape = xs[0].type.shape
    apart = (*shape[: axis + 1], 1, *shape[axis + 1 :])
    whole = concatenate(*(reshape(x, shape=apart) for x in xs), axis=axis + 1)
    return reshape(whole, shape=(*shape[:axis], shape[axis] * len(xs), *shape[axis + 1 :]))


def slice_step(begin: Ints, sizes: Shape, strides: Ints) -> ViewStep:
    """The view step of a slice; with negative strides, of a reversal."""
    return view_step(slice, begin, (("sizes", sizes), ("strides", strides)))


def reshape_step(shape: Shape) -> ViewStep:
    """The view step of a reshape."""
    return view_step(reshape, None, (("shape", shape),))


def transpose_step(axes: Ints) -> ViewStep:
    """The view step of a transpose."""
    return view_step(transpose, None, (("axes", axes),))


def diagonal_step(offset: int, axis1: int, axis2: int) -> ViewStep:
    """The view step of a diagonal."""
    return view_step(diagonal, None, (("axis1", axis1), ("axis2", axis2), ("offset", offset)))


def real_step() -> ViewStep:
    """The view step of the real part of complex elements."""
    return view_step(real, None, ())


def imag_step() -> ViewStep:
    """The view step of the imaginary part of complex elements."""
    return view_step(imag, None, ())


def _merge_slices(first: ViewStep, second: ViewStep) -> ViewStep:
    assert first.starts is not None
    assert second.starts is not None
    before, after = dict(first.attrs), dict(second.attrs)
    begin = tuple(
        a + b * step
        for a, b, step in zip(first.starts, second.starts, before["strides"], strict=True)
    )
    strides = tuple(a * b for a, b in zip(before["strides"], after["strides"], strict=True))
    return slice_step(begin, after["sizes"], strides)


MERGES[slice, slice] = _merge_slices
MERGES[reshape, reshape] = lambda first, second: second
MERGES[transpose, transpose] = lambda first, second: transpose_step(
    tuple(first.attrs[0][1][axis] for axis in second.attrs[0][1])
)
