"""Lowerings of the cumulative ops.

XLA's own method is a window as long as the axis, split into a tree. On a CPU one loop along the
axis is three times faster if it carries enough independent lines (SCAN_LANES), so that one addition
does not wait for the one before. If the operand has fewer lines, a line is cut into parts.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import INEXACT, Emitter, Lowering, Rows
from lazytensor.backends.xla.lowerings.loops import repeat
from lazytensor.backends.xla.lowerings.movement import reverse as backwards
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.reduction import COMBINE, HALF_DTYPES, reduced
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, FLOATS, S64
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.reduction import identity

SCAN_LANES: Final = 8
PLAIN_SCAN_ELEMENTS: Final = 4096
"""Elements up to which XLA's own method is used: it costs little."""
BLOCK_LENGTH: Final = 64
"""Length of a block in a scan by blocks."""
MOST_LANES: Final = 4096
"""Largest number of elements in one step of a loop that takes all lines together."""


def cumulative(kind: str) -> Lowering:
    """A row: running reductions along an axis."""

    def lower(e: Emitter, type: TensorType, x: Value, *, axis: int, reverse: bool) -> Value:
        n = type.shape[axis]
        if not type.size or n == 1:
            return x
        wide = F32 if type.dtype in HALF_DTYPES and kind in ("sum", "prod") else type.dtype
        x = e.convert(backwards(e, x, [axis] if reverse else []), wide)
        before, after = math.prod(type.shape[:axis]), math.prod(type.shape[axis + 1 :])
        x = e.reshape(x, (before, n, after))
        if e.platform == "tpu":
            found = _blocks(e, x, kind)
        elif type.size <= PLAIN_SCAN_ELEMENTS or e.is_plain:
            found = _window(e, x, kind)
        else:
            found = _lines(e, x, kind)
        found = e.convert(e.reshape(found, type.shape), type.dtype)
        return backwards(e, found, [axis] if reverse else [])

    return lower


def _start(e: Emitter, kind: str, dtype: np.dtype) -> Value:
    number = identity(kind, dtype)
    return e.constant(-0.0 if kind == "sum" and dtype in FLOATS else number, dtype)  # keeps -0.0


def _window(e: Emitter, x: Value, kind: str) -> Value:
    """By windows along the middle axis: each element with all before it."""
    x = workarounds.hide_from_windows(e, x)
    unit = tensor_type(x.type.dtype)
    n = x.type.shape[1]
    ones = i64s([1, 1, 1])
    return e.region_op(
        "reduce_window",
        [x.type],
        [x, _start(e, kind, x.type.dtype)],
        [([unit, unit], lambda a, b: [COMBINE[kind](e, unit, a, b)])],
        window_dimensions=i64s([1, n, 1]),
        window_strides=ones,
        base_dilations=ones,
        window_dilations=ones,
        padding=ir.DenseElementsAttr.get(np.array([[0, 0], [n - 1, 0], [0, 0]], S64)),
    )[0]


def _doubling(e: Emitter, x: Value, kind: str) -> Value:
    """Along the middle axis, by steps: each element and the one 1, 2, 4, … before it."""
    m, n, k = x.type.shape
    step = 1
    while step < n:
        lead = e.expand(_start(e, kind, x.type.dtype), (m, step, k))
        before = static_slice(e, x, (0, 0, 0), (m, n - step, k), (1, 1, 1))
        shifted = e.op("concatenate", x.type, lead, before, dimension=i64(1))
        x = COMBINE[kind](e, x.type, shifted, x)
        step *= 2
    return x


