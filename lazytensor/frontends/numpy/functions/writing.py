"""Functions that write to chosen elements of their first argument."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar, starts
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray
from lazytensor.frontends.numpy.arrays.array import wrap as wrapped
from lazytensor.frontends.numpy.arrays.conversion import mask_of, operand
from lazytensor.frontends.numpy.arrays.shadow import same_elements, shadow
from lazytensor.frontends.numpy.functions.indices import within
from lazytensor.frontends.numpy.functions.results import check_cast
from lazytensor.frontends.numpy.functions.selecting import lines
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.indexing.assignment import settled, stored, write_host
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert, host_leaf


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """See numpy.put_along_axis."""
    check_writeable(arr)
    node, places, place = lines(arr, indices, axis)
    own = list(node.type.shape)
    own[place] = places.type.shape[place]
    shape = np.broadcast_shapes(tuple(own), places.type.shape)
    spread = ops.broadcast(places, shape=shape)
    index = [
        spread
        if i == place
        else ops.iota(dtype=S64, shape=shape, axis=i)
        if n > 1
        else ops.broadcast(scalar(0, S64), shape=shape)
        for i, n in enumerate(node.type.shape)
    ]
    updates = ops.broadcast(convert(operand(values), node.type.dtype), shape=shape)
    made = ops.scatter(node, updates, *index, axes=tuple(range(len(shape))), mode="set")
    arr.ref.write(ops.reshape(made, shape=arr.shape))


def check_writeable(x: Any) -> None:
    """Raise NumPy's error unless `x` is an array that may be written to."""
    if not issubclass(type(x), ndarray):  # NumPy's own counts as one
        raise TypeError(f"argument 1 must be numpy.ndarray, not {x.__class__.__name__}")
    if not issubclass(type(x), Lazy):
        raise HostOnly("NumPy writes to its own arrays")
    if not shadow(x).flags.writeable:
        raise ValueError("assignment destination is read-only")


def _cycled(values: Any, size: int, dtype: np.dtype) -> Node:
    """The values as one row, repeated to `size` elements."""
    given = _assigned(values, dtype)
    line = ops.line(given)
    times = -(-size // line.type.size)
    if times > 1:
        row = ops.reshape(line, shape=(1, line.type.size))
        wide = ops.broadcast(row, shape=(times, line.type.size))
        line = ops.reshape(wide, shape=(times * line.type.size,))
    if line.type.size > size:
        line = ops.slice(line, starts((0,)), sizes=(size,), strides=(1,))
    return line


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """See numpy.put."""
    if isinstance(a, np.generic):  # lazy scalars too: NumPy writes to an array made of one
        np.put(np.zeros((), a.dtype), real(ind), real(v), mode)
        return
    check_writeable(a)
    node = a.node
    refuse_unless(node.type.size or not np.size(ind))
    places = within(ind, node.type.size, mode)
    places = ops.line(places)
    given = _assigned(v, node.type.dtype)
    if not places.type.size or not given.type.size:
        return
    flat = ops.line(node)
    updates = _cycled(wrapped(given), places.type.size, node.type.dtype)
    made = ops.scatter(flat, updates, places, axes=(0,), mode="set")
    a.ref.write(ops.reshape(made, shape=node.type.shape))


def _brought(values: Any, dtype: np.dtype) -> Node:
    """Values as they are assigned to elements of `dtype`; arrays must be cast to it safely."""
    if isinstance(values, ndarray):
        check_cast(operand(values).type.dtype, dtype, "safe")
    return _assigned(values, dtype)


def _assigned(values: Any, dtype: np.dtype) -> Node:
    """Values as they are assigned to elements of `dtype`. Raises: OverflowError, TypeError."""
    if isinstance(values, np.generic | Lazy | np.ndarray):
        return settled(convert(operand(values), dtype))
    return host_leaf(np.array(real(values), dtype))


def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """See numpy.putmask."""
    check_writeable(a)
    node, flags = a.node, convert(operand(mask), BOOL)
    refuse_unless(flags.type.size == node.type.size)
    given = _brought(values, node.type.dtype)
    if not node.type.size or not given.type.size:
        return
    filler = ops.reshape(
        _cycled(wrapped(given), node.type.size, node.type.dtype), shape=node.type.shape
    )
    a.ref.write(ops.select(ops.reshape(flags, shape=node.type.shape), filler, node))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """See numpy.place."""
    check_writeable(arr)
    node, flags = arr.node, convert(operand(mask), BOOL)
    refuse_unless(flags.type.size == node.type.size)
    values = _brought(vals, node.type.dtype)
    flags = ops.line(flags)
    if not values.type.size:
        refuse_unless(not np.any(real(wrapped(flags))))
        return
    values = ops.line(values)
    if values.type.size > 1:
        rank = ops.cumsum(convert(flags, S64), axis=0) - 1
        turn = ops.maximum(rank, scalar(0, S64)) % values.type.size
        values = ops.gather(values, turn, axes=(0,))
    flat = ops.line(node)
    arr.ref.write(ops.reshape(ops.select(flags, values, flat), shape=node.type.shape))


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """See numpy.copyto."""
    if not issubclass(type(dst), Lazy):
        mask = real(where)
        if mask is True:
            write_host(dst, operand(src), casting)
        else:
            np.copyto(dst, real(src), casting=casting, where=mask)
        return
    if same_elements(src, dst):
        return
    if type(src) is int and type(dst) is not Scalar:
        np.array(src, dst.dtype)  # raises first of all if it does not fit
    check_writeable(dst)
    if type(src) not in (int, float, complex, bool):
        check_cast(operand(src).type.dtype, dst.dtype, casting)
    elif casting != "unsafe":
        np.copyto(np.zeros((), dst.dtype), src, casting=casting)
    value = stored(src, dst.type)
    if where is not True:
        mask = mask_of(where)
        value = ops.select(ops.broadcast(mask, shape=dst.shape), value, dst.node)
    dst.ref.write(value)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """See numpy.fill_diagonal."""
    refuse_unless(a.ndim >= 2)
    check_writeable(a)
    node = a.node
    shape = node.type.shape
    if len(shape) == 2:
        step = shape[1] + 1
        end = node.type.size if wrap else min(node.type.size, shape[1] * shape[1])
    elif len(set(shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    else:
        step, end = sum(shape[0] ** i for i in range(len(shape))), node.type.size
    count = len(range(0, end, step))
    given = _assigned(val, node.type.dtype)
    if not count:
        return
    values = _cycled(wrapped(given), count, node.type.dtype)
    if len(shape) == 2 and count == min(shape):
        a.ref.write(ops.update_diagonal(node, values, offset=0, axis1=0, axis2=1))
        return
    flat = ops.line(node)
    made = ops.update_slice(flat, values, starts((0,)), strides=(step,))
    a.ref.write(ops.reshape(made, shape=shape))


LAZY = named(copyto, fill_diagonal, place, put, put_along_axis, putmask)
