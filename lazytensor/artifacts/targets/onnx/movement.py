"""StableHLO's operations that move elements, as ONNX nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lazytensor.artifacts.targets.onnx.elementwise import Rule
from lazytensor.artifacts.targets.onnx.graph import Graph, Refused
from lazytensor.backends.xla.portable.operations import Operation

INT64: Final = np.dtype("int64")
START: Final = -(2**62)
"""Before the first element of every axis, for slices that run backwards."""


def _constant(g: Graph, op: Operation) -> str:
    return g.constant(op.attributes["value"])


def _iota(g: Graph, op: Operation) -> str:
    type, axis = g.type(op.results[0]), op.attributes["iota_dimension"]
    shape = g.static(op.results[0], "an iota")
    along = [1] * len(shape)
    along[axis] = shape[axis]
    return g.constant(np.broadcast_to(np.arange(shape[axis]).reshape(along), shape), type.dtype)


def _dynamic_iota(g: Graph, op: Operation, sizes: str) -> str:
    type, axis = g.type(op.results[0]), op.attributes["iota_dimension"]
    sizes = g.cast(sizes, INT64)
    size = g.node("Gather", sizes, g.constant(axis, INT64), axis=0)
    zero, one = g.constant(0, INT64), g.constant(1, INT64)
    line = g.cast(g.node("Range", zero, size, one), type.dtype)
    along = [1] * len(type.shape)
    along[axis] = -1
    return g.node("Expand", g.reshape(line, along), sizes)


def _broadcast(g: Graph, op: Operation, x: str) -> str:
    shape = g.static(op.results[0], "a broadcast")
    placed = _placed(g, op, x)
    made = placed if shape == _placed_shape(g, op) else g.node("Expand", placed, g.ints(shape))
    if x in g.values:
        g.values[made] = g.values[x]
    return made


def _dynamic_broadcast(g: Graph, op: Operation, x: str, sizes: str) -> str:
    return g.node("Expand", _placed(g, op, x), g.cast(sizes, INT64))


def _placed_shape(g: Graph, op: Operation) -> tuple[int, ...]:
    shape = [1] * len(g.type(op.results[0]).shape)
    given = g.type(op.operands[0]).shape
    for axis, n in zip(op.attributes["broadcast_dimensions"], given, strict=True):
        shape[axis] = n
    return tuple(shape)


def _placed(g: Graph, op: Operation, x: str) -> str:
    """The operand with its axes at their places in the result, sizes of 1 between them."""
    shape = _placed_shape(g, op)
    if shape == g.type(op.operands[0]).shape:
        return x
    if shape.count(-1) < 2:
        return g.reshape(x, shape)
    kept = op.attributes["broadcast_dimensions"]
    return g.node("Unsqueeze", x, g.ints(i for i in range(len(shape)) if i not in kept))


def _reshape(g: Graph, op: Operation, x: str) -> str:
    return g.reshape(x, g.static(op.results[0], "a reshape"))


def _dynamic_reshape(g: Graph, op: Operation, x: str, sizes: str) -> str:
    return g.node("Reshape", x, g.cast(sizes, INT64), allowzero=1)


def _transpose(g: Graph, op: Operation, x: str) -> str:
    return g.transpose(x, op.attributes["permutation"])


def _reverse(g: Graph, op: Operation, x: str) -> str:
    axes = op.attributes["dimensions"]
    ones = [-1] * len(axes)
    return g.node("Slice", x, g.ints(ones), g.ints([START] * len(axes)), g.ints(axes), g.ints(ones))


def _slice(g: Graph, op: Operation, x: str) -> str:
    starts, limits = (g.ints(op.attributes[f"{k}_indices"]) for k in ("start", "limit"))
    return _sliced(g, x, starts, limits, op.attributes["strides"])


def _sliced(g: Graph, x: str, starts: str, limits: str, strides: Sequence[int]) -> str:
    return g.node("Slice", x, starts, limits, g.ints(range(len(strides))), g.ints(strides))


def _real_dynamic_slice(g: Graph, op: Operation, x: str, *bounds: str) -> str:
    starts, limits, strides = (g.cast(each, INT64) for each in bounds)
    axes = g.ints(range(len(g.type(op.operands[0]).shape)))
    return g.node("Slice", x, starts, limits, axes, strides)


def starts_of(
    g: Graph, op: Operation, first: int, shape: Sequence[int], part: Sequence[int]
) -> str:
    """The starts of a slice, scalars from operand `first` on, moved to where it fits in `shape`."""
    parts = [g.reshape(g.cast(g.names[x], INT64), [1]) for x in op.operands[first:]]
    if not parts:
        return g.ints([])
    joined = g.node("Concat", *parts, axis=0)
    last = g.ints(n - k for n, k in zip(shape, part, strict=True))
    return g.node("Min", g.node("Max", joined, g.ints([0] * len(parts))), last)


def _dynamic_slice(g: Graph, op: Operation, x: str, *_: str) -> str:
    sizes, shape = op.attributes["slice_sizes"], g.static(op.operands[0], "a dynamic slice")
    if not sizes:
        return g.node("Identity", x)
    starts = starts_of(g, op, 1, shape, sizes)
    return _sliced(g, x, starts, g.node("Add", starts, g.ints(sizes)), [1] * len(sizes))


def _dynamic_update_slice(g: Graph, op: Operation, x: str, update: str, *_: str) -> str:
    shape, part = (g.type(value).shape for value in op.operands[:2])
    partly = [i for i, (n, k) in enumerate(zip(shape, part, strict=True)) if n != k]
    if not partly:
        return g.node("Identity", update)
    if len(partly) == 1:
        return _between(g, op, x, update, partly[0])
    for value in op.operands[:2]:
        g.static(value, "an update of a slice")
    grid = np.stack(np.meshgrid(*map(np.arange, part), indexing="ij"), axis=-1)
    starts = starts_of(g, op, 2, shape, part)
    return g.node("ScatterND", x, g.node("Add", g.constant(grid, INT64), starts), update)


def _between(g: Graph, op: Operation, x: str, update: str, axis: int) -> str:
    """What lies before and after an update that is whole on all axes but this one."""
    n, part = (g.type(value).shape[axis] for value in op.operands[:2])
    if min(n, part) < 0:
        raise Refused("an update of a slice of a size that is known at run time only")
    start = g.reshape(g.cast(g.names[op.operands[2 + axis]], INT64), [1])
    start = g.node("Min", g.node("Max", start, g.ints([0])), g.ints([n - part]))
    first = g.node("Slice", x, g.ints([0]), start, g.ints([axis]))
    rest = g.node("Slice", x, g.node("Add", start, g.ints([part])), g.ints([n]), g.ints([axis]))
    return g.node("Concat", first, update, rest, axis=axis)


def _concatenate(g: Graph, op: Operation, *xs: str) -> str:
    return g.node("Concat", *xs, axis=op.attributes["dimension"])


def _pad(g: Graph, op: Operation, x: str, value: str) -> str:
    low, high, between = (
        op.attributes[f"{k}"] for k in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    for axis, gap in enumerate(between):
        if gap:
            x = spread(g, x, g.static(op.operands[0], "padding"), axis, gap, value, between[:axis])
    if not any(low) and not any(high):
        return x
    return g.node("Pad", x, g.ints([*low, *high]), value)


def spread(
    g: Graph, x: str, shape: Sequence[int], axis: int, gap: int, value: str, before: Sequence[int]
) -> str:
    """`x` with `gap` elements between neighbours on an axis. before: the gaps of earlier axes."""
    sizes = [n + max(0, n - 1) * k for n, k in zip(shape, before, strict=False)]
    sizes = [*sizes, *shape[len(sizes) :]]
    apart = g.reshape(x, [*sizes[: axis + 1], 1, *sizes[axis + 1 :]])
    more = [0] * (len(sizes) + 1)
    more[axis + 1] = gap
    wide = g.node("Pad", apart, g.ints([0] * len(more) + more), value)
    n = sizes[axis] * (gap + 1)
    joined = g.reshape(wide, [*sizes[:axis], n, *sizes[axis + 1 :]])
    ends = g.ints([max(0, n - gap)])
    return g.node("Slice", joined, g.ints([0]), ends, g.ints([axis]), g.ints([1]))


def _dynamic_pad(g: Graph, op: Operation, x: str, value: str, *sides: str) -> str:
    low, high, _ = (g.cast(each, INT64) for each in sides)
    return g.node("Pad", x, g.node("Concat", low, high, axis=0), value)


def _dimension_size(g: Graph, op: Operation, x: str) -> str:
    size = g.node("Gather", g.node("Shape", x), g.constant(op.attributes["dimension"], INT64))
    return g.cast(size, g.type(op.results[0]).dtype)


ROWS: Final[dict[str, Rule]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "constant": _constant,
    "dynamic_broadcast_in_dim": _dynamic_broadcast,
    "dynamic_iota": _dynamic_iota,
    "dynamic_pad": _dynamic_pad,
    "dynamic_reshape": _dynamic_reshape,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "get_dimension_size": _dimension_size,
    "iota": _iota,
    "pad": _pad,
    "real_dynamic_slice": _real_dynamic_slice,
    "reshape": _reshape,
    "reverse": _reverse,
    "slice": _slice,
    "transpose": _transpose,
}
