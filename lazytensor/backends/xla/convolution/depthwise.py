"""Convolution of one or few features at a time, as sums of products of shifted data.

XLA:CPU computes it like any grouped convolution, which is 10 to 100 times slower, and the gradient
of its kernel like that of a full kernel. The sum is a function of its own, so that XLA does not
compute its operands again for each tap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Final

from lazytensor.backends.xla.attributes import i64
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.convolution.placement import Window
from lazytensor.backends.xla.convolution.unfolding import padded, reordered, space, steps
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.reduction import reduced
from lazytensor.backends.xla.lowerings.splitting import total
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.ops.contraction import Axes

PRODUCTS_BOUND: Final = 64
"""Largest number of products in one sum."""


def is_depthwise(type: TensorType, x: TensorType, w: TensorType, window: Window) -> bool:
    """Whether a sum of products is best: for features in many groups, or for a single feature."""
    groups, each = window.feature_groups, w.shape[window.kernel[1]]
    if window.batch_groups == 1:
        return (groups > 1 or each == 1) and has_few_terms(type, x, w, window)
    few = math.prod(space(type, window.result)) <= PRODUCTS_BOUND and not any(window.backward)
    alone = x.shape[window.data[0]] == window.batch_groups
    return few and alone and _is_real(type, x, w)


def has_few_terms(type: TensorType, x: TensorType, w: TensorType, window: Window) -> bool:
    """Whether an element of the result is a sum of at most `PRODUCTS_BOUND` products."""
    taps = math.prod(space(w, window.kernel))
    return taps * w.shape[window.kernel[1]] <= PRODUCTS_BOUND and _is_real(type, x, w)


def _is_real(*types: TensorType) -> bool:
    return all(type.dtype in (F32, F64) and type.size for type in types)


def by_taps(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """A convolution, or the gradient of a kernel: see `is_depthwise`."""
    data, kernel = window.data, window.kernel
    if window.batch_groups == 1:
        rows = reordered(e, x, (data[0], *data[2:], data[1]))
        other = reordered(e, w, (*kernel[2:], kernel[1], kernel[0]))
        order, run = (window.result[0], *window.result[2:], window.result[1]), _moved_over
    else:
        rows = reordered(e, x, (data[1], *data[2:], data[0]))
        other = reordered(e, w, (kernel[1], *kernel[2:], kernel[0]))
        order, run = (*window.result[2:], window.result[0], window.result[1]), _summed
    rows = padded(e, rows, window.padding, window.outer)
    there = type.with_shape(tuple(type.shape[axis] for axis in order))
    key, run = (run, window), partial(run, e, window=window)
    made = e.call("depthwise", run, key, there, rows, other)
    return reordered(e, made, tuple(order.index(axis) for axis in range(type.ndim)))


def _moved_over(e: Emitter, type: TensorType, rows: Value, w: Value, window: Window) -> Value:
    """Rows of features, padded, times a kernel of (space, features of a group, results)."""
    places, n = type.shape[1:-1], type.ndim - 2
    groups, times = window.feature_groups, type.shape[-1] // window.feature_groups
    each, taps = w.type.shape[-2], product(*steps(w.type.shape[:n], window.backward))
    lines = e.reshape(w, (w.type.size // type.shape[-1], groups, times))
    apart, alone = (type.shape[0], *places, groups, times), (*rows.type.shape[:-1], groups)
    ones = (1,) * (n + 1)
    terms = []
    for i, (tap, feature) in enumerate(product(taps, range(each))):
        of_each = static_slice(e, rows, (*(0,) * (n + 1), feature), alone, (*ones, each))
        seen = _seen(e, of_each, tap, window.inner, places, window.strides)
        one = static_slice(e, lines, (i, 0, 0), (1, groups, times), (1, 1, 1))
        factors = (
            e.place(seen, apart, range(n + 2)),
            e.place(e.reshape(one, (groups, times)), apart, (n + 1, n + 2)),
        )
        terms.append(e.op("multiply", type.with_shape(apart), *factors))
    return e.reshape(total(e, terms), type.shape)


def _summed(e: Emitter, type: TensorType, rows: Value, w: Value, window: Window) -> Value:
    """Per place of the result, the sum of padded rows times `w`: (batch, space, features)."""
    places, n = type.shape[:-2], type.ndim - 2
    groups, times = window.batch_groups, type.shape[-1] // window.batch_groups
    apart = (*w.type.shape[:-1], groups, times)
    other = e.reshape(w, apart)
    sums = []
    for place in product(*map(range, places)):
        seen = _seen(e, rows, place, window.strides, w.type.shape[1:-1], window.inner)
        terms = e.op("multiply", other.type, e.place(seen, apart, range(n + 2)), other)
        found = reduced(e, terms, tuple(range(n + 1)), "sum")
        sums.append(e.reshape(found, (1, groups * times)))
    whole = type.with_shape((len(sums), groups * times))
    made = sums[0] if len(sums) == 1 else e.op("concatenate", whole, *sums, dimension=i64(0))
    return e.reshape(made, type.shape)


def _seen(
    e: Emitter, rows: Value, tap: Sequence[int], gaps: Axes, sizes: Shape, strides: Axes
) -> Value:
    """The data that a tap meets at each place."""
    begin = tuple(t * gap for t, gap in zip(tap, gaps, strict=True))
    whole = (rows.type.shape[0], *sizes, rows.type.shape[-1])
    return static_slice(e, rows, (0, *begin, 0), whole, (1, *strides, 1))
