"""Convolution, in the form that XLA:CPU is fastest at for the shape in question.

XLA's own fast kernels read rows of features, (batch, space, features), and never a kernel
backwards: what lies otherwise is transposed first, and a kernel turned round in memory, as a
reversed window runs in a plain loop, up to a hundred times slower. Where there are many features
and few places, one matrix product is faster still. There are three ways to make it one; which is
best is measured, see `choice`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla import choice, client
from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.contraction import highest
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Value
from lazytensor.backends.xla.movement import static_slice
from lazytensor.backends.xla.transposition import transpose
from lazytensor.core import ops
from lazytensor.core.ops.contraction import Axes, Pairs, dense, layouts
from lazytensor.core.types import Shape, TensorType

FEW: Final = 64
"""So many taps of a kernel, or places of a result, may become parts of one matrix product."""
LARGE: Final = 2**26
"""Elements that the matrix may have."""
WORTH: Final = 2**24
"""Products in a convolution for which it is worth to measure."""


class Window(NamedTuple):
    """How a kernel moves over data: per axis of space a number; and which axis is which.

    `data`, `kernel`, `result`: batch and feature (a kernel's: out and in), then space.
    """

    strides: Axes
    padding: Pairs
    outer: Axes
    inner: Axes
    feature_groups: int
    batch_groups: int
    data: Axes
    kernel: Axes
    result: Axes
    backward: tuple[bool, ...]


Form = Callable[[Emitter, TensorType, Value, Value, Window], Value]


def _convolution(
    e: Emitter,
    type: TensorType,
    x: Value,
    w: Value,
    *,
    strides: Axes,
    padding: Pairs,
    lhs_dilation: Axes,
    rhs_dilation: Axes,
    feature_groups: int,
    batch_groups: int,
    dimensions: tuple[Axes, Axes, Axes],
    reversal: tuple[bool, ...],
) -> Value:
    outer, inner, backward = dense(len(strides), lhs_dilation, rhs_dilation, reversal)
    axes = layouts(dimensions, type.ndim)
    window = Window(
        strides, padding, outer, inner, feature_groups, batch_groups, *axes, tuple(backward)
    )
    if client.platform() != "cpu":
        return _as_it_is(e, type, x, w, window)
    forms = _suitable(type, x.type, w.type, window)
    if len(forms) == 1 or type.size * w.type.size // _at(w, window.kernel[0]) < WORTH:
        return forms["rows"](e, type, x, w, window)
    taken = choice.fastest(f"convolution {window}", type, (x.type, w.type), forms, window)
    return forms[taken](e, type, x, w, window)


def _at(x: Value, axis: int) -> int:
    return x.type.shape[axis]


def _space(type: TensorType, axes: Axes) -> Shape:
    return tuple(type.shape[axis] for axis in axes[2:])


def _suitable(type: TensorType, x: TensorType, w: TensorType, window: Window) -> dict[str, Form]:
    """The forms that there are for these shapes."""
    found: dict[str, Form] = {"rows": _rows}
    n = type.ndim
    trailing = window.kernel[2:] == tuple(range(2, n))
    grouped = window.feature_groups != 1 or window.batch_groups != 1
    if grouped or not trailing or not (n - 2 and type.size and x.size and w.size):
        return found
    taps, places = math.prod(_space(w, window.kernel)), math.prod(_space(type, window.result))
    features, out = (w.shape[axis] for axis in (window.kernel[1], window.kernel[0]))
    batch = x.shape[window.data[0]]
    if taps <= FEW and batch * places * features * taps <= LARGE:
        found["patches"] = _patches
    if taps <= FEW and x.size // features * out * taps <= LARGE:
        found["products"] = _products
    if places <= FEW and not any(window.backward) and batch * places * taps * features <= LARGE:
        found["places"] = _places
    return found


def _turned(e: Emitter, x: Value, axes: Axes) -> Value:
    shape = tuple(x.type.shape[axis] for axis in axes)
    return transpose(e, x.type.with_shape(shape), x, axes=axes)


def _from_rows(e: Emitter, type: TensorType, rows: Value, window: Window) -> Value:
    """The result, of (batch, space, features)."""
    order = (window.result[0], *window.result[2:], window.result[1])
    shaped = e.reshape(rows, tuple(type.shape[axis] for axis in order))
    return _turned(e, shaped, tuple(int(i) for i in np.argsort(order)))


def _rows(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """XLA's own convolution of rows of features."""
    n, data, kernel = type.ndim, window.data, window.kernel
    turned = tuple(a for a, back in zip(kernel[2:], window.backward, strict=True) if back)
    if turned:
        w = e.op("reverse", w.type, w, dimensions=i64s(turned))
    x = _turned(e, x, (data[0], *data[2:], data[1]))
    w = _turned(e, w, (*kernel[2:], kernel[1], kernel[0]))
    order = (window.result[0], *window.result[2:], window.result[1])
    rows, taps = (0, n - 1, *range(1, n - 1)), (n - 1, n - 2, *range(n - 2))
    plain = window._replace(data=rows, kernel=taps, result=rows, backward=(False,) * (n - 2))
    there = type.with_shape(tuple(type.shape[axis] for axis in order))
    return _from_rows(e, type, _as_it_is(e, there, x, w, plain), window)


def _steps(sizes: Sequence[int], backward: Sequence[bool]) -> Iterator[tuple[int, ...]]:
    """The places on some axes in the order in which a kernel is stored."""
    lines = (range(n)[::-1] if b else range(n) for n, b in zip(sizes, backward, strict=True))
    return product(*lines)


def _padded(e: Emitter, x: Value, pairs: Pairs, outer: Axes) -> Value:
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


def _slices(e: Emitter, x: Value, starts: Sequence[Axes], sizes: Shape, strides: Axes) -> Value:
    """Slices of rows, (first, …, last), along a new axis before the last."""
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


def _dot(e: Emitter, type: TensorType, x: Value, y: Value, contract: tuple[Axes, Axes]) -> Value:
    numbers = hlo.DotDimensionNumbers.get([], [], list(contract[0]), list(contract[1]))
    return e.op(
        "dot_general", type, x, y, dot_dimension_numbers=numbers, precision_config=highest()
    )


def _moved(e: Emitter, w: Value, order: Axes) -> Value:
    """A kernel, its axes of space made one, in another order.

    Features and results keep their order: moving the taps alone stays within a row of memory,
    where the transpose that XLA would write takes up to eight times as long.
    """
    flat = e.reshape(w, (*w.type.shape[:2], math.prod(w.type.shape[2:])))
    if order == (0, 1, 2):
        return flat
    moved = _turned(e, flat, order)
    return e.op("optimization_barrier", moved.type, moved)


def _joined(e: Emitter, w: Value, first: bool) -> Value:
    """A matrix of the first two axes as one, or else of the last two."""
    a, b, c = w.type.shape
    return e.reshape(w, (a * b, c) if first else (a, b * c))


def _by_taps(e: Emitter, w: Value, kernel: Axes) -> tuple[Value, int]:
    """A kernel as a matrix, and its axis of taps and features, in that order."""
    if w.turned is not None:
        moved = _turned(e, w, (*kernel[2:], kernel[1], kernel[0]))
        shape = moved.type.shape
        return e.reshape(moved, (math.prod(shape[:-1]), shape[-1])), 0
    if kernel[0] < kernel[1]:
        return _joined(e, _moved(e, w, (0, 2, 1)), first=False), 1
    return _joined(e, _moved(e, w, (2, 0, 1)), first=True), 0


def _by_features(e: Emitter, w: Value, kernel: Axes, taps_first: bool) -> tuple[Value, int]:
    """A kernel as a matrix, and its axis of features; the other is taps and results, or these."""
    if kernel[0] < kernel[1]:
        order = (2, 0, 1) if taps_first else (0, 2, 1)
        return _joined(e, _moved(e, w, order), first=True), 1
    order = (0, 2, 1) if taps_first else (0, 1, 2)
    return _joined(e, _moved(e, w, order), first=False), 0


def _patches(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """What the kernel sees at each place as a row of a matrix, times the kernel."""
    data, kernel = window.data, window.kernel
    places = _space(type, window.result)
    rows = _turned(e, x, (data[0], *data[2:], data[1]))
    rows = _padded(e, rows, window.padding, window.outer)
    starts = [
        tuple(t * g for t, g in zip(taps, window.inner, strict=True))
        for taps in _steps(_space(w.type, kernel), window.backward)
    ]
    sizes = tuple(places)
    seen = _slices(e, rows, starts, sizes, window.strides)
    lines = e.reshape(seen, (math.prod(seen.type.shape[:-2]), math.prod(seen.type.shape[-2:])))
    out = w.type.shape[kernel[0]]
    matrix, axis = _by_taps(e, w, kernel)
    made = _dot(e, type.with_shape((lines.type.shape[0], out)), lines, matrix, ((1,), (axis,)))
    return _from_rows(e, type, made, window)


def _products(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """Each place of the data times the whole kernel; then what belongs together is added."""
    data, kernel = window.data, window.kernel
    places = _space(type, window.result)
    rows = _turned(e, x, (data[0], *data[2:], data[1]))
    out, n = w.type.shape[kernel[0]], len(places)
    taps = math.prod(_space(w.type, kernel))
    there = rows.type.shape[:-1]
    taps_first = math.prod(there) > rows.type.shape[-1]  # then the kernel is smaller: it is moved
    matrix, axis = _by_features(e, w, kernel, taps_first)
    made = _dot(e, type.with_shape((*there, out * taps)), rows, matrix, ((n + 1,), (axis,)))
    made = e.reshape(made, (*there, taps, out) if taps_first else (*there, out, taps))
    one, ones = (1, out) if taps_first else (out, 1), (1,) * (n + 3)
    terms = []
    for i, tap in enumerate(_steps(_space(w.type, kernel), window.backward)):
        begin = (*(0,) * (n + 1), i, 0) if taps_first else (*(0,) * (n + 2), i)
        term = e.reshape(static_slice(e, made, begin, (*there, *one), ones), (*there, out))
        terms.append(_placed(e, term, tap, places, window))
    total = reduce(lambda a, b: e.op("add", a.type, a, b), terms)
    return _from_rows(e, type, total, window)


def _placed(e: Emitter, x: Value, tap: Axes, places: Shape, window: Window) -> Value:
    """Products with one tap, each at the place of the result that it belongs to."""
    pairs = []
    for axis, t in enumerate(tap):
        low = window.padding[axis][0] - t * window.inner[axis]
        wanted = (places[axis] - 1) * window.strides[axis] + 1
        long = (x.type.shape[axis + 1] - 1) * window.outer[axis] + 1
        pairs.append((low, wanted - long - low))
    spread = _padded(e, x, tuple(pairs), window.outer)
    whole = (x.type.shape[0], *places, x.type.shape[-1])
    return static_slice(e, spread, (0,) * len(whole), whole, (1, *window.strides, 1))


def _places(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """All that makes one place of the result as a column of a matrix: for gradients of kernels."""
    data, kernel, result = window.data, window.kernel, window.result
    rows = _turned(e, x, (data[1], *data[2:], data[0]))
    rows = _padded(e, rows, window.padding, window.outer)
    other, bound = _unmoved(e, w, kernel)
    places, taps = _space(type, result), _space(w.type, kernel)
    starts = [
        tuple(p * s for p, s in zip(place, window.strides, strict=True))
        for place in _steps(places, (False,) * len(places))
    ]
    seen = _slices(e, rows, starts, taps, window.inner)
    batch, out = x.type.shape[data[0]], w.type.shape[kernel[0]]
    there = type.with_shape((out, len(starts), batch))
    lines = tuple(range(len(places) + 1))
    made = e.reshape(_dot(e, there, other, seen, (bound, lines)), (out, *places, batch))
    order = (result[1], *result[2:], result[0])
    return _turned(e, made, tuple(int(i) for i in np.argsort(order)))


def _unmoved(e: Emitter, w: Value, kernel: Axes) -> tuple[Value, Axes]:
    """What a kernel is in memory, and where its features and taps are there.

    XLA does not see that a transpose in blocks and back again is none.
    """
    if w.turned is None:
        return w, kernel[1:]
    source, axes = w.turned
    return source, tuple(axes[axis] for axis in kernel[1:])


def _as_it_is(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    data, kernel, result = window.data, window.kernel, window.result
    numbers = hlo.ConvDimensionNumbers.get(
        data[0], data[1], list(data[2:]),
        kernel[1], kernel[0], list(kernel[2:]),
        result[0], result[1], list(result[2:]),
    )  # fmt: skip
    return e.op(
        "convolution",
        type,
        x,
        w,
        window_strides=i64s(window.strides),
        padding=ir.DenseElementsAttr.get(np.array(window.padding, np.int64)),
        lhs_dilation=i64s(window.outer),
        rhs_dilation=i64s(window.inner),
        window_reversal=ir.DenseBoolArrayAttr.get(list(window.backward)),
        dimension_numbers=numbers,
        feature_group_count=i64(window.feature_groups),
        batch_group_count=i64(window.batch_groups),
        precision_config=highest(),
    )


LOWERINGS[ops.convolution] = _convolution
