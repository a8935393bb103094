"""Histograms and repeated indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import histograms
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.core.lib.ranking import repeated_places
from lazytensor.core.ops.movement import part
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.torch.dispatch.errors import OutOfRangeError, all_sure, require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows, wrapped
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.rows.creation import filled


def _range(name: str, x: Node) -> tuple[Node, Node]:
    """The least and the largest of the line `x`: finite, which is checked when the program runs."""
    first, last = (op(x, axes=(0,)) for op in (ops.reduce_min, ops.reduce_max))
    if not is_inexact(x.type.dtype):
        return first, last
    finite = ops.is_finite(first) & ops.is_finite(last)
    text = f"{name}: the data's range is not finite"
    first, last = all_sure((first, last), finite, text, OutOfRangeError)
    return first, last


def _wide(x: Node) -> Node:
    """Integers as s64, floats as f32. Integers: torch has them on devices other than the CPU."""
    if not is_inexact(x.type.dtype):
        return cast_to(x, S64)
    return cast_to(x, F32) if x.type.dtype.itemsize < 4 else x


def _histc(x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Node:
    require(bins > 0 and min <= max)  # NaN fails
    given = operand(x)
    values = ops.line(given)
    wide = _wide(values)
    if min == max and wide.type.size:
        low, high = _range("torch.histc", wide)
    else:
        low, high = like(min, wide), like(max, wide)
    low, high = histograms.widened_range(low, high, 1)
    return cast_to(histograms.counted_evenly(wide, low, high, bins), given.type.dtype)


def _edges(name: str, x: Node, bins: int, limits: Any) -> Node:
    """The edges of `bins` equal bins, over `limits` or else the range of the line `x`."""
    if limits is None and x.type.size:
        low, high = _range(name, x)
    else:
        low, high = (like(value, x) for value in limits or (0, 1))
    low, high = histograms.widened_range(low, high, 0.5)
    return histograms.even_edges(low, high, bins)


def _counts(points: Sequence[Node], edges: Sequence[Node], weight: Any, density: bool) -> Node:
    """The number of points, or their weight, in each bin. Result: one axis for each of `edges`."""
    if weight is None:
        weights = filled(points[0].type.shape, 1, points[0].type.dtype)
    else:
        weights = ops.line(operand(weight))
    made = histograms.joint_histogram(points, edges, weights)
    if not density:
        return made
    total = ops.reduce_sum(made, axes=tuple(range(made.type.ndim)))
    return histograms.over_widths(made / total, edges)


def _histogram(
    x: Any, bins: Any, *, weight: Any = None, density: bool = False
) -> tuple[Node, Node]:
    edges = operand(bins)
    return _counts([ops.line(operand(x))], [edges], weight, density), edges


def _histogram_counted(
    x: Any, bins: int = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> tuple[Node, Node]:
    values = ops.line(operand(x))
    edges = _edges("torch.histogram", values, bins, range)
    return _counts([values], [edges], weight, density), edges


def _points(x: Any, weight: Any) -> list[Node]:
    """The coordinates along the last axis, a line each."""
    given = operand(x)
    shape = given.type.shape
    require(len(shape) >= 2 and given.type.dtype in FLOATS)
    if weight is not None:
        other = operand(weight).type
        require(other.shape == shape[:-1] and other.dtype == given.type.dtype)
    last = len(shape) - 1
    return [ops.line(part(given, last, i, 1)) for i in range(shape[-1])]


def _bin_edges(points: Sequence[Node], bins: Sequence[int], range_: Any) -> list[Node]:
    n = len(points)
    require(len(bins) == n and (range_ is None or len(range_) == 2 * n))
    limits: list[Any] = [None] * n
    if range_ is not None:
        limits = list(zip(range_[::2], range_[1::2], strict=True))
        require(all(low <= high for low, high in limits))
    return [
        _edges("torch.histogramdd", line, count, limit)
        for line, count, limit in zip(points, bins, limits, strict=True)
    ]


def _histogramdd_edges(
    x: Any, bins: Sequence[int], *, range: Any = None, weight: Any = None, density: bool = False
) -> list[Node]:
    return _bin_edges(_points(x, None), bins, range)  # torch looks at weights later


def _histogramdd_counted(
    x: Any, bins: Sequence[int], *, range: Any = None, weight: Any = None, density: bool = False
) -> Node:
    points = _points(x, weight)
    return _counts(points, _bin_edges(points, bins, range), weight, density)


def _histogramdd(x: Any, bins: Sequence[Any], *, weight: Any = None, density: bool = False) -> Node:
    points = _points(x, weight)
    require(len(bins) == len(points))
    require(all(b.dtype == x.dtype and b.ndim == 1 and bool(b.numel()) for b in bins))
    return _counts(points, [operand(line) for line in bins], weight, density)


def _repeat_interleave(repeats: Any, *, output_size: int | None = None) -> Any:
    """Without `output_size` the size is data, and the graph is cut: torch synchronises as well."""
    require(repeats.ndim == 1 and repeats.dtype in (torch.int32, torch.int64))
    counts = cast_to(operand(repeats), S64)
    positive = counts >= 0
    counts = sure(counts, positive, "repeats can not be negative")
    total = ops.reduce_sum(counts, axes=(0,))
    if output_size is None:
        output_size = int(scheduler.observe(total))
    else:
        exact = ops.equal(total, cast_to(output_size, S64))
        counts = sure(counts, exact, "allocated size does not match required size")
    made = cast_to(repeated_places(counts, output_size), operand(repeats).type.dtype)
    return wrapped(made)


ROWS: dict[str, Row] = {
    "histc": _histc,
    "histogram.bins_tensor": _histogram,
    "histogram.bin_ct": _histogram_counted,
    "_histogramdd_bin_edges": _histogramdd_edges,
    "_histogramdd_from_bin_cts": _histogramdd_counted,
    "_histogramdd_from_bin_tensors": _histogramdd,
}


rows(ROWS)
register("repeat_interleave.Tensor", _repeat_interleave)
