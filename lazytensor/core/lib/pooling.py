"""Pools over the last axes of a tensor, with the places of the largest elements.

PoolWindows may overhang: `pads` before, and after the last element as far as the windows need. What
they overhang does not count. Places are indices into a plane, its axes taken as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import starts
from lazytensor.core.lib.numbers import cast_to, filled, like, whole
from lazytensor.core.lib.pool_gradients import Ints, PoolWindows, place_dtype
from lazytensor.core.ops.movement import part


def window_counts(shape: Ints, windows: PoolWindows, ceil: bool) -> Ints:
    """The number of windows on each axis of `shape`; with `ceil` a last one that is not full."""
    found = []
    for n, k, g, s, p in zip(shape, *windows, strict=True):
        free = n + 2 * p - g * (k - 1) - 1
        count = -(-free // s) + 1 if ceil else free // s + 1
        if ceil and (count - 1) * s >= n + p:
            count -= 1  # it would begin in the padding
        found.append(count)
    return tuple(found)


def _overhangs(shape: Ints, windows: PoolWindows, count: Ints) -> Ints:
    """How far the last windows reach beyond each axis; negative for elements in no window."""
    return tuple(
        (c - 1) * s + g * (k - 1) + 1 - m - p
        for c, m, k, g, s, p in zip(count, shape, *windows, strict=True)
    )


def _overhung(x: Node, value: float, windows: PoolWindows, count: Ints) -> Node:
    n = len(count)
    outer = (0,) * (x.type.ndim - n)
    high = _overhangs(x.type.shape[-n:], windows, count)
    return ops.pad(
        x, like(value, x), low=(*outer, *windows.pads), high=(*outer, *[max(h, 0) for h in high]),
        interior=(0,) * x.type.ndim,
    )  # fmt: skip


def _elements_of_windows(x: Node, windows: PoolWindows, count: Ints) -> Iterator[Node]:
    """For each place in a window the element there of every window."""
    outer = x.type.shape[: x.type.ndim - len(count)]
    strides = (1,) * len(outer) + windows.steps
    for at in product(*map(range, windows.sizes)):
        begin = (0,) * len(outer) + tuple(i * g for i, g in zip(at, windows.gaps, strict=True))
        yield ops.slice(x, starts(begin), sizes=(*outer, *count), strides=strides)


def max_pool_with_places(x: Node, windows: PoolWindows, count: Ints) -> tuple[Node, Node]:
    """The largest element of each window, and its place: the first of equal ones, the last NaN.

    x: integers or floats[..., *space]. count: windows on each axis of space.
    Result: dtype of x[..., *count]; s64 of that shape.
    """
    shape = x.type.shape[-len(count) :]
    floats = x.type.dtype in FLOATS
    least = -np.inf if floats else np.iinfo(x.type.dtype).min
    dtype = place_dtype(shape)
    plane = ops.reshape(ops.iota(dtype=dtype, shape=(prod(shape),), axis=0), shape=shape)
    values = _elements_of_windows(_overhung(x, least, windows, count), windows, count)
    places = _elements_of_windows(_overhung(plane, -1, windows, count), windows, count)
    best, at = next(values), next(places)
    for value, place in zip(values, places, strict=True):
        better = value > best
        if floats:
            better = better | ops.is_nan(value)
        best, at = ops.select(better, value, best), ops.select(better, place, at)
    if any(windows.pads):  # where nothing is more than padding is
        first = ops.leaf(_first_places(shape, windows, count).astype(dtype))
        at = ops.select(at < 0, first, at)
    return best, ops.broadcast(ops.convert(at, dtype=S64), shape=best.type.shape)


def _flat(lines: Sequence[np.ndarray], shape: Ints) -> np.ndarray:
    """The places in a plane of all combinations of places on its axes."""
    open_lines = np.ix_(*lines) if lines else ()
    return reduce(lambda flat, axis: flat * axis[1] + axis[0], zip(open_lines, shape, strict=True),
                  np.zeros((1,) * len(shape), np.int64))  # fmt: skip


def _first_places(shape: Ints, windows: PoolWindows, count: Ints) -> np.ndarray:
    """The place of the first element of each window that is no padding."""
    lines = []
    for c, _, g, s, p in zip(count, *windows, strict=True):
        begin = np.arange(c) * s - p
        lines.append(begin + np.maximum(-(begin // g), 0) * g)
    return _flat(lines, shape)


def largest_at(windows: Node) -> Node:
    """Where on the last axis the largest element is: the first of equal ones, but the last NaN.

    Result: s64, the last axis being 1.
    """
    last = windows.type.ndim - 1
    best = ops.argmax(windows, axis=last)
    if windows.type.dtype in FLOATS:
        at = ops.iota(dtype=S64, shape=windows.type.shape, axis=last)
        missing = ops.select(ops.is_nan(windows), at, whole(-1))
        best = ops.maximum(best, ops.reduce_max(missing, axes=(last,)))
    return ops.new_axis(best)


def _adaptive_windows(n: int, count: int) -> np.ndarray:
    """The positions of each window, [count, steps]; a shorter window repeats its last one."""
    begin = np.arange(count) * n // count
    end = -(-(np.arange(count) + 1) * n // count)
    steps = np.arange(int((end - begin).max(initial=1)))
    return np.asarray(np.minimum(begin[:, None] + steps, end[:, None] - 1))


def adaptive_max_pool(x: Node, count: Ints) -> tuple[Node, Node]:
    """The largest element of each of `count` windows an axis, which cover it, and its place.

    x: integers or floats[..., *space]. Result: dtype of x[..., *count]; s64 of that shape.
    """
    n = len(count)
    shape, outer = x.type.shape[-n:], x.type.shape[:-n]
    lines = [_adaptive_windows(m, c) for m, c in zip(shape, count, strict=True)]
    order = (*range(0, 2 * n, 2), *range(1, 2 * n, 2))  # counts, then elements of a window
    flat = _flat([line.ravel() for line in lines], shape)
    apart = flat.reshape([size for line in lines for size in line.shape]).transpose(order)
    places = np.ascontiguousarray(apart.reshape((*count, prod(line.shape[1] for line in lines))))
    planes = ops.reshape(x, shape=(*outer, prod(shape)))
    windows = ops.gather(planes, ops.leaf(places), axes=(len(outer),))
    front = (*range(places.ndim, places.ndim + len(outer)), *range(places.ndim))
    windows = ops.transpose(windows, axes=front)
    at = np.broadcast_to(places, windows.type.shape)
    return _chosen(windows, ops.leaf(np.ascontiguousarray(at)), (*outer, *count))


def _chosen(windows: Node, places: Node, shape: Ints) -> tuple[Node, Node]:
    """The largest of each window's elements, which lie on the last axis, and its place."""
    best, last = largest_at(windows), windows.type.ndim - 1
    value, at = (
        ops.reshape(ops.take_along(t, best, axis=last), shape=shape) for t in (windows, places)
    )
    return value, at


