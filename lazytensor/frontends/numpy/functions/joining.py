"""Functions that join arrays: concatenation, stacking, tiling, rolling."""

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
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.results import check_cast, deliver
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
        nodes = [ops.reshape(node, shape=(node.type.size,)) for node in nodes]
        axis = 0
    rank = nodes[0].type.ndim
    refuse_unless(rank != 0)
    place = normalize_axis_index(operator.index(axis), rank)
    try:
        return joined(nodes, place, out, dtype, casting)
    except ValueError:
        np.concatenate([dummy(node.type) for node in nodes], axis)
        raise


def stack(
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """See numpy.stack."""
    nodes = [operand(x) for x in arrays]
    refuse_unless(nodes)
    shape = nodes[0].type.shape
    refuse_unless(all(node.type.shape == shape for node in nodes))
    place = normalize_axis_index(operator.index(axis), len(shape) + 1)
    return joined([ops.new_axis(n, place) for n in nodes], place, out, dtype, casting)


def _in_rows(node: Node) -> Node:
    shape = node.type.shape
    if len(shape) > 1:
        return node
    return ops.reshape(node, shape=(1, node.type.size))


def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """See numpy.vstack."""
    return concatenate([wrap(_in_rows(operand(x))) for x in tup], 0, dtype=dtype, casting=casting)


def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """See numpy.hstack."""
    nodes = [n if n.type.ndim else ops.reshape(n, shape=(1,)) for n in map(operand, tup)]
    axis = 0 if nodes and nodes[0].type.ndim == 1 else 1
    return concatenate(list(map(wrap, nodes)), axis, dtype=dtype, casting=casting)


def dstack(tup: Any) -> Any:
    """See numpy.dstack."""
    nodes = [_in_rows(operand(x)) for x in tup]
    deep = [n if n.type.ndim > 2 else ops.reshape(n, shape=(*n.type.shape, 1)) for n in nodes]
    return concatenate(list(map(wrap, deep)), 2)


def column_stack(tup: Any) -> Any:
    """See numpy.column_stack."""
    nodes = [operand(x) for x in tup]
    columns = [n if n.type.ndim > 1 else ops.reshape(n, shape=(n.type.size, 1)) for n in nodes]
    return concatenate(list(map(wrap, columns)), 1)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """See numpy.append."""
    return concatenate((arr, values), axis)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """See numpy.repeat."""
    node = operand(a)
    if axis is None:
        node = ops.reshape(node, shape=(node.type.size,))
        axis = 0
    if not node.type.ndim:  # as NumPy does, as a scalar has no axis
        node = ops.reshape(node, shape=(1,))
    place = normalize_axis_index(operator.index(axis), node.type.ndim)
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
        flat = ops.reshape(node, shape=(node.type.size,))
        return wrap(ops.reshape(arranging.rolled(flat, int(_total(shift)), 0), shape=shape))
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    places = [normalize_axis_index(operator.index(i), len(shape)) for i in axes]
    pairs = np.broadcast(real(shift), places)
    refuse_unless(pairs.ndim <= 1)
    for count, place in pairs:
        node = arranging.rolled(node, int(count), int(place))
    made = wrap(node)
    lay_out_like(made, a)
    return made


def _total(shift: Any) -> Any:
    return np.asarray(real(shift)).sum()


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
    line = arranging.tiled(ops.reshape(node, shape=(node.type.size,)), (times,))
    return wrap(ops.reshape(ops.part(line, 0, 0, size), shape=shape))


LAZY: dict[str, Function] = {
    "append": append,
    "column_stack": column_stack,
    "concat": concatenate,
    "concatenate": concatenate,
    "dstack": dstack,
    "hstack": hstack,
    "repeat": repeat,
    "resize": resize,
    "roll": roll,
    "stack": stack,
    "tile": tile,
    "vstack": vstack,
}
