"""Evenly spaced numbers between ends that may be lazy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.signal import spaced
from lazytensor.frontends.numpy.arrays.array import wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import common, result_type
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """See numpy.linspace."""
    count = operator.index(num)
    refuse_unless(count >= 0)
    kind = result_type(start, stop, float(count))
    first, last = (convert(node, kind) for node in common(start, stop))
    first, last = (ops.broadcast(x, shape=_both(first, last)) for x in (first, last))
    gaps = count - 1 if endpoint else count
    step = (last - first) / (float(gaps) if gaps > 0 else np.nan)
    rank = first.type.ndim
    made = spaced(first, last, step, count, endpoint and count > 1)
    place = normalize_axis_index(operator.index(axis), rank + 1)
    if place:
        order = (*range(1, place + 1), 0, *range(place + 1, rank + 1))
        made = ops.transpose(made, axes=order)
    if dtype is not None:
        wanted = canonical(np.dtype(dtype))
        made = convert(ops.floor(made) if wanted.kind in "iu" else made, wanted)
    return (wrap(made), wrap_result(step)) if retstep else wrap(made)


def _both(first: Node, last: Node) -> tuple[int, ...]:
    return np.broadcast_shapes(first.type.shape, last.type.shape)


def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """See numpy.logspace."""
    if np.ndim(base):
        rank = max(np.ndim(start), np.ndim(stop), np.ndim(base))
        start, stop, base = (np.asanyarray(x) for x in (start, stop, base))
        base = base.reshape((1,) * (rank - base.ndim) + base.shape)
        start, stop = (x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (start, stop))
        base = np.expand_dims(base, axis)
    line = linspace(start, stop, num, endpoint, axis=axis)
    made = np.power(base, line)
    return made if dtype is None else made.astype(dtype, copy=False)


LAZY: dict[str, Function] = {"linspace": linspace, "logspace": logspace}
