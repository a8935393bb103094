"""Sorting and searching.

TF's kernels compare, and NaN compares as false with everything: it has no place in their order.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import BOOL, FLOATS, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.arranging import stacked
from lazytensor.core.lib.histograms import counted
from lazytensor.core.lib.ranking import kth_smallest, unraveled
from lazytensor.core.ops.control import Region
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import number
from lazytensor.frontends.tf.rows.indexing import wide
from lazytensor.frontends.tf.rows.reductions import passed_over

INSERTION_SORT_ELEMENTS: Final = 16
"""Elements up to which `std::sort` inserts one after the other."""


def _top_k(x: Node, k: np.ndarray, *, sorted: bool = True, index_type: Any = None, **_: Any) -> Any:
    line, count = x.type.ndim - 1, int(k)
    values, places = ops.top_k(passed_over(x, True), k=count)
    if x.type.dtype in FLOATS:
        if 1 < count == x.type.shape[line] <= INSERTION_SORT_ELEMENTS:
            places = _inserted(x, places)
        values = ops.take_along(x, places, axis=line)
    return values, ops.convert(places, dtype=S32 if index_type is None else index_type)


def _inserted(x: Node, places: Node) -> Node:
    """The places that sort `x` descending: `places`, or where there is NaN, what inserting makes.

    Inserting puts an element in front of smaller ones until it meets one that is not: equal, or
    NaN. One that is greater than the first goes in front of all.
    """
    shape = prod(x.type.shape[:-1]), x.type.shape[-1]
    lines, order = ops.reshape(x, shape=shape), ops.reshape(places, shape=shape)
    places_ = ops.iota(dtype=S64, shape=shape, axis=1)
    missing = ops.reduce_or(ops.is_nan(lines), axes=(0, 1))
    zero, size = scalar(0, S64), scalar(shape[1], S64)
    state = (
        ops.broadcast(zero, shape=()),
        ops.select(missing, size, zero),
        lines,
        ops.select(missing, places_, order),
    )
    types = [node.type for node in state]
    made = ops.while_(
        *state,
        condition=Region("insertion: more", trace_types(_more, types, {})),
        body=Region("insertion", trace_types(_insertion, types, {})),
    )
    return ops.reshape(made[3], shape=x.type.shape)


def _more(time: Node, end: Node, *_: Node) -> Node:
    return time < end


def _insertion(time: Node, end: Node, lines: Node, order: Node) -> tuple[Node, ...]:
    """Element number `time` put in among those before it."""
    count, n = lines.type.shape
    at = ops.iota(dtype=S64, shape=(count, n), axis=1)
    column = ops.broadcast(time, shape=(count, 1))
    own = ops.take_along(lines, column, axis=1)
    better = own > ops.take_along(lines, order, axis=1)
    stops = (at < time) & ~better
    last = ops.select(stops, at + 1, scalar(0, S64))
    place = ops.reshape(ops.reduce_max(last, axes=(1,)), shape=(count, 1))
    place = ops.select(ops.part(better, 1, 0, 1), scalar(0, S64), place)
    before = ops.take_along(order, ops.maximum(at - 1, scalar(0, S64)), axis=1)
    moved = (at > place) & (at <= time)
    after = ops.select(moved, before, ops.select(ops.equal(at, place), time, order))
    return time + 1, end, lines, after


def _in_top_k(predictions: Node, targets: Node, k: np.ndarray, **_: Any) -> Node:
    """Whether targets are among the k best. A line with NaN or infinity gives False, as in TF."""
    places = ops.reshape(wide(targets), shape=(targets.type.size, 1))
    mine = ops.take_along(predictions, places, axis=1)
    better = ops.convert(predictions > mine, dtype=S32)
    ahead = ops.reduce_sum(better, axes=(1,))
    fine = ops.reduce_and(ops.is_finite(predictions), axes=(1,))
    return (ahead < int(k)) & fine


def _searched(behind: str) -> Function:
    def row(lines: Node, values: Node, *, out_type: Any = None, **_: Any) -> Node:
        found = ops.bisect(lines, values, behind=behind)
        return ops.convert(found, dtype=S32 if out_type is None else out_type)

    return row


def _nth(x: Node, n: np.ndarray, *, reverse: bool = False, **_: Any) -> Node:
    last = x.type.ndim - 1
    k = x.type.shape[last] - 1 - int(n) if reverse else int(n)
    if x.type.dtype in FLOATS or not 0 <= k < x.type.shape[last]:
        raise ValueError("NaN has no place in the order of TF's kernel")
    return kth_smallest(x, k, last)[0]


def _unravel(indices: Node, dims: np.ndarray, **_: Any) -> Node:
    lines = unraveled(wide(indices), tuple(dims.tolist()))
    return ops.convert(stacked(lines, 0), dtype=indices.type.dtype)


def _histogram(
    x: Node, ends: np.ndarray, bins: np.ndarray, *, dtype: np.dtype = S32, **_: Any
) -> Node:
    """Elements beyond the ends are counted in the outer bins."""
    low, high = ends.tolist()
    line = ops.line(x)
    step = number((high - low) / int(bins), x)
    places = ops.maximum(line - number(low, x), number(0, x)) / step
    places = ops.minimum(places, number(int(bins) - 1, x))
    every = ops.broadcast(scalar(True, BOOL), shape=line.type.shape)
    return ops.convert(counted(wide(places), every, None, int(bins)), dtype=dtype)


rows({"NthElement": _nth, "UnravelIndex": _unravel}, host=(1,))
rows({"HistogramFixedWidth": _histogram}, host=(1, 2))
rows({"InTopK": lambda x, targets, *, k, **_: _in_top_k(x, targets, np.array(k))})
rows({"LowerBound": _searched("less"), "UpperBound": _searched("not greater")})
rows({"InTopKV2": _in_top_k}, host=(2,))
rows({"TopKV2": _top_k}, host=(1,))