def pool_divisors(
    shape: Ints, windows: PoolWindows, count: Ints, include_padding: bool
) -> np.ndarray:
    """The number of elements in each window, of padding too if `include_padding`: f64[*count]."""
    each = []
    for m, c, k, _, s, p in zip(shape, count, *windows, strict=True):
        begin = np.arange(c) * s - p
        end = np.minimum(begin + k, m + p)
        inside = np.minimum(end, m) - np.maximum(begin, 0)
        each.append((end - begin if include_padding else inside).astype(np.float64))
    return reduce(np.multiply, np.ix_(*each))


def mean_pool(x: Node, windows: PoolWindows, count: Ints, divisors: np.ndarray) -> Node:
    """The sum of each window, divided. x: floats[..., *space]. Result: dtype of x[..., *count]."""
    outer = (1,) * (x.type.ndim - len(count))
    high = _overhangs(x.type.shape[x.type.ndim - len(count) :], windows, count)
    total = ops.reduce_window(
        x, kind="sum", window=outer + windows.sizes, strides=outer + windows.steps,
        padding=((0, 0),) * len(outer) + tuple(zip(windows.pads, high, strict=True)),
        base_dilation=(1,) * x.type.ndim, window_dilation=(1,) * x.type.ndim,
    )  # fmt: skip
    return total / ops.leaf(divisors.astype(x.type.dtype))


