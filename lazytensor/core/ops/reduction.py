"""Reductions, cumulative ops and windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import (
    BOOL,
    BOOLS,
    FLOATS,
    INTS,
    NUMBERS,
    ORDERED,
    S64,
    DTypes,
    short_name,
)
from lazytensor.core.ir.op import Op, check_dtype, primitive
from lazytensor.core.ir.shapes import check_axes, without
from lazytensor.core.ir.types import Shape, TensorType

Ints = tuple[int, ...]
WINDOWED = {"sum": NUMBERS, "prod": NUMBERS, "max": ORDERED, "min": ORDERED}


def identity(kind: str, dtype: np.dtype) -> Any:
    """A reduction's neutral element in `dtype`. kind: `sum prod max min and or xor`."""
    if kind in ("max", "min"):
        least = kind == "max"
        if dtype == BOOL:
            return not least
        if dtype in FLOATS:
            return -np.inf if least else np.inf
        return np.iinfo(dtype).min if least else np.iinfo(dtype).max
    if kind == "and":
        return True if dtype == BOOL else ~np.zeros((), dtype)
    return 1 if kind == "prod" else 0


def _row(name: str, rule: Callable[..., TensorType], doc: str, dtypes: DTypes) -> Op:
    rule.__name__ = rule.__qualname__ = name
    names = " ".join(sorted(map(short_name, dtypes)))
    rule.__doc__ = f"{doc} x: {names}. Raises: DTypeError, ShapeError."
    return primitive(rule)


def reduction(name: str, dtypes: DTypes, doc: str, *, empty: bool = True) -> Op:
    """A row: `axes` are reduced and dropped; `empty`: whether they may have no elements."""

    def rule(x: TensorType, *, axes: Ints) -> TensorType:
        check_dtype(name, dtypes, x)
        check_axes(name, x, axes)
        if not empty and any(x.shape[axis] == 0 for axis in axes):
            raise ShapeError(f"{name}: nothing to reduce in {x} over axes {axes}, no identity")
        return x.with_shape(without(x.shape, axes))

    return _row(name, rule, doc, dtypes)


def arg_reduction(name: str, doc: str) -> Op:
    """A row: where along `axis` the result of a reduction is; the axis is dropped."""

    def rule(x: TensorType, *, axis: int) -> TensorType:
        check_dtype(name, ORDERED, x)
        check_axes(name, x, (axis,))
        if x.shape[axis] == 0:
            raise ShapeError(f"{name}: nothing to search in {x} along axis {axis}")
        return x.with_shape(without(x.shape, (axis,))).with_dtype(S64)

    return _row(name, rule, doc, ORDERED)


def cumulative(name: str, dtypes: DTypes, doc: str) -> Op:
    """A row: the reduction of each prefix of `axis`, or of each suffix with `reverse`."""

    def rule(x: TensorType, *, axis: int, reverse: bool = False) -> TensorType:
        check_dtype(name, dtypes, x)
        check_axes(name, x, (axis,))
        return x

    return _row(name, rule, doc, dtypes)


reduce_sum = reduction(
    "reduce_sum", NUMBERS, "Sum over `axes`; f16 and bf16 accumulate in f32, integers wrap."
)
reduce_prod = reduction(
    "reduce_prod", NUMBERS, "Product over `axes`; f16 and bf16 accumulate in f32, integers wrap."
)
reduce_max = reduction(
    "reduce_max", ORDERED, "Largest over `axes`; NaN if there is one.", empty=False
)
reduce_min = reduction(
    "reduce_min", ORDERED, "Smallest over `axes`; NaN if there is one.", empty=False
)
reduce_and = reduction("reduce_and", BOOLS | INTS, "Conjunction over `axes`, bit by bit.")
reduce_or = reduction("reduce_or", BOOLS | INTS, "Disjunction over `axes`, bit by bit.")
reduce_xor = reduction("reduce_xor", BOOLS | INTS, "Exclusive disjunction over `axes`, bit by bit.")

argmax = arg_reduction("argmax", "Index of the first largest, or of the first NaN. Result: s64.")
argmin = arg_reduction("argmin", "Index of the first smallest, or of the first NaN. Result: s64.")

cumsum = cumulative("cumsum", NUMBERS, "Running sum along `axis`; f16 and bf16 run in f32.")
cumprod = cumulative("cumprod", NUMBERS, "Running product along `axis`; f16 and bf16 run in f32.")
cummax = cumulative("cummax", ORDERED, "Running maximum along `axis`; NaN from the first NaN on.")
cummin = cumulative("cummin", ORDERED, "Running minimum along `axis`; NaN from the first NaN on.")


@primitive
def reduce_window(
    x: TensorType,
    *,
    kind: str,
    window: Ints,
    strides: Ints,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Ints,
    window_dilation: Ints,
) -> TensorType:
    """The reduction of each window of `x`, as pooling does.

    x: numbers for `sum` and `prod`, ordered for `max` and `min` (the kinds). window, strides: sizes
    of the window and its steps, one an axis. padding: pairs (before, after) of elements that do
    not count, which may be negative. base_dilation, window_dilation: distances of neighbours in x
    and in the window, 1 being dense. A window of padding alone gives the neutral element of `kind`.
    Raises: DTypeError, ShapeError. Source: StableHLO reduce_window.
    """
    if kind not in WINDOWED:
        raise ValueError(f"reduce_window: kind must be one of {', '.join(WINDOWED)}, got {kind!r}")
    check_dtype("reduce_window", WINDOWED[kind], x)
    per_axis = (window, strides, padding, base_dilation, window_dilation)
    if any(len(values) != x.ndim for values in per_axis):
        raise ShapeError(f"reduce_window: one number an axis of {x} is needed, got {per_axis}")
    if any(n < 1 for values in (window, strides, base_dilation, window_dilation) for n in values):
        raise ShapeError(f"reduce_window: sizes, steps and distances must be positive for {x}")
    return x.with_shape(window_shape(x.shape, *per_axis))


def window_shape(
    shape: Shape,
    window: Ints,
    strides: Ints,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Ints,
    window_dilation: Ints,
) -> Shape:
    """How many windows fit on each axis."""
    found = []
    for axis, n in enumerate(shape):
        length = (n - 1) * base_dilation[axis] + 1 if n else 0
        span = (window[axis] - 1) * window_dilation[axis] + 1
        free = length + sum(padding[axis]) - span
        found.append(max(free // strides[axis] + 1, 0))
    return tuple(found)
