"""Quantiles of weighted data."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib.quantiles import weighted_ranks
from lazytensor.core.lib.ranking import lined
from lazytensor.frontends.numpy.functions.indices import every
from lazytensor.frontends.numpy.functions.reductions import Axes
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert

BAD = "Weights included NaN, inf or were all zero."


def weighted(node: Node, weights: Node, axes: Axes, q: np.ndarray, method: Any) -> Node:
    """The elements at which the running share of the weights reaches each of `q`, in a last axis.

    Invalid weights raise when they are computed.
    """
    refuse_unless(method == "inverted_cdf")
    line = lined(node, axes)
    last = line.type.ndim - 1
    if not line.type.shape[last] or weights.type.dtype.kind == "c":
        raise Unsupported("weighted quantiles of nothing, or complex weights")
    shares = lined(_fitted(weights, node, axes), axes)
    line, shares = ops.sort(line, convert(shares, F64), axis=last, keys=1)
    running = _running(shares, last)
    if q.dtype.kind == "f":
        running = convert(running, q.dtype)
    none = ops.equal(running, scalar(0.0, running.type.dtype))
    running = ops.select(none, scalar(-1.0, running.type.dtype), running)
    return weighted_ranks(line, running, q)


def _running(shares: Node, axis: int) -> Node:
    """The running sum of the weights, divided by their total."""
    flag = ops.guard(
        every(shares >= 0.0),
        error=ValueError,
        text="Weights must be non-negative.",
    )
    total = ops.reduce_sum(ops.guarded(shares, flag), axes=(axis,))
    good = ops.is_finite(total) & ops.not_equal(total, scalar(0.0, F64))
    flag = ops.guard(every(good), error=ValueError, text=BAD)
    running = ops.guarded(ops.cumsum(shares, axis=axis), flag)
    end = ops.reshape(total, shape=(*total.type.shape, 1))
    return running / end


def _fitted(weights: Node, node: Node, axes: Axes) -> Node:
    """Weights broadcast to each element of `node`."""
    shape = node.type.shape
    if weights.type.shape == shape:
        return weights
    refuse_unless(len(axes) != len(shape) or len(axes) <= 1)
    refuse_unless(weights.type.shape == tuple(shape[axis] for axis in axes))
    if len(axes) > 1:
        raise Unsupported("weights over several axes")
    spread = tuple(n if i in axes else 1 for i, n in enumerate(shape))
    return ops.broadcast(ops.reshape(weights, shape=spread), shape=shape)