def mean_pool_gradient(
    grad: Node, shape: Ints, windows: PoolWindows, count: Ints, divisors: np.ndarray
) -> Node:
    """The gradient of `mean_pool` for an operand with `shape` as its last axes, times `grad`."""
    shares = grad / ops.leaf(divisors.astype(grad.type.dtype))
    outer = (1,) * (grad.type.ndim - len(count))
    around = tuple(
        (k - 1 - p, m + p - (c - 1) * s - 1)
        for m, c, k, _, s, p in zip(shape, count, *windows, strict=True)
    )
    return ops.reduce_window(
        shares, kind="sum", window=outer + windows.sizes, strides=(1,) * grad.type.ndim,
        padding=((0, 0),) * len(outer) + around, base_dilation=outer + windows.steps,
        window_dilation=(1,) * grad.type.ndim,
    )  # fmt: skip


def _fractional_begins(sample: Node, size: int, k: int, count: int) -> Node:
    """Where the windows of an axis begin: s64[planes, count] for samples [planes, 1]."""
    dtype = sample.type.dtype
    last = filled((sample.type.shape[0], 1), size - k, S64)
    if count < 2:
        return part(last, 1, 0, count)
    step = cast_to(float(np.float64(size - k) / (count - 1)), dtype)
    number = ops.iota(dtype=dtype, shape=(1, count - 1), axis=1)
    ahead, first = (cast_to(x * step, S64) for x in (number + sample, sample))
    return ops.concatenate(ahead - first, last, axis=1)


def _window_places(begins: Sequence[Node], shape: Ints, sizes: Ints) -> Node:
    """The places of the elements of each window: s64[planes, windows, elements]."""
    n = len(begins)
    planes = begins[0].type.shape[0]
    flat = whole(0)
    for i, (begin, size, k) in enumerate(zip(begins, shape, sizes, strict=True)):
        at = [begin.type.shape[1] if j == i else 1 for j in range(n)]
        inside = [k if j == i else 1 for j in range(n)]
        first = ops.reshape(begin, shape=(planes, *at, *[1] * n))
        place = first + ops.iota(dtype=S64, shape=(1, *[1] * n, *inside), axis=1 + n + i)
        flat = flat * size + place
    counts = [begin.type.shape[1] for begin in begins]
    return ops.reshape(flat, shape=(planes, prod(counts), prod(sizes)))


def fractional_max_pool(
    x: Node, sizes: Ints, count: Ints, samples: Sequence[Node]
) -> tuple[Node, Node]:
    """The largest element of each window, and its place; the windows lie at random.

    x: floats[..., *space]. sizes: a window's elements. samples: for each axis of space a number
    from 0 to 1 for every plane, dtype of x[planes, 1]. Result: dtype of x[..., *count]; s64.
    Source: Graham, arXiv 1412.6071.
    """
    n = len(count)
    outer, space = x.type.shape[:-n], x.type.shape[-n:]
    planes, shape = prod(outer), (*outer, *count)
    if not planes * prod(count):
        return filled(shape, 0, x.type.dtype), filled(shape, 0, S64)
    lines = zip(samples, space, sizes, count, strict=True)
    places = _window_places([_fractional_begins(*line) for line in lines], space, sizes)
    whole_shape = places.type.shape
    flat = ops.reshape(x, shape=(planes, prod(space)))
    found = ops.take_along(flat, ops.reshape(places, shape=(planes, prod(whole_shape[1:]))), axis=1)
    return _chosen(ops.reshape(found, shape=whole_shape), places, shape)


def max_unpool(x: Node, places: Node, space: Ints) -> Node:
    """Zeros in planes of `space`, but for the elements of `x`, at their places.

    x: numbers; its last axes, as many as `space` has, are a plane. places: s64, shape of x, within
    the planes.
    """
    n = len(space)
    outer, many = prod(x.type.shape[:-n]), prod(x.type.shape[-n:])
    lines = ops.iota(dtype=S64, shape=(outer, many), axis=0)
    zeros = filled((outer, prod(space)), 0, x.type.dtype)
    updates, at = (ops.reshape(t, shape=(outer, many)) for t in (x, places))
    made = ops.scatter(zeros, updates, lines, at, axes=(0, 1), mode="set")
    return ops.reshape(made, shape=(*x.type.shape[:-n], *space))
