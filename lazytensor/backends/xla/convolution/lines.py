"""Convolution as one matrix product that unfolds all spatial axes but the first.

If features are few, making the matrix of all taps takes half as long as the product. Unfolding
along the other axes alone makes a smaller matrix, a third for 3 x 3 taps; the products of taps
along the first axis are shifted in the result instead. The cost is that lines of padding are
multiplied too.
"""

from __future__ import annotations

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.convolution.placement import Window
from lazytensor.backends.xla.convolution.unfolding import (
    apart,
    dot,
    from_rows,
    padded,
    reordered,
    slices,
    space,
    steps,
)
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.splitting import total
from lazytensor.core.ir.types import TensorType


def by_lines(e: Emitter, type: TensorType, x: Value, w: Value, window: Window) -> Value:
    """Each line of the data times the lines of the kernel; then the shifted products are added.

    The first spatial axis must have a stride of 1.
    """
    data, kernel = window.data, window.kernel
    places, taps = space(type, window.result), space(w.type, kernel)
    rows = reordered(e, x, (data[0], *data[2:], data[1]))
    rows = padded(e, rows, window.padding, window.outer)
    first, *starts = apart(steps(taps, window.backward), window.inner)
    sizes = (rows.type.shape[1], *places[1:])
    seen = slices(e, rows, [[0], *starts], sizes, (1, *window.strides[1:]))
    matrix = reordered(e, w, (*kernel[3:], kernel[1], kernel[2], kernel[0]))
    out = w.type.shape[kernel[0]]
    matrix = e.reshape(matrix, (w.type.size // (taps[0] * out), taps[0] * out))
    there = type.with_shape((*seen.type.shape[:-2], taps[0] * out))
    lines = e.reshape(seen, (*seen.type.shape[:-2], matrix.type.shape[0]))
    made = dot(e, there, lines, matrix, ((there.ndim - 1,), (0,)))
    batch, _, *others, _ = there.shape
    part, begin = (batch, places[0], *others, out), (0,) * len(others)
    terms = [
        static_slice(e, made, (0, start, *begin, i * out), part, (1,) * there.ndim)
        for i, start in enumerate(first)
    ]
    return from_rows(e, type, total(e, terms), window)
