"""Convolution, in the form that is fastest on XLA:CPU for its shape.

XLA's own fast kernels read rows of features, (batch, space, features), and no kernel backwards. So
data in another layout are transposed first, and a kernel is reversed in memory, as a reversed
window runs in a plain loop, up to a hundred times slower. With many features and few places, one
matrix product is faster still (`unfolding`). If an element of the result is a sum of few products,
that sum is fastest (`depthwise`). Where no rule decides, the forms are measured, see `choice`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as hlo

from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.convolution import choice, library
from lazytensor.backends.xla.convolution.depthwise import by_taps, has_few_terms, is_depthwise
from lazytensor.backends.xla.convolution.lines import by_lines
from lazytensor.backends.xla.convolution.placement import Window
from lazytensor.backends.xla.convolution.unfolding import (
    by_patches,
    by_places,
    by_products,
    from_rows,
    is_led_by_space,
    reordered,
    space,
)
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.contraction import highest
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.splitting import split_if_lacking
from lazytensor.core import ops
from lazytensor.core.interpreter.convolutions import Role
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.contraction import Axes, Pairs, dense, layouts

TAPS_BOUND: Final = 64
"""Largest number of a kernel's taps, or of a result's places, in one matrix product."""
MATRIX_ELEMENTS_BOUND: Final = 2**26
"""Largest number of elements in that matrix."""
THIN: Final = 96
"""Largest number of features in the result for `by_lines`: there the matrix of all patches costs
much beside the product."""
LINE_PRODUCTS: Final = 64
"""Products in a line of taps from which lines have always been faster than whole patches."""
CALLED_ELEMENTS: Final = 2**22
"""Elements of the matrix in `by_products` from which a framework's function has always won."""
FEW_FEATURES: Final = 8
"""Features from which a framework's gradient of a kernel has always beaten `by_places`."""
KNOWN_BEST_PRODUCTS: Final = 2**27
"""Products from which a framework's function is not measured, see `_is_known_best`."""
MANY_FEATURES: Final = 16
"""Features of both sides of these convolutions, at least."""
CALL_FACTOR: Final = 1.25
"""Seconds of a framework's function in a program, by those alone: nothing is fused with it."""
WINDOW_BOUND: Final = 256
"""Taps of a kernel from which a TPU's compiler takes minutes for a convolution of f32 in f32. A
kernel's gradient is such a convolution: its own kernel is as large as the result's picture."""
WORTH: Final = 2**20
"""Products in a convolution from which forms are measured."""
KNOWN_MATRIX_ELEMENTS_BOUND: Final = 2**24
"""Products from which forms are measured where one form is known to be good."""


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
    if e.is_plain:
        large = math.prod(space(w.type, window.kernel)) > WINDOW_BOUND
        if e.platform == "tpu" and large and "places" in _suitable(type, x.type, w.type, window):
            return by_places(e, type, x, w, window)
        terms = w.type.size // max(w.type.shape[window.kernel[0]], 1)
        plain = partial(_as_it_is, window=window)
        return split_if_lacking(e, "convolution", type, x, w, terms, plain)
    return _of_what_is_met(e, type, x, w, window)


