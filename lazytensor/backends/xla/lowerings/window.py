"""Lowering of windowed reductions.

XLA:CPU's own loop over windows is slow. It is several times faster to reduce axis by axis, with a
window as a combination of shifted slices, because these fuse.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.reduction import COMBINE, HALF_DTYPES
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, S64
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.reduction import identity, window_shape

Ints = tuple[int, ...]

MOST_SHIFTS: Final = 16
"""Largest size of a window along one axis that is combined from shifted slices."""


def _reduce_window(
    e: Emitter,
    type: TensorType,
    x: Value,
    *,
    kind: str,
    window: Ints,
    strides: Ints,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Ints,
    window_dilation: Ints,
) -> Value:
    wide = F32 if type.dtype in HALF_DTYPES and kind in ("sum", "prod") else type.dtype
    x = e.convert(x, wide)
    if not type.size:
        return e.full(0, type)
    if e.is_plain:
        found = _native(e, x, kind, window, strides, padding, base_dilation, window_dilation)
        return e.convert(found, type.dtype)
    x = _padded(e, x, kind, padding, base_dilation)
    axes = [i for i in range(type.ndim) if x.type.shape[i] != type.shape[i] or window[i] > 1]
    for axis in sorted(axes, key=lambda i: -strides[i]):  # the axes that shrink most come first
        x = _along(e, x, kind, axis, window[axis], strides[axis], window_dilation[axis])
    return e.convert(x, type.dtype)


def _padded(
    e: Emitter, x: Value, kind: str, padding: tuple[tuple[int, int], ...], dilation: Ints
) -> Value:
    between = [d - 1 for d in dilation]
    if not any(between) and not any(map(any, padding)):
        return x
    shape = tuple(
        low + high + n + max(n - 1, 0) * gap
        for (low, high), n, gap in zip(padding, x.type.shape, between, strict=True)
    )
    return e.op(
        "pad",
        x.type.with_shape(shape),
        x,
        e.constant(identity(kind, x.type.dtype), x.type.dtype),
        edge_padding_low=i64s(low for low, _ in padding),
        edge_padding_high=i64s(high for _, high in padding),
        interior_padding=i64s(between),
    )


def _along(
    e: Emitter, x: Value, kind: str, axis: int, size: int, stride: int, dilation: int
) -> Value:
    """Windows along one axis of a padded operand."""
    ones = (1,) * x.type.ndim

    def along(number: int) -> Ints:
        return (*ones[:axis], number, *ones[axis + 1 :])

    no_padding = ((0, 0),) * x.type.ndim
    way = along(size), along(stride), no_padding, ones, along(dilation)
    if size > MOST_SHIFTS:
        return _native(e, x, kind, *way)
    shape = window_shape(x.type.shape, *way)
    parts = []
    for i in range(size):
        begin = [0] * x.type.ndim
        begin[axis] = i * dilation
        parts.append(static_slice(e, x, tuple(begin), shape, along(stride)))
    while len(parts) > 1:  # a tree rounds less than a chain
        pairs = zip(parts[::2], parts[1::2], strict=False)
        odd = parts[len(parts) // 2 * 2 :]
        parts = [COMBINE[kind](e, a.type, a, b) for a, b in pairs] + odd
    return parts[0]


def _native(
    e: Emitter,
    x: Value,
    kind: str,
    window: Ints,
    strides: Ints,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Ints,
    window_dilation: Ints,
) -> Value:
    x = workarounds.hide_from_windows(e, x)
    unit = tensor_type(x.type.dtype)
    shape = window_shape(x.type.shape, window, strides, padding, base_dilation, window_dilation)
    return e.region_op(
        "reduce_window",
        [x.type.with_shape(shape)],
        [x, e.constant(identity(kind, x.type.dtype), x.type.dtype)],
        [([unit, unit], lambda a, b: [COMBINE[kind](e, unit, a, b)])],
        window_dimensions=i64s(window),
        window_strides=i64s(strides),
        base_dilations=i64s(base_dilation),
        window_dilations=i64s(window_dilation),
        padding=ir.DenseElementsAttr.get(np.array(padding, S64).reshape(-1, 2)),
    )[0]


ROWS: Rows = {ops.reduce_window: _reduce_window}
