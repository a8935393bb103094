"""Functions that choose elements, and functions that write to chosen ones."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.dtypes import BOOL, S64
from lazytensor.core.node import Node
from lazytensor.core.op import scalar, starts
from lazytensor.frontends.numpy.array import Lazy, asarray, wrap, wrap_result
from lazytensor.frontends.numpy.assignment import settled, stored, write_host
from lazytensor.frontends.numpy.errors import HostOnly
from lazytensor.frontends.numpy.fallback import real
from lazytensor.frontends.numpy.functions import reductions
from lazytensor.frontends.numpy.functions.entry import Function, entered
from lazytensor.frontends.numpy.functions.indices import every, within
from lazytensor.frontends.numpy.functions.joining import picked
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.results import check_cast, deliver
from lazytensor.frontends.numpy.functions.views import diagonal
from lazytensor.frontends.numpy.promotion import common, convert, operand
from lazytensor.frontends.numpy.shadow import shadow


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """See numpy.where."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    left, right = common(x, y)
    return wrap(ops.select(convert(operand(condition), BOOL), settled(left), settled(right)))


def nonzero(a: Any) -> Any:
    """See numpy.nonzero. The result's shape is data: it is computed now."""
    return entered(np.nonzero(real(asarray(a))))


def flatnonzero(a: Any) -> Any:
    """See numpy.flatnonzero."""
    return entered(np.flatnonzero(real(asarray(a))))


def argwhere(a: Any) -> Any:
    """See numpy.argwhere."""
    return entered(np.ascontiguousarray(np.argwhere(real(asarray(a)))))


def taken(node: Node, indices: Node, axis: int) -> Node:
    """Elements along an axis, the axes of `indices` in its place."""
    found: Node = ops.gather(node, indices, axes=(axis,))
    k, rank = indices.type.ndim, node.type.ndim
    order = (*range(k, k + axis), *range(k), *range(k + axis, k + rank - 1))
    return found if axis == 0 or k == 0 else ops.transpose(found, axes=order)


def take(
    a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise"
) -> Any:
    """See numpy.take."""
    node = operand(a)
    if axis is None or not node.type.ndim:
        node = ops.reshape(node, shape=(node.type.size,))
        axis = 0
    place = normalize_axis_index(operator.index(axis), node.type.ndim)
    n = node.type.shape[place]
    places = within(indices, n, mode)
    if not n and places.type.size:
        np.take(np.zeros(0), [0])  # raises
    if isinstance(places.value, np.ndarray) and places.type.ndim == 1 and node.value is None:
        return deliver(picked(node, places.value, place), out)
    return deliver(taken(node, places, place), out)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """See numpy.take_along_axis."""
    node, places, place = _lines(arr, indices, axis)
    return wrap_result(ops.take_along(node, places, axis=place))


def _lines(arr: Any, indices: Any, axis: Any) -> tuple[Node, Node, int]:
    array = asarray(indices)
    if array.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    node = operand(arr)
    if axis is None:
        if array.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        node = ops.reshape(node, shape=(node.type.size,))
        axis = 0
    place = normalize_axis_index(operator.index(axis), node.type.ndim)
    if array.ndim != node.type.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return node, within(array, node.type.shape[place]), place


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """See numpy.put_along_axis."""
    check_writeable(arr)
    node, places, place = _lines(arr, indices, axis)
    lines = list(node.type.shape)
    lines[place] = places.type.shape[place]
    shape = np.broadcast_shapes(tuple(lines), places.type.shape)
    spread = ops.broadcast(places, shape=shape)
    index = [
        spread if i == place
        else ops.iota(dtype=S64, shape=shape, axis=i) if n > 1
        else ops.broadcast(scalar(0, S64), shape=shape)
        for i, n in enumerate(node.type.shape)
    ]
    updates = ops.broadcast(convert(operand(values), node.type.dtype), shape=shape)
    made = ops.scatter(node, updates, *index, axes=tuple(range(len(shape))), mode="set")
    if axis is not None:  # NumPy writes to a copy otherwise
        arr.ref.write(made)


def check_writeable(x: Any) -> None:
    """Raise NumPy's error unless `x` is an array that may be written to."""
    if not issubclass(type(x), Lazy):
        if isinstance(x, np.ndarray):
            raise HostOnly("NumPy writes to its own arrays")
        raise TypeError(f"argument 1 must be numpy.ndarray, not {type(x).__name__}")
    if not shadow(x).flags.writeable:
        raise ValueError("assignment destination is read-only")


