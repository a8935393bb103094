"""Convolution as one matrix product, of parts of the data or of the result.

The product reads a kernel as it lies in memory, or with its taps moved within rows of memory; the
axes of features and results are never swapped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.convolution.placement import Window
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.backends.xla.lowerings.contraction import highest
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.splitting import total
from lazytensor.backends.xla.lowerings.transposition import transpose
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.ops.contraction import Axes, Pairs

WIDE: Final = 32
"""Features per copy from which many small copies are nearly as fast as few large ones."""


def space(type: TensorType, axes: Axes) -> Shape:
    """The spatial sizes, in the order of `axes`."""
    return tuple(type.shape[axis] for axis in axes[2:])


def is_led_by_space(kernel: Axes) -> bool:
    """Whether a kernel has its spatial axes first, in their order."""
    return kernel[2:] == tuple(range(len(kernel) - 2))


def reordered(e: Emitter, x: Value, axes: Axes) -> Value:
    shape = tuple(x.type.shape[axis] for axis in axes)
    return transpose(e, x.type.with_shape(shape), x, axes=axes)


def from_rows(e: Emitter, type: TensorType, rows: Value, window: Window) -> Value:
    """The result, from rows of (batch, space, features)."""
    order = (window.result[0], *window.result[2:], window.result[1])
    shaped = e.reshape(rows, tuple(type.shape[axis] for axis in order))
    return reordered(e, shaped, tuple(int(i) for i in np.argsort(order)))


def steps(sizes: Sequence[int], backward: Sequence[bool]) -> list[Sequence[int]]:
    """The places on each axis in the order in which a kernel is stored."""
    return [range(n)[::-1] if b else range(n) for n, b in zip(sizes, backward, strict=True)]


def apart(steps: Sequence[Sequence[int]], gaps: Axes) -> list[Sequence[int]]:
    return [[i * gap for i in line] for line, gap in zip(steps, gaps, strict=True)]


def padded(e: Emitter, x: Value, pairs: Pairs, outer: Axes) -> Value:
    """Rows with zeros around and between them."""
    low, high = ((0, *(pair[i] for pair in pairs), 0) for i in (0, 1))
    between = (0, *(n - 1 for n in outer), 0)
    shape = tuple(
        n + i * max(n - 1, 0) + a + b
        for n, i, a, b in zip(x.type.shape, between, low, high, strict=True)
    )
    if shape == x.type.shape and not any(low):
        return x
    return e.op(
        "pad", x.type.with_shape(shape), x, e.constant(0, x.type.dtype),
        edge_padding_low=i64s(low), edge_padding_high=i64s(high), interior_padding=i64s(between),
    )  # fmt: skip


def slices(
    e: Emitter, x: Value, starts: Sequence[Sequence[int]], sizes: Shape, strides: Axes
) -> Value:
    """Slices of rows, (first, …, last), along a new axis before the last.

    Starts are given per axis. If features are few, one axis is sliced at a time, in long pieces.
    """
    n = len(sizes)
    if x.type.shape[-1] >= WIDE:
        return _stacked(e, x, list(product(*starts)), sizes, strides)
    shape, made = list(x.type.shape), x
    for i in reversed(range(n)):
        shape[i + 1], steps = sizes[i], (*strides[i : i + 1], *(1,) * (n - 1 - i))
        begins = [(*(0,) * i, start, *(0,) * (n - 1 - i)) for start in starts[i]]
        made = _stacked(e, made, begins, tuple(shape[1:-1]), (*(1,) * i, *steps))
        made = e.reshape(made, (*shape[:-1], math.prod(made.type.shape[-2:])))
    return e.reshape(made, (*shape[:-1], math.prod(map(len, starts)), shape[-1]))


def _stacked(e: Emitter, x: Value, starts: Sequence[Axes], sizes: Shape, strides: Axes) -> Value:
    whole = (x.type.shape[0], *sizes, x.type.shape[-1])
    apart = (*whole[:-1], 1, whole[-1])
    parts = [
        e.reshape(static_slice(e, x, (0, *start, 0), whole, (1, *strides, 1)), apart)
        for start in starts
    ]
    if len(parts) == 1:
        return parts[0]
    there = x.type.with_shape((*whole[:-1], len(parts), whole[-1]))
    return e.op("concatenate", there, *parts, dimension=i64(len(whole) - 1))


def dot(e: Emitter, type: TensorType, x: Value, y: Value, contract: tuple[Axes, Axes]) -> Value:
    numbers = hlo.DotDimensionNumbers.get([], [], list(contract[0]), list(contract[1]))
    return e.op(
        "dot_general", type, x, y, dot_dimension_numbers=numbers, precision_config=highest()
    )


def _moved(e: Emitter, w: Value, order: Axes) -> Value:
    """A kernel with its spatial axes merged into one, in another order.

    Features and results keep their order, so that taps move within a row of memory. The transpose
    that XLA would write is several times slower.
    """
    flat = e.reshape(w, (*w.type.shape[:2], math.prod(w.type.shape[2:])))
    if order == (0, 1, 2):
        return flat
    moved = reordered(e, flat, order)
    return workarounds.materialized(e, moved)


def _joined(e: Emitter, w: Value, first: bool) -> Value:
    """A matrix: the first two axes merged if `first`, else the last two."""
    a, b, c = w.type.shape
    return e.reshape(w, (a * b, c) if first else (a, b * c))


def _by_taps(e: Emitter, w: Value, kernel: Axes) -> tuple[Value, int]:
    """A kernel as a matrix, and the matrix's axis that has taps and features, in that order."""
    if is_led_by_space(kernel):
        return _lines(e, w), 0 if kernel[1] < kernel[0] else 1
    if w.turned is not None:
        moved = reordered(e, w, (*kernel[2:], kernel[1], kernel[0]))
        return _lines(e, moved), 0
    if kernel[0] < kernel[1]:
        return _joined(e, _moved(e, w, (0, 2, 1)), first=False), 1
    return _joined(e, _moved(e, w, (2, 0, 1)), first=True), 0


