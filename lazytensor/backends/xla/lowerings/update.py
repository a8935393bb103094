"""The lowering of `update_slice`, which decides how fast stencils are.

A large update with known starts is a select between the padded value and the base: it fuses with
the computation of the value, and runs in place. So is one write of a line (a row, a column) into a
base that this program computes. Other small updates, and those whose starts are data, are a
`dynamic_update_slice`, which leaves the rest alone. So are lines of a base of which lines are read,
too, as borders are copied from one another (`F[0] = F[-2]; F[-1] = F[1]; …`). These lines are read
by a function that XLA does not inline: it would put the write before into the loop that reads, and
copy the whole base for each write.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows, is_thin
from lazytensor.backends.xla.lowerings.movement import (
    Ints,
    backward_axes,
    comparing,
    lowest,
    reverse,
    scalars,
    spans_of,
)
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.types import Shape, TensorType, tensor_type

LARGE_UPDATE_SHARE: Final = 8
"""An update is large if it is at least 1/8 of its base."""


def _update_slice(
    e: Emitter, type: TensorType, x: Value, value: Value, begin: Value, *, strides: Ints
) -> Value:
    sizes = value.type.shape
    if not value.type.size:
        return x
    if not type.ndim:
        return value
    written = value
    value = reverse(e, value, backward_axes(sizes, strides))
    if sizes == type.shape:
        return value
    steps = tuple(abs(s) for s in strides)
    if begin.constant is None:
        return _in_place(e, x, value, scalars(e, begin, sizes, strides), steps)
    corner = lowest(begin.constant, sizes, strides)
    is_line = is_thin(sizes, type.shape) and not (x.stored or x.bordered)
    if value.type.size * LARGE_UPDATE_SHARE >= type.size or is_line:
        result = _select(e, x, value, corner, steps)
        result.update = written, tuple(begin.constant.tolist()), strides
        return result
    result = _in_place(e, x, value, [e.constant(n, S64) for n in corner], steps)
    result.bordered = x.bordered
    return result


def _in_place(e: Emitter, x: Value, value: Value, corner: list[Value], steps: Ints) -> Value:
    sizes = value.type.shape
    spans = spans_of(sizes, steps)
    if spans != sizes:
        window = e.op(
            "dynamic_slice", x.type.with_shape(spans), x, *corner, slice_sizes=i64s(spans)
        )
        value = _select(e, window, value, (0,) * len(sizes), steps)
    return e.op("dynamic_update_slice", x.type, x, value, *corner)


def _select(e: Emitter, x: Value, value: Value, begin: Ints, steps: Ints) -> Value:
    """The update as a select; along an axis of one position the value is repeated, not padded."""
    shape, sizes = x.type.shape, value.type.shape
    partial = [axis for axis in range(len(shape)) if sizes[axis] != shape[axis]]
    mask = None
    for axis in partial:
        inside = _covered(e, shape, axis, begin[axis], sizes[axis], steps[axis])
        mask = inside if mask is None else e.op("and", mask.type, mask, inside)
    assert mask is not None
    padded = [axis for axis in partial if sizes[axis] != 1]
    repeated = tuple(n if axis in padded else shape[axis] for axis, n in enumerate(sizes))
    value = e.expand(value, repeated)
    if padded:
        spans = spans_of(sizes, steps)
        low = [begin[axis] if axis in padded else 0 for axis in range(len(shape))]
        high = [
            shape[axis] - begin[axis] - spans[axis] if axis in padded else 0
            for axis in range(len(shape))
        ]
        value = e.op(
            "pad",
            x.type,
            value,
            e.constant(0, x.type.dtype),
            edge_padding_low=i64s(low),
            edge_padding_high=i64s(high),
            interior_padding=i64s(s - 1 if a in padded else 0 for a, s in enumerate(steps)),
        )
    return e.op("select", x.type, mask, value, x)


def _covered(e: Emitter, shape: Shape, axis: int, begin: int, size: int, step: int) -> Value:
    """A flag per element: whether its index on `axis` is one of `begin + i * step`."""
    if step != 1 and size != 1:
        positions = np.zeros(shape[axis], bool)
        positions[begin : begin + (size - 1) * step + 1 : step] = True
        return e.place(e.constant(positions), shape, [axis])
    line = tensor_type(S32, (shape[axis],))
    index = e.op("iota", line, iota_dimension=i64(0))
    if size == 1:
        inside = _compare(e, index, begin, "EQ")
    else:
        low, high = _compare(e, index, begin, "GE"), _compare(e, index, begin + size, "LT")
        inside = e.op("and", low.type, low, high)
    return e.place(inside, shape, [axis])


def _compare(e: Emitter, x: Value, number: int, name: str) -> Value:
    bound = e.full(number, x.type)
    return e.op("compare", x.type.with_dtype(BOOL), x, bound, **comparing(x.type.dtype, name))


ROWS: Rows = {ops.update_slice: _update_slice}