def _cycled(values: Any, size: int, dtype: np.dtype) -> Node:
    """The values, one after another and again from the start, `size` of them."""
    given = convert(operand(values), dtype)
    line: Node = ops.reshape(given, shape=(given.type.size,))
    times = -(-size // line.type.size)
    if times > 1:
        row = ops.reshape(line, shape=(1, line.type.size))
        wide = ops.broadcast(row, shape=(times, line.type.size))
        line = ops.reshape(wide, shape=(times * line.type.size,))
    if line.type.size > size:
        line = ops.slice(line, starts((0,)), sizes=(size,), strides=(1,))
    return line


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """See numpy.put."""
    check_writeable(a)
    node = a.node
    places = within(ind, node.type.size, mode)
    places = ops.reshape(places, shape=(places.type.size,))
    if not places.type.size or not np.size(v):
        return
    flat = ops.reshape(node, shape=(node.type.size,))
    updates = _cycled(v, places.type.size, node.type.dtype)
    made = ops.scatter(flat, updates, places, axes=(0,), mode="set")
    a.ref.write(ops.reshape(made, shape=node.type.shape))


def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """See numpy.putmask."""
    check_writeable(a)
    node, flags = a.node, convert(operand(mask), BOOL)
    if flags.type.size != node.type.size:
        raise ValueError("putmask: mask and data must be the same size")
    given = operand(values)
    check_cast(given.type.dtype, node.type.dtype)
    if not node.type.size or not given.type.size:
        return
    filler = ops.reshape(_cycled(values, node.type.size, node.type.dtype), shape=node.type.shape)
    a.ref.write(ops.select(ops.reshape(flags, shape=node.type.shape), filler, node))


def place(arr: Any, mask: Any, vals: Any) -> None:
    """See numpy.place."""
    check_writeable(arr)
    node, flags = arr.node, convert(operand(mask), BOOL)
    values = convert(operand(vals), node.type.dtype)
    if flags.type.size != node.type.size:
        raise ValueError("place: mask and data must be the same size")
    flags = ops.reshape(flags, shape=(flags.type.size,))
    if not values.type.size:
        if np.any(real(wrap(flags))):
            raise ValueError("Cannot insert from an empty array!")
        return
    values = ops.reshape(values, shape=(values.type.size,))
    if values.type.size > 1:
        rank = ops.subtract(ops.cumsum(convert(flags, S64), axis=0), scalar(1, S64))
        turn = ops.modulo(ops.maximum(rank, scalar(0, S64)), scalar(values.type.size, S64))
        values = ops.gather(values, turn, axes=(0,))
    flat = ops.reshape(node, shape=(node.type.size,))
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
    check_writeable(dst)
    if type(src) not in (int, float, complex, bool):
        check_cast(operand(src).type.dtype, dst.dtype, casting)
    elif casting != "unsafe":
        np.copyto(np.zeros((), dst.dtype), src, casting=casting)
    value = stored(src, dst.type)
    if where is not True:
        mask = operand(where)
        if mask.type.dtype != BOOL:
            np.copyto(np.zeros(1), 0, where=np.zeros(1, mask.type.dtype))  # raises
        value = ops.select(ops.broadcast(mask, shape=dst.shape), value, dst.node)
    dst.ref.write(value)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """See numpy.choose."""
    options = common(*choices)
    index = operand(a)
    shape = np.broadcast_shapes(index.type.shape, *(node.type.shape for node in options))
    text = "invalid entry in choice array"
    value = asarray(a)
    if mode == "raise" and index.type.dtype.kind not in "iub":
        np.choose(np.zeros(1, index.type.dtype), [0])  # raises
    if mode == "raise":
        positive = every(ops.greater_equal(convert(index, S64), scalar(0, S64)))
        low = ops.guard(positive, error=ValueError, text=text)
        index = ops.guarded(within(value, len(options), "raise", text, ValueError), low)
    else:
        index = within(value, len(options), mode)
    made = ops.broadcast(options[0], shape=shape)
    for k, option in enumerate(options[1:], 1):
        made = ops.select(ops.equal(index, scalar(k, S64)), option, made)
    return deliver(made, out, "unsafe")


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """See numpy.compress. The length of the result is data: `condition` is computed now."""
    mask = np.asarray(real(condition))
    if mask.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.flatnonzero(mask), axis, out)


def extract(condition: Any, arr: Any) -> Any:
    """See numpy.extract."""
    return take(arr, np.flatnonzero(real(condition)))


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """See numpy.trace."""
    return reductions.LAZY["sum"](diagonal(a, offset, axis1, axis2), -1, dtype, out)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """See numpy.fill_diagonal."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
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
    if not count:
        return
    flat = ops.reshape(node, shape=(node.type.size,))
    values = _cycled(val, count, node.type.dtype)
    made = ops.update_slice(flat, values, starts((0,)), strides=(step,))
    a.ref.write(ops.reshape(made, shape=shape))


LAZY: dict[str, Function] = {
    "argwhere": argwhere,
    "choose": choose,
    "compress": compress,
    "copyto": copyto,
    "extract": extract,
    "fill_diagonal": fill_diagonal,
    "flatnonzero": flatnonzero,
    "ix_": rebound("ix_"),
    "nonzero": nonzero,
    "place": place,
    "put": put,
    "put_along_axis": put_along_axis,
    "putmask": putmask,
    "select": rebound("select", "full"),
    "take": take,
    "take_along_axis": take_along_axis,
    "trace": trace,
    "where": where,
}


def _compress_method(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return compress(condition, self, axis, out)


METHODS: dict[str, Function] = {
    "choose": choose,
    "compress": _compress_method,
    "nonzero": nonzero,
    "put": put,
    "take": take,
    "trace": trace,
}