def _lines(e: Emitter, w: Value) -> Value:
    return e.reshape(w, (math.prod(w.type.shape[:-1]), w.type.shape[-1]))


def _by_features(e: Emitter, w: Value, kernel: Axes, taps_first: bool) -> tuple[Value, int]:
    """A kernel as a matrix, and its axis of features; the other has taps and results."""
    if is_led_by_space(kernel):
        return _lines(e, w), 0 if kernel[1] < kernel[0] else 1
    if kernel[0] < kernel[1]:
        order = (2, 0, 1) if taps_first else (0, 2, 1)
        return _joined(e, _moved(e, w, order), first=True), 1
    order = (0, 2, 1) if taps_first else (0, 1, 2)
    return _joined(e, _moved(e, w, order), first=False), 0


def _is_less(seen: Value, out: int) -> bool:
    """Whether moving the patches moves less than moving a kernel with `out` results."""
    return math.prod(seen.type.shape[:-2]) < out


def _taps_last(e: Emitter, seen: Value) -> Value:
    n = seen.type.ndim
    return reordered(e, seen, (*range(n - 2), n - 1, n - 2))


def by_patches(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """A matrix with the patch of data at each place as a row, times the kernel."""
    data, kernel = window.data, window.kernel
    places = space(type, window.result)
    rows = reordered(e, x, (data[0], *data[2:], data[1]))
    rows = padded(e, rows, window.padding, window.outer)
    starts = apart(steps(space(w.type, kernel), window.backward), window.inner)
    seen = slices(e, rows, starts, places, window.strides)
    out = w.type.shape[kernel[0]]
    if kernel == tuple(range(len(kernel))) and w.turned is None and _is_less(seen, out):
        seen = _taps_last(e, seen)
        matrix, axis = e.reshape(w, (out, w.type.size // out)), 1
    else:
        matrix, axis = _by_taps(e, w, kernel)
    lines = e.reshape(seen, (math.prod(seen.type.shape[:-2]), math.prod(seen.type.shape[-2:])))
    made = dot(e, type.with_shape((lines.type.shape[0], out)), lines, matrix, ((1,), (axis,)))
    return from_rows(e, type, made, window)


def by_products(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """Each place of the data times the whole kernel; then products of one place are added."""
    data, kernel = window.data, window.kernel
    places = space(type, window.result)
    rows = reordered(e, x, (data[0], *data[2:], data[1]))
    out, n = w.type.shape[kernel[0]], len(places)
    taps = math.prod(space(w.type, kernel))
    there = rows.type.shape[:-1]
    # With fewer features than places the kernel is the smaller operand, so it is moved.
    taps_first = is_led_by_space(kernel) or math.prod(there) > rows.type.shape[-1]
    matrix, axis = _by_features(e, w, kernel, taps_first)
    made = dot(e, type.with_shape((*there, out * taps)), rows, matrix, ((n + 1,), (axis,)))
    made = e.reshape(made, (*there, taps, out) if taps_first else (*there, out, taps))
    one, ones = (1, out) if taps_first else (out, 1), (1,) * (n + 3)
    terms = []
    for i, tap in enumerate(product(*steps(space(w.type, kernel), window.backward))):
        begin = (*(0,) * (n + 1), i, 0) if taps_first else (*(0,) * (n + 2), i)
        term = e.reshape(static_slice(e, made, begin, (*there, *one), ones), (*there, out))
        terms.append(_placed(e, term, tap, places, window))
    return from_rows(e, type, total(e, terms), window)


def _placed(e: Emitter, x: Value, tap: Axes, places: Shape, window: Window) -> Value:
    """Products with one tap, each at its place of the result."""
    pairs = []
    for axis, t in enumerate(tap):
        low = window.padding[axis][0] - t * window.inner[axis]
        wanted = (places[axis] - 1) * window.strides[axis] + 1
        long = (x.type.shape[axis + 1] - 1) * window.outer[axis] + 1
        pairs.append((low, wanted - long - low))
    spread = padded(e, x, tuple(pairs), window.outer)
    whole = (x.type.shape[0], *places, x.type.shape[-1])
    return static_slice(e, spread, (0,) * len(whole), whole, (1, *window.strides, 1))


def by_places(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """A matrix with all data of one place of the result as a column: for gradients of kernels."""
    data, kernel, result = window.data, window.kernel, window.result
    rows = reordered(e, x, (data[1], *data[2:], data[0]))
    rows = padded(e, rows, window.padding, window.outer)
    other, bound = _unmoved(e, w, kernel)
    places, taps = space(type, result), space(w.type, kernel)
    starts = apart(steps(places, (False,) * len(places)), window.strides)
    seen = slices(e, rows, starts, taps, window.inner)
    count, batch, out = math.prod(places), x.type.shape[data[0]], w.type.shape[kernel[0]]
    lines = tuple(range(len(places) + 1))
    # XLA transposes the left matrix, whose lines are contracted: choose what moves less.
    if result[0] < result[1] and seen.type.size <= other.type.size + type.size:
        there = type.with_shape((count, batch, out))
        made = e.reshape(dot(e, there, seen, other, (lines, bound)), (*places, batch, out))
        order = (*result[2:], result[0], result[1])
    elif result[2:] == tuple(range(2, type.ndim)) and _is_less(seen, out):
        there = type.with_shape((out, batch, count))
        made = dot(e, there, other, _taps_last(e, seen), (bound, lines))
        made, order = e.reshape(made, (out, batch, *places)), (result[1], result[0], *result[2:])
    else:
        there = type.with_shape((out, count, batch))
        made = e.reshape(dot(e, there, other, seen, (bound, lines)), (out, *places, batch))
        order = (result[1], *result[2:], result[0])
    return reordered(e, made, tuple(int(i) for i in np.argsort(order)))


def _unmoved(e: Emitter, w: Value, kernel: Axes) -> tuple[Value, Axes]:
    """A kernel as it lies in memory, and its axes of features and taps there.

    XLA does not cancel a transpose in blocks with its inverse.
    """
    if w.turned is None:
        return w, kernel[1:]
    source, axes = w.turned
    return source, tuple(axes[axis] for axis in kernel[1:])
