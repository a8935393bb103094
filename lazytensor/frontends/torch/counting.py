"""Histograms and repeated indices."""

from __future__ import annotations

from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.dtypes import F32, S64
from lazytensor.core.node import Node
from lazytensor.frontends.torch.creation import filled
from lazytensor.frontends.torch.joining import part
from lazytensor.frontends.torch.kernels import Row, functional, register, rows
from lazytensor.frontends.torch.promotion import cast_to, operand
from lazytensor.frontends.torch.sorting import search, whole


def _line(x: Node) -> Node:
    made: Node = ops.reshape(x, shape=(x.type.size,))
    return made


def _like(value: float, x: Node) -> Node:
    return cast_to(value, x.type.dtype)


def _added(count: int, weights: Node, places: Node) -> Node:
    made: Node = ops.scatter(
        filled((count,), 0, weights.type.dtype), weights, places, axes=(0,), mode="add"
    )
    return made


def _bounds(x: Node, low: Any, high: Any, around: float) -> tuple[Node, Node]:
    """The range of a histogram: where none is given the data's, and so much `around` one value."""
    if low == high and x.type.size:
        first, last = (op(x, axes=(0,)) for op in (ops.reduce_min, ops.reduce_max))
        if low != 0:
            first = last = _like(low, x)
    else:
        first, last = _like(low, x), _like(high, x)
    single = ops.equal(first, last)
    below = ops.select(single, ops.subtract(first, _like(around, x)), first)
    return below, ops.select(single, ops.add(last, _like(around, x)), last)


def _histc(x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Node:
    if bins <= 0:
        raise RuntimeError("torch.histc: bins must be > 0")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    given = operand(x)
    values = _line(given)
    wide = cast_to(values, F32) if values.type.dtype.itemsize < 4 else values
    low, high = _bounds(wide, min, max, 1)
    share = ops.divide(ops.subtract(wide, low), ops.subtract(high, low))
    places = cast_to(ops.floor(ops.multiply(share, _like(bins, wide))), S64)
    places = ops.minimum(places, whole(bins - 1))
    inside = ops.and_(ops.greater_equal(wide, low), ops.less_equal(wide, high))
    places = ops.select(inside, places, whole(bins))  # dropped
    ones = filled(wide.type.shape, 1, wide.type.dtype)
    return cast_to(_added(bins, ones, places), given.type.dtype)


def _histogram_of(x: Any, edges: Node, weight: Any, density: bool) -> tuple[Node, Node]:
    values = _line(operand(x))
    count = edges.type.size - 1
    weights = filled(values.type.shape, 1, values.type.dtype)
    if weight is not None:
        weights = _line(operand(weight))
    last = ops.reshape(part(edges, 0, count, 1), shape=())
    first = ops.reshape(part(edges, 0, 0, 1), shape=())
    places = ops.subtract(search(edges, values, True), whole(1))
    places = ops.select(ops.equal(values, last), whole(count - 1), places)
    inside = ops.and_(ops.greater_equal(values, first), ops.less_equal(values, last))
    made = _added(count, weights, ops.select(inside, places, whole(count)))
    if density:
        widths = ops.subtract(part(edges, 0, 1, count), part(edges, 0, 0, count))
        made = ops.divide(ops.divide(made, ops.reduce_sum(made, axes=(0,))), widths)
    return made, edges


def _histogram(
    x: Any, bins: Any, *, weight: Any = None, density: bool = False
) -> tuple[Node, Node]:
    return _histogram_of(x, operand(bins), weight, density)


def _histogram_counted(
    x: Any, bins: int = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> tuple[Node, Node]:
    values = _line(operand(x))
    first, last = range or (0, 0)
    low, high = _bounds(values, first, last, 0.5)
    places = ops.iota(dtype=S64, shape=(bins + 1,), axis=0)
    share = ops.divide(cast_to(places, values.type.dtype), _like(bins, values))
    edges = ops.add(low, ops.multiply(ops.subtract(high, low), share))
    edges = ops.select(ops.equal(places, whole(bins)), high, edges)
    return _histogram_of(x, edges, weight, density)


def _repeated(repeats: Any, output_size: int) -> Node:
    ends = ops.cumsum(cast_to(operand(repeats), S64), axis=0)
    places = ops.iota(dtype=S64, shape=(output_size,), axis=0)
    return search(ends, places, True)


def _repeat_interleave(repeats: Any, *, output_size: int | None = None) -> Any:
    """Where the size is not given it is data: torch synchronises, and so is it here."""
    if output_size is None:
        output_size = int(torch.ops.aten.sum.default(repeats).item())
    made = cast_to(_repeated(repeats, output_size), operand(repeats).type.dtype)
    return functional(lambda _: made)(repeats)


ROWS: dict[str, Row] = {
    "histc": _histc,
    "histogram.bins_tensor": _histogram,
    "histogram.bin_ct": _histogram_counted,
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS)
    register("repeat_interleave.Tensor", _repeat_interleave)
