"""Histograms with a known number of bins: a scatter adds each number to its bin."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F64, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib import histograms
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import operand, result_type
from lazytensor.frontends.numpy.functions.differences import part
from lazytensor.frontends.numpy.functions.entry import has_lazy
from lazytensor.frontends.numpy.functions.indices import every, known
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert

NOT_FINITE = "autodetected range is not finite"
CROWDED = "Too many bins for data range. Cannot create %d finite-sized bins."
FALLING = "`bins` must increase monotonically, when an array"


def _line(a: Any) -> Node:
    """The data as one row. Raises: HostOnly unless they are real numbers."""
    node = operand(a)
    if node.type.dtype.kind not in "iuf":
        raise HostOnly("histogram of numbers that are not real: NumPy warns")
    return ops.line(node)


def _outer(line: Node, range: Any) -> tuple[Node, Node]:
    """The least and the greatest edge, as floats like the data or like `range`."""
    given = [line.type.dtype] if range is None else [operand(x).type.dtype for x in range]
    is_float = all(dtype.kind == "f" for dtype in given) and line.type.size
    dtype = result_type(*given) if is_float else F64
    if range is not None:
        low, high = (convert(operand(x), dtype) for x in range)
        if not has_lazy(*range):
            np.histogram_bin_edges(np.zeros(1), 1, range)  # may raise
    elif not line.type.size:
        return scalar(0.0, dtype), scalar(1.0, dtype)
    else:
        low = convert(ops.reduce_min(line, axes=(0,)), dtype)
        high = convert(ops.reduce_max(line, axes=(0,)), dtype)
        fine = ops.is_finite(low) & ops.is_finite(high)
        flag = ops.guard(fine, error=ValueError, text=NOT_FINITE)
        low, high = ops.guarded(low, flag), ops.guarded(high, flag)
    return histograms.widened_range(low, high, 0.5)


def _edges(line: Node, bins: Any, range: Any, like: bool = True) -> tuple[Node, bool]:
    """The edges, and whether they are evenly spaced.

    `like`: whether they have the data's dtype. Raises: HostOnly, TypeError.
    """
    if isinstance(bins, str):
        raise HostOnly("how many bins there are is data")
    if np.ndim(bins) == 0:
        count = operator.index(real(bins))
        refuse_unless(count >= 1)
        low, high = _outer(line, range)
        edges = _spaced(low, high, count)
        if like:
            dtype = result_type(line.type.dtype, *(range if range is not None else ()))
            edges = convert(edges, dtype if dtype.kind == "f" else F64)
        rises = every(part(edges, 0, 0, count) < part(edges, 0, 1, count + 1))
        return ops.guarded(edges, ops.guard(rises, error=ValueError, text=CROWDED % count)), True
    edges = operand(bins)
    refuse_unless(edges.type.ndim == 1)
    value = known(bins)
    if value is not None:
        refuse_unless(not np.any(value[:-1] > value[1:]))
        return edges, False
    n = edges.type.size
    rises = every(part(edges, 0, 0, n - 1) <= part(edges, 0, 1, n))
    return ops.guarded(edges, ops.guard(rises, error=ValueError, text=FALLING)), False


def _spaced(low: Node, high: Node, count: int) -> Node:
    """Evenly spaced edges, as by `linspace`. The last one is exactly `high`."""
    dtype = low.type.dtype
    places = ops.iota(dtype=S64, shape=(count + 1,), axis=0)
    step = (high - low) / float(count)
    found = convert(places, dtype) * step + low
    last = ops.equal(places, scalar(count, S64))
    return ops.select(last, high, found)


def _bins(line: Node, edges: Node, even: bool) -> tuple[Node, Node]:
    """The bin of each number, and whether it is in any."""
    dtype = result_type(line.type.dtype, edges.type.dtype)
    find = histograms.bin_of_even if even and dtype.kind == "f" else histograms.bin_of
    return find(convert(line, dtype), convert(edges, dtype))


def _weights(weights: Any, shape: tuple[int, ...]) -> Node | None:
    if weights is None:
        return None
    node = operand(weights)
    refuse_unless(node.type.shape == shape)
    if node.type.dtype == BOOL:
        raise HostOnly("weights that are flags")
    return ops.line(node)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """See numpy.histogram."""
    line = _line(a)
    shares = _weights(weights, operand(a).type.shape)
    edges, even = _edges(line, bins, range)
    counts = histograms.counted(*_bins(line, edges, even), shares, edges.type.size - 1)
    if density:
        widths = convert(histograms.widths(edges), F64)
        kind = result_type(counts.type.dtype, F64)
        total = convert(ops.reduce_sum(counts, axes=(0,)), kind)
        counts = convert(counts, kind) / convert(widths, kind) / total
    return wrap(counts), wrap(edges)


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """See numpy.histogram_bin_edges."""
    return wrap(_edges(_line(a), bins, range)[0])


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """See numpy.histogramdd."""
    columns = _columns(sample)
    depth = len(columns)
    each = list(bins) if isinstance(bins, Sequence) else [bins] * depth
    ranges: Any = [None] * depth if range is None else list(range)
    refuse_unless(len(each) == depth and len(ranges) == depth)
    refuse_unless(all(np.ndim(b) != 0 or real(b) >= 1 for b in each))
    wanted = zip(columns, each, ranges, strict=True)
    edges = [_edges(x, bins, range, like=False)[0] for x, bins, range in wanted]
    shape = tuple(e.type.size - 1 for e in edges)
    outer = [n + 2 for n in shape]  # NumPy has bins beyond both ends, too
    refuse_unless(math.prod(outer) < 2**63)
    pairs = [_shared(*pair) for pair in zip(columns, edges, strict=True)]
    points, lines = [column for column, _ in pairs], [line for _, line in pairs]
    shares = _weights(weights, columns[0].type.shape)
    made = convert(histograms.joint_histogram(points, lines, shares), F64)
    if density:
        total = ops.reduce_sum(made, axes=tuple(i for i, _ in enumerate(edges)))
        made = histograms.over_widths(made, edges) / total
    return wrap(made), list(map(wrap, edges))


def _shared(column: Node, edges: Node) -> tuple[Node, Node]:
    """Both in their common dtype."""
    dtype = result_type(column.type.dtype, edges.type.dtype)
    return convert(column, dtype), convert(edges, dtype)


def _columns(sample: Any) -> list[Node]:
    """The points' coordinates along each axis, from the rows of an array or a list of columns."""
    if isinstance(sample, list | tuple):
        columns = [_line(x) for x in sample]
        dtype = result_type(*(node.type.dtype for node in columns))
        return [convert(node, dtype) for node in columns]  # NumPy makes an array of them
    node = operand(sample)
    if node.type.ndim == 1:
        return [_line(sample)]
    if node.type.ndim != 2:
        raise HostOnly("histogramdd of points in an array of other than two axes")
    return [_line(sample[:, i]) for i in range(node.type.shape[1])]


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """See numpy.histogram2d."""
    refuse_unless(operand(x).type.shape == operand(y).type.shape)
    one = not isinstance(bins, Sequence) or len(bins) != 2
    if one and np.ndim(bins) > 0:
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, *edges


LAZY = named(histogram, histogram2d, histogram_bin_edges, histogramdd)
