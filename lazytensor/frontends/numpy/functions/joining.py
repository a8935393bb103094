"""Functions that join arrays: concatenation, repetition, rolling."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import arranging
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import operand, result_type
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.functions.results import check_cast, deliver
from lazytensor.frontends.numpy.functions.signatures import Function, along, named
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, dummy, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert


def joined(
    nodes: Sequence[Node], axis: int, out: Any = None, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Nodes joined along an axis, converted to `dtype` or their common one."""
    refuse_unless(out is None or dtype is None)
    if dtype is None:
        wanted = result_type(*(node.type.dtype for node in nodes))
    else:
        wanted = canonical(np.dtype(dtype))
        for node in nodes:
            check_cast(node.type.dtype, wanted, casting)
    made = arranging.joined([convert(node, wanted) for node in nodes], axis)
    return deliver(made, out, casting)


def concatenate(
    arrays: Any,
    /,
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """See numpy.concatenate."""
    nodes = [operand(x) for x in arrays]
    refuse_unless(nodes)
    if axis is None:
        nodes = [ops.line(node) for node in nodes]
        axis = 0
    rank = nodes[0].type.ndim
    refuse_unless(rank != 0)
    place = normalize_axis_index(operator.index(axis), rank)
    try:
        return joined(nodes, place, out, dtype, casting)
    except ValueError:
        np.concatenate([dummy(node.type) for node in nodes], axis)
        raise


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """See numpy.repeat."""
    node, place = along(a, axis, least=1)
    counts = np.asarray(real(repeats))
    if counts.dtype.kind not in "iub" or counts.ndim > 1 or (counts < 0).any():
        raise HostOnly(f"repeats of {counts.dtype}")
    if counts.size == 1:
        return wrap(arranging.repeated(node, int(counts.item()), place))
    return wrap(arranging.picked(node, np.repeat(np.arange(node.type.shape[place]), counts), place))


def tile(A: Any, reps: Any) -> Any:
    """See numpy.tile."""
    node = operand(A)
    try:
        counts = tuple(operator.index(n) for n in reps)
    except TypeError:
        counts = (operator.index(reps),)
    counts = (1,) * (node.type.ndim - len(counts)) + counts
    refuse_unless(min(counts, default=0) >= 0)
    return wrap(arranging.tiled(node, counts))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """See numpy.roll."""
    node = operand(a)
    shape = node.type.shape
    if axis is None:
        total = int(np.asarray(real(shift)).sum())
        return wrap(ops.reshape(arranging.rolled(ops.line(node), total, 0), shape=shape))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    places = [normalize_axis_index(operator.index(i), len(shape)) for i in axes]
    pairs = np.broadcast(real(shift), places)
    refuse_unless(pairs.ndim <= 1)
    for count, place in pairs:
        node = arranging.rolled(node, int(count), int(place))
    made = wrap(node)
    lay_out_like(made, a)
    return made


def resize(a: Any, new_shape: Any) -> Any:
    """See numpy.resize."""
    node = operand(a)
    given = (new_shape,) if isinstance(new_shape, int | np.integer) else new_shape
    shape = tuple(map(operator.index, given))
    refuse_unless(min(shape, default=0) >= 0)
    size = math.prod(shape)
    if not node.type.size or not size:
        return wrap(ops.broadcast(convert(operand(0), node.type.dtype), shape=shape))
    times = -(-size // node.type.size)
    line = arranging.tiled(ops.line(node), (times,))
    return wrap(ops.reshape(ops.part(line, 0, 0, size), shape=shape))


LAZY: dict[str, Function] = named(concatenate, repeat, resize, roll, tile, concat=concatenate)