def _of_what_is_met(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """The convolution without the taps and places of the result that meet padding only."""
    sizes = space(w.type, window.kernel), space(type, window.result)
    window, taps, places = window.met(space(x.type, window.data), *sizes)
    if taps != [(0, n) for n in sizes[0]]:
        begin, shape = [0] * type.ndim, list(w.type.shape)
        lines = zip(window.kernel[2:], sizes[0], taps, window.backward, strict=True)
        for axis, n, (first, last), back in lines:
            begin[axis], shape[axis] = n - last if back else first, last - first
        w = static_slice(e, w, tuple(begin), tuple(shape), (1,) * type.ndim)
    low, high, shape = [0] * type.ndim, [0] * type.ndim, list(type.shape)
    for axis, n, (first, last) in zip(window.result[2:], sizes[1], places, strict=True):
        low[axis], high[axis], shape[axis] = first, n - last, last - first
    made = _fastest(e, type.with_shape(tuple(shape)), x, w, window)
    if made.type == type:
        return made
    return e.op(
        "pad", type, made, e.constant(0, type.dtype),
        edge_padding_low=i64s(low), edge_padding_high=i64s(high),
        interior_padding=i64s([0] * type.ndim),
    )  # fmt: skip


def _fastest(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    if is_depthwise(type, x.type, w.type, window):
        return by_taps(e, type, x, w, window)
    forms = _suitable(type, x.type, w.type, window)
    size = type.size * w.type.size // w.type.shape[window.kernel[0]]
    if len(forms) == 1:
        taken = "rows"
    elif size < KNOWN_MATRIX_ELEMENTS_BOUND and _is_matrix(type, x.type, w.type, window):
        taken = _natural(forms, window)
    elif "library" in forms and _is_known_best(size, x.type, w.type, window):
        taken = "library"
    elif size < WORTH:
        taken = "taps" if "taps" in forms and window.data[0] < window.data[1] else "rows"
    else:
        forms = _worth_measuring(forms, type, x.type, w.type, window)
        taken = choice.fastest(
            f"convolution {window}", type, (x.type, w.type), forms, e.lowerings, window,
            dearer={"library": CALL_FACTOR},
        )  # fmt: skip
    return forms[taken](e, type, x, w, window)


def _is_known_best(size: int, x: TensorType, w: TensorType, window: Window) -> bool:
    """Whether a framework's function is the fastest form, or near it, without measuring.

    So it is for large pictures of many features, unless places are skipped.
    """
    features = min(x.shape[max(window.data[:2])], w.shape[window.kernel[0]])  # the batch is first
    skips = max(*window.strides, *window.outer, *window.inner) > 1
    return size >= KNOWN_BEST_PRODUCTS and features >= MANY_FEATURES and x.ndim > 3 and not skips


def _worth_measuring(
    forms: dict[str, Form], type: TensorType, x: TensorType, w: TensorType, window: Window
) -> dict[str, Form]:
    """The forms without those that XLA compiles longest where another one has always won."""
    line = w.shape[window.kernel[1]] * math.prod(space(w, window.kernel)[1:])
    beaten = set()
    if "lines" in forms and line >= LINE_PRODUCTS:
        beaten.add("patches")
    if "library" in forms:
        beaten.add("lines")
        if _elements_of_products(x, w, window) > CALLED_ELEMENTS:
            beaten.add("products")
        has_many = x.shape[window.data[0]] >= FEW_FEATURES
        if has_many and library.role(type, x, w, window) is Role.OF_KERNEL:
            beaten.add("places")
    return {name: form for name, form in forms.items() if name not in beaten}


def _is_matrix(type: TensorType, x: TensorType, w: TensorType, window: Window) -> bool:
    """Whether XLA's own convolution would mostly read the kernel from memory, or transpose it.

    Then one matrix product is up to 20 times as fast: in ResNet-50's last layers, a batch has fewer
    places than features.
    """
    kernel, result = window.kernel, window.result
    if 1 in (math.prod(space(w, kernel)), math.prod(space(type, result))):
        return True
    if window.data[0] > window.data[1]:  # the gradient of a kernel
        return w.size // w.shape[kernel[0]] <= x.shape[window.data[0]]
    return type.size // type.shape[result[1]] <= w.shape[kernel[1]]


def _natural(forms: dict[str, Form], window: Window) -> str:
    """The form that moves the least data."""
    data, kernel = window.data, window.kernel
    by_features = max(window.outer) > 1 or (not is_led_by_space(kernel) and kernel[1] < kernel[0])
    if data[0] > data[1]:
        wanted: tuple[str, ...] = ("places",)
    elif by_features:
        wanted = ("products", "patches", "places")
    else:
        wanted = ("patches", "products", "places")
    return next((name for name in wanted if name in forms), "rows")


def _suitable(type: TensorType, x: TensorType, w: TensorType, window: Window) -> dict[str, Form]:
    """The forms that can compute these shapes."""
    found: dict[str, Form] = {"rows": _rows}
    n, kernel = type.ndim, window.kernel
    trailing, leading = kernel[2:] == tuple(range(2, n)), is_led_by_space(kernel)
    grouped = window.feature_groups != 1 or window.batch_groups != 1
    if grouped or not (n - 2 and type.size and x.size and w.size):
        return found
    if has_few_terms(type, x, w, window):
        found["taps"] = by_taps
    taps, places = math.prod(space(w, kernel)), math.prod(space(type, window.result))
    features = w.shape[kernel[1]]
    seen = x.shape[window.data[0]] * places * features * taps
    one = leading and taps == 1
    if (
        taps <= TAPS_BOUND
        and seen <= MATRIX_ELEMENTS_BOUND
        and (trailing or one or (leading and kernel[1] < kernel[0]))
    ):
        found["patches"] = by_patches
    if (
        taps <= TAPS_BOUND
        and _elements_of_products(x, w, window) <= MATRIX_ELEMENTS_BOUND
        and (trailing or one or (leading and kernel[0] < kernel[1]))
    ):
        found["products"] = by_products
    if places <= TAPS_BOUND and not any(window.backward) and seen <= MATRIX_ELEMENTS_BOUND:
        found["places"] = by_places
    if _is_for_lines(type, w, window):
        found["lines"] = by_lines
    if library.role(type, x, w, window) is not None:
        found["library"] = library.by_library
    return found


def _elements_of_products(x: TensorType, w: TensorType, window: Window) -> int:
    """The elements of the matrix that `by_products` makes."""
    return x.size // x.shape[window.data[1]] * (w.size // w.shape[window.kernel[1]])


def _is_for_lines(type: TensorType, w: TensorType, window: Window) -> bool:
    """Whether a matrix of all taps is expensive, and lines of padding are few."""
    taps, places = space(w, window.kernel), space(type, window.result)
    thin = w.shape[window.kernel[0]] <= THIN and math.prod(taps) <= TAPS_BOUND
    forward = window.data[0] < window.data[1] and window.strides[0] == window.outer[0] == 1
    return thin and forward and len(taps) > 1 and 1 < taps[0] < places[0]


def _rows(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """XLA's own convolution of rows of features."""
    n, data, kernel = type.ndim, window.data, window.kernel
    backward = tuple(a for a, back in zip(kernel[2:], window.backward, strict=True) if back)
    if backward:
        w = e.op("reverse", w.type, w, dimensions=i64s(backward))
    x = reordered(e, x, (data[0], *data[2:], data[1]))
    w = reordered(e, w, (*kernel[2:], kernel[1], kernel[0]))
    order = (window.result[0], *window.result[2:], window.result[1])
    rows, taps = (0, n - 1, *range(1, n - 1)), (n - 1, n - 2, *range(n - 2))
    plain = window._replace(data=rows, kernel=taps, result=rows, backward=(False,) * (n - 2))
    there = type.with_shape(tuple(type.shape[axis] for axis in order))
    return from_rows(e, type, _as_it_is(e, there, x, w, plain), window)


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


ROWS: Rows = {ops.convolution: _convolution}
