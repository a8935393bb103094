"""Medians and quantiles: elements at ranks that depend on shapes alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import F64, S64
from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.quantiles import at_places, at_ranks_with_last, nan_where_last_is
from lazytensor.core.lib.ranking import interpolated, lined
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import operand, result_type
from lazytensor.frontends.numpy.functions import ordering
from lazytensor.frontends.numpy.functions.reductions import Axes, axes_within, kept
from lazytensor.frontends.numpy.functions.results import check_target, deliver
from lazytensor.frontends.numpy.functions.signatures import (
    NO_VALUE,
    Function,
    Given,
    like,
    named,
)
from lazytensor.frontends.numpy.functions.weighing import weighted
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs import delivery
from lazytensor.frontends.numpy.ufuncs.checks import warned
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert, number, warn_user


def _sorted(node: Node) -> Node:
    found: Node = ordering.sort(wrap(node)).node
    return found


def _ranked(line: Node, *ranks: int) -> tuple[Node, Node | None]:
    """The elements that sorting the last axis would put at `ranks`, and the last element.

    The last one is NaN if there is any. It is None for dtypes without NaN.
    """
    if line.type.dtype.kind == "c":  # which have an order of NumPy's
        line = _sorted(line)
        last = line.type.shape[-1] - 1
        return at_places(line, ranks), at_places(line, [last])
    return at_ranks_with_last(line, ranks)


@like(np.median)
def median(given: Given) -> Any:
    """See numpy.median."""
    node, out, keepdims = operand(given.a), given.out, given.keepdims
    axes = axes_within(given.axis, node.type.ndim)
    check_target(out, result_type(node.type.dtype, 0.0))
    if not node.type.ndim and keepdims:
        raise HostOnly("keepdims of a number: NumPy returns an array")
    line = lined(node, axes)
    size = line.type.shape[-1]
    if not size:
        warn_user("Mean of empty slice", RuntimeWarning)
        made = ops.mean(_inexact(line), axes=(line.type.ndim - 1,))
        return deliver(kept(node, made, axes, keepdims), out)
    middle = sorted({(size - 1) // 2, size // 2})
    found, last = _ranked(line, *middle)
    made = ops.mean(_inexact(found), axes=(line.type.ndim - 1,))
    if last is not None:
        made = nan_where_last_is(made, ops.reshape(last, shape=made.type.shape))
    return deliver(kept(node, made, axes, keepdims), out)


def _inexact(node: Node) -> Node:
    return convert(node, F64) if node.type.dtype.kind in "biu" else node


def _quantile(function: Function, scale: float, ignore_nan: bool) -> Function:
    """`quantile`, `percentile`, and their variants that leave NaN out."""

    @like(function)
    def quantile(given: Given) -> Any:
        node, q, out, weights = operand(given.a), given.q, given.out, given.weights
        method, keepdims = given.method, given.keepdims
        refuse_unless(node.type.dtype.kind != "c")
        wanted = np.true_divide(real(q), scale) if scale != 1 else np.asarray(real(q))
        wanted = np.asarray(wanted, None if wanted.dtype.kind == "f" else np.float64)
        refuse_unless(not wanted.size or (wanted.min() >= 0 and wanted.max() <= 1))
        if wanted.ndim > 2 or node.type.dtype == np.bool_ or (ignore_nan and weights is not None):
            text = "flags, weights beside NaN, or q of three axes"
            raise Unsupported(f"{function.__name__}: {text}")
        axes = axes_within(given.axis, node.type.ndim)
        if weights is not None:
            made = weighted(node, operand(weights), axes, wanted, method)
            made = _shaped(made, node, axes, wanted, keepdims)
            return wrap(made) if out is None else delivery.deliver(made, out)  # never a scalar
        dtype = result_type(node.type.dtype, 0.0 if type(q) in (int, float) else wanted.dtype)
        check_target(out, dtype)
        if ignore_nan and node.type.dtype.kind in "fV":
            made = _among_numbers(lined(node, axes), wanted, method, dtype)
        else:
            made = _among_all(lined(node, axes), wanted, method, dtype)
        return delivery.deliver(_shaped(made, node, axes, wanted, keepdims), out)

    return quantile


def _shaped(made: Node, node: Node, axes: Axes, q: np.ndarray, keepdims: Any) -> Node:
    """`made` with the axes of `q` first, then the axes that were not reduced."""
    rank = made.type.ndim
    made = ops.transpose(made, axes=(rank - 1, *range(rank - 1)))
    rest = made.type.shape[1:]
    if keepdims is not NO_VALUE and keepdims:
        rest = tuple(1 if i in axes else n for i, n in enumerate(node.type.shape))
    return ops.reshape(made, shape=(*q.shape, *rest))


@remembered(256)
def _positions(size: int, q: tuple[float, ...], method: Any, dtype: Any) -> np.ndarray:
    """The fractional positions of the quantiles among the sorted elements."""
    wanted = np.array(q, dtype)
    if method == "linear":
        return np.asarray((size - 1) * wanted)
    return np.asarray(np.quantile(np.arange(size, dtype=dtype), wanted, method=method))


def _among_all(line: Node, q: np.ndarray, method: Any, dtype: np.dtype) -> Node:
    size = line.type.shape[-1]
    refuse_unless(size)
    positions = _positions(size, tuple(q.ravel().tolist()), method, q.dtype)
    below = np.clip(np.floor(positions), 0, size - 1).astype(np.int64)
    above = np.minimum(below + 1, size - 1)
    share, n = positions - below, below.size
    found, last = _ranked(line, *below.tolist(), *above.tolist())
    low = at_places(found, range(n))
    if _discrete(method):
        return nan_where_last_is(low, last)
    if share.any():
        low = interpolated(low, at_places(found, range(n, 2 * n)), convert(operand(share), dtype))
    return nan_where_last_is(convert(low, dtype), last)


def _discrete(method: str) -> bool:
    return method in ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")


def _around(line: Node, q: np.ndarray) -> tuple[Node, Node, Node]:
    """The numbers below and above the quantiles, without NaN, and the share of the number above.

    The count of numbers is data. Both are NaN if there is no number.
    """
    axis = line.type.ndim - 1
    if not line.type.shape[axis]:
        warn_user("Mean of empty slice", RuntimeWarning)
        shape = (*line.type.shape[:axis], q.size)
        nothing = ops.broadcast(number(math.nan, line.type.dtype), shape=shape)
        return nothing, nothing, ops.broadcast(scalar(0.0, F64), shape=shape)
    flags = convert(~ops.is_nan(line), S64)
    count = ops.reduce_sum(flags, axes=(axis,))
    last = ops.reshape(count - 1, shape=(*count.type.shape, 1))
    positions = convert(last, F64) * operand(q.ravel())
    zero = scalar(0, S64)
    below = ops.maximum(convert(ops.floor(positions), S64), zero)
    above = ops.maximum(ops.minimum(below + 1, last), zero)
    line = _sorted(line)
    low, high = (ops.take_along(line, i, axis=axis) for i in (below, above))
    low = warned(low, ops.equal(count, zero), "All-NaN slice encountered")
    return low, high, positions - convert(below, F64)


def _among_numbers(line: Node, q: np.ndarray, method: str, dtype: np.dtype) -> Node:
    if method != "linear":
        raise Unsupported(f"nanquantile: method {method}")
    low, high, share = _around(line, q)
    return interpolated(low, high, convert(share, dtype))


@like(np.nanmedian)
def nanmedian(given: Given) -> Any:
    """See numpy.nanmedian."""
    node = operand(given.a)
    if node.type.dtype.kind not in "fcV":
        return median(**vars(given))
    axes = axes_within(given.axis, node.type.ndim)
    low, high, share = _around(lined(node, axes), np.array([0.5]))
    middle = (low + high) / 2.0
    made = ops.select(ops.equal(share, scalar(0.0, F64)), low, middle)
    if node.type.dtype.kind == "c":  # where all are NaN, imaginary parts are ignored
        none = share < 0.0
        made = ops.select(none, number(math.nan, node.type.dtype), made)
    made = ops.reshape(made, shape=made.type.shape[:-1])
    return deliver(kept(node, made, axes, given.keepdims), given.out)


LAZY: dict[str, Function] = named(
    median,
    nanmedian,
    _quantile(np.nanpercentile, 100, True),
    _quantile(np.nanquantile, 1, True),
    _quantile(np.percentile, 100, False),
    _quantile(np.quantile, 1, False),
)
