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
from lazytensor.frontends.numpy.functions.signatures import Function, Given, like, named
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert


@like(np.linspace)
def linspace(given: Given) -> Any:
    """See numpy.linspace."""
    start, stop, endpoint = given.start, given.stop, given.endpoint
    count = operator.index(given.num)
    refuse_unless(count >= 0)
    kind = result_type(start, stop, float(count))
    first, last = (convert(node, kind) for node in common(start, stop))
    first, last = (ops.broadcast(x, shape=_both(first, last)) for x in (first, last))
    gaps = count - 1 if endpoint else count
    step = (last - first) / (float(gaps) if gaps > 0 else np.nan)
    rank = first.type.ndim
    made = spaced(first, last, step, count, endpoint and count > 1)
    place = normalize_axis_index(operator.index(given.axis), rank + 1)
    if place:
        order = (*range(1, place + 1), 0, *range(place + 1, rank + 1))
        made = ops.transpose(made, axes=order)
    if given.dtype is not None:
        wanted = canonical(np.dtype(given.dtype))
        made = convert(ops.floor(made) if wanted.kind in "iu" else made, wanted)
    return (wrap(made), wrap_result(step)) if given.retstep else wrap(made)


def _both(first: Node, last: Node) -> tuple[int, ...]:
    return np.broadcast_shapes(first.type.shape, last.type.shape)


LAZY: dict[str, Function] = named(linspace)