def _blocks(e: Emitter, x: Value, kind: str) -> Value:
    """Along the middle axis: of short blocks, to which those before them are added.

    A TPU's compiler takes minutes for windows of f64.
    """
    m, n, k = x.type.shape
    if n <= BLOCK_LENGTH:
        return _doubling(e, x, kind)
    count = -(-n // BLOCK_LENGTH)
    whole = _padded(e, x, count * BLOCK_LENGTH)
    within = _doubling(e, e.reshape(whole, (m * count, BLOCK_LENGTH, k)), kind)
    blocks = e.reshape(within, (m, count, BLOCK_LENGTH, k))
    ends = static_slice(e, blocks, (0, 0, BLOCK_LENGTH - 1, 0), (m, count - 1, 1, k), (1,) * 4)
    sums = _blocks(e, e.reshape(ends, (m, count - 1, k)), kind)
    start = e.expand(_start(e, kind, x.type.dtype), (m, 1, k))
    before = e.op("concatenate", x.type.with_shape((m, count, k)), start, sums, dimension=i64(1))
    spread = e.place(before, blocks.type.shape, (0, 1, 3))
    found = e.reshape(COMBINE[kind](e, blocks.type, spread, blocks), whole.type.shape)
    return static_slice(e, found, (0, 0, 0), (m, n, k), (1, 1, 1))


def _lines(e: Emitter, x: Value, kind: str) -> Value:
    """Along the middle axis of `x[m,n,k]`, cut into parts if the lines are too few."""
    m, n, k = x.type.shape
    together = _lines_together(m, k)
    # A product of parts may be 0 * inf after the running product has become 0.
    whole = n < SCAN_LANES * SCAN_LANES or (kind == "prod" and x.type.dtype in INEXACT)
    parts = 1 if whole else max(SCAN_LANES // (together * k), 1)
    parts = next((p for p in range(parts, 2 * parts) if n % p == 0), parts)
    length = -(-n // parts)
    cut = e.reshape(_padded(e, x, parts * length), (m, parts, length, k))
    if parts == 1:
        start = e.expand(_start(e, kind, x.type.dtype), (m, 1, 1, k))
    else:
        start = _carried(e, reduced(e, cut, (2,), kind), kind)
    scanned = e.reshape(_scan(e, cut, start, kind, together), (m, parts * length, k))
    return static_slice(e, scanned, (0, 0, 0), (m, n, k), (1, 1, 1))


def _padded(e: Emitter, x: Value, length: int) -> Value:
    m, n, k = x.type.shape
    if n == length:
        return x
    zero = e.constant(0, x.type.dtype)
    none, end = i64s([0, 0, 0]), i64s([0, length - n, 0])
    type = x.type.with_shape((m, length, k))
    return e.op(
        "pad", type, x, zero, edge_padding_low=none, edge_padding_high=end, interior_padding=none
    )


def _scan(e: Emitter, x: Value, start: Value, kind: str, together: int) -> Value:
    """Running reductions along axis 2 of `x[m,p,n,k]`, each line begun with `start[m,p,1,k]`.

    They overwrite the operand: a second array would be a second stream through the cache.
    """
    m, p, n, k = x.type.shape
    line = x.type.with_shape((together, p, 1, k))
    zero = e.constant(0, S64)
    size = i64s(line.shape)

    def along(first: Value, array: Value, start: Value) -> tuple[Value, ...]:
        def step(i: Value, array: Value, running: Value) -> list[Value]:
            place = (first, zero, i, zero)
            part = e.op("dynamic_slice", line, array, *place, slice_sizes=size)
            running = COMBINE[kind](e, line, running, part)
            return [e.op("dynamic_update_slice", array.type, array, running, *place), running]

        mine = (first, zero, zero, zero)
        running = e.op("dynamic_slice", line, start, *mine, slice_sizes=size)
        return repeat(e, n, [array, running], step)[0], start

    if together == m:
        return along(zero, x, start)[0]
    stride = e.constant(together, S64)

    def group(g: Value, array: Value, start: Value) -> tuple[Value, ...]:
        return along(e.op("multiply", g.type, g, stride), array, start)

    return repeat(e, m // together, [x, start], group)[0]


def _lines_together(m: int, k: int) -> int:
    """The number of lines, each `k` wide, that one loop takes together: a divisor of `m`."""
    if m * k <= SCAN_LANES or (k >= SCAN_LANES and m * k <= MOST_LANES):
        return m
    return next(n for n in range(max(SCAN_LANES // k, 1), 0, -1) if m % n == 0)


def _carried(e: Emitter, totals: Value, kind: str) -> Value:
    """Per part of `totals[m,p,k]`: the reduction of all parts before it, `[m,p,1,k]`."""
    m, p, k = totals.type.shape
    one = totals.type.with_shape((m, 1, k))
    running = e.expand(_start(e, kind, totals.type.dtype), one.shape)
    columns = [running]
    for part in range(p - 1):
        total = static_slice(e, totals, (0, part, 0), one.shape, (1, 1, 1))
        running = COMBINE[kind](e, one, running, total)
        columns.append(running)
    return e.reshape(e.op("concatenate", totals.type, *columns, dimension=i64(1)), (m, p, 1, k))


ROWS: Rows = {
    ops.cumsum: cumulative("sum"),
    ops.cumprod: cumulative("prod"),
    ops.cummax: cumulative("max"),
    ops.cummin: cumulative("min"),
}
