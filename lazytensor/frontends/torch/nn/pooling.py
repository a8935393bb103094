"""Pooling: the largest or the mean of each window, and the gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import starts
from lazytensor.frontends.torch.dispatch.kernels import composition, rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, of_nodes, on_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.nn.convolution import spread
from lazytensor.frontends.torch.nn.maxima import Windows, of_largest, scattered
from lazytensor.frontends.torch.nn.resampling import check_grad
from lazytensor.frontends.torch.tensors.strides import strides_for
from lazytensor.frontends.torch.tensors.tensor import laid

Ints = tuple[int, ...]


def _windows(shape: Ints, sizes: Ints, steps: Ints, pads: Ints, gaps: Ints, ceil: bool) -> Ints:
    """How many windows there are on each axis: with `ceil` a last one that is not full."""
    found = []
    for n, k, s, p, g in zip(shape, sizes, steps, pads, gaps, strict=True):
        free = n + 2 * p - g * (k - 1) - 1
        count = -(-free // s) + 1 if ceil else free // s + 1
        if ceil and (count - 1) * s >= n + p:
            count -= 1  # it would begin in the padding
        found.append(count)
    return tuple(found)


def _check(x: Node, sizes: Ints, steps: Ints, pads: Ints, gaps: Ints, count: Ints) -> None:
    """Raise torch's errors for windows that cannot be."""
    if min(steps) <= 0:
        raise RuntimeError("stride should not be zero")
    if min(gaps) <= 0:
        raise RuntimeError("dilation should be greater than zero")
    for k, p, g in zip(sizes, pads, gaps, strict=True):
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > (g * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, "
                f"kernel_size={k} and dilation={g}"
            )
    if min(count) < 1:
        planes, *inner = x.type.shape[-len(count) - 1 :]
        given, found = ("x".join(map(str, (planes, *line))) for line in (inner, count))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({found}). Output size is too "
            "small"
        )


def _check_rank(x: Node, n: int) -> None:
    """Raise torch's error for what is no batch of images, nor one of them."""
    shape = x.type.shape
    if len(shape) not in (n + 1, n + 2) or 0 in shape[-n - 1 :]:
        words = {2: "3D or 4D", 3: "4D or 5D"}[n]
        raise RuntimeError(
            f"Expected {words} (batch mode) tensor with optional 0 dim batch size for input, or "
            f"non-empty {words} without one: Expected input's non-batch dimensions to have "
            f"positive length, but input has a shape of {list(shape)}"
        )


def _padded(x: Node, value: Any, n: int, low: Ints, high: Ints) -> Node:
    outer = (0,) * (x.type.ndim - n)
    return ops.pad(
        x, cast_to(value, x.type.dtype), low=(*outer, *low), high=(*outer, *high),
        interior=(0,) * x.type.ndim,
    )  # fmt: skip


def _shifted(
    x: Node, sizes: Ints, steps: Ints, gaps: Ints, count: Ints
) -> Iterator[tuple[Ints, Node]]:
    """For each element of a window: where in it it is, and that element of every window."""
    outer = x.type.shape[: x.type.ndim - len(sizes)]
    ones = (1,) * len(outer)
    for at in product(*map(range, sizes)):
        begin = tuple(i * g for i, g in zip(at, gaps, strict=True))
        yield (
            at,
            ops.slice(
                x,
                starts(((0,) * len(outer)) + begin),
                sizes=(*outer, *count),
                strides=(*ones, *steps),
            ),
        )


def _max(
    x: Node,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
    *,
    n: int,
) -> tuple[Node, Node]:
    sizes, pads, gaps = (spread(v, n) for v in (kernel_size, padding, dilation))
    steps = spread(stride, n) if stride else sizes
    _check_rank(x, n)
    shape = x.type.shape[-n:]
    count = _windows(shape, sizes, steps, pads, gaps, ceil_mode)
    _check(x, sizes, steps, pads, gaps, count)
    high = tuple(
        max((c - 1) * s + g * (k - 1) + 1 - m - p, 0)
        for c, s, g, k, m, p in zip(count, steps, gaps, sizes, shape, pads, strict=True)
    )
    floats = x.type.dtype in FLOATS
    least = -np.inf if floats else np.iinfo(x.type.dtype).min
    places = ops.reshape(ops.iota(dtype=S64, shape=(prod(shape),), axis=0), shape=shape)
    places = _padded(places, -1, n, pads, high)
    best: Any = None
    at: Any = None
    elements = _shifted(_padded(x, least, n, pads, high), sizes, steps, gaps, count)
    for (_, value), (_, place) in zip(
        elements, _shifted(places, sizes, steps, gaps, count), strict=True
    ):
        if best is None:
            best, at = value, place
            continue
        better = value > best
        if floats:
            better = better | ops.is_nan(value)
        best, at = ops.select(better, value, best), ops.select(better, place, at)
    if any(pads):  # where nothing is more than padding is
        first = ops.leaf(_first_places(shape, count, steps, pads, gaps))
        at = ops.select(at < 0, first, at)
    return best, ops.broadcast(at, shape=best.type.shape)


def _first_places(shape: Ints, count: Ints, steps: Ints, pads: Ints, gaps: Ints) -> np.ndarray:
    """Where in its plane the first element of each window is that is no padding."""
    n = len(shape)
    flat = np.zeros((1,) * n, np.int64)
    for axis, (m, c, s, p, g) in enumerate(zip(shape, count, steps, pads, gaps, strict=True)):
        begin = np.arange(c) * s - p
        begin += np.maximum(-(begin // g), 0) * g
        flat = flat * m + begin.reshape([c if i == axis else 1 for i in range(n)])
    return flat


def largest_at(windows: Node) -> Node:
    """Where on the last axis the largest element is: the first of equal ones, but the last NaN."""
    last = windows.type.ndim - 1
    best = ops.argmax(windows, axis=last)
    if windows.type.dtype in FLOATS:
        at = ops.iota(dtype=S64, shape=windows.type.shape, axis=last)
        missing = ops.select(ops.is_nan(windows), at, cast_to(-1, S64))
        best = ops.maximum(best, ops.reduce_max(missing, axes=(last,)))
    return ops.reshape(best, shape=(*windows.type.shape[:-1], 1))


def _max_backward(
    grad: Node, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: Any,
    indices: Node, *, n: int,
) -> Node:  # fmt: skip
    sizes, pads, gaps = (spread(v, n) for v in (kernel_size, padding, dilation))
    steps = spread(stride, n) if stride else sizes
    windows = Windows(sizes, gaps, steps, pads)
    return of_largest(grad, indices, x.type.shape, windows)


def _adaptive_windows(n: int, count: int) -> np.ndarray:
    """The positions of each window, [count, steps]; a shorter window repeats its last one."""
    begin = np.arange(count) * n // count
    end = -(-(np.arange(count) + 1) * n // count)
    steps = np.arange(int((end - begin).max(initial=1)))
    return np.minimum(begin[:, None] + steps, end[:, None] - 1)


def _adaptive_max(x: Node, output_size: Sequence[int], *, n: int) -> tuple[Node, Node]:
    if x.type.ndim not in (n + 1, n + 2):
        raise RuntimeError(
            f"adaptive_max_pool{n}d(): Expected {n + 1}D or {n + 2}D tensor, but got: "
            f"{list(x.type.shape)}"
        )
    _check_rank(x, n)
    if len(output_size) != n:
        raise RuntimeError(f"adaptive_max_pool{n}d(): internal error: expected output_size of {n}")
    if min(output_size) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(output_size)}")
    shape, outer = x.type.shape[-n:], x.type.shape[:-n]
    lines = [_adaptive_windows(m, c) for m, c in zip(shape, output_size, strict=True)]
    ndim, flat, places = 2 * n, np.zeros((), np.int64), []
    for i, line in enumerate(lines):
        spread_ = [1] * ndim
        spread_[i], spread_[n + i] = line.shape
        places.append(line.reshape(spread_))
        flat = flat * shape[i] + places[-1]
    axes = tuple(range(len(outer), len(outer) + n))
    found = ops.gather(x, *map(ops.leaf, places), axes=axes)
    order = (*range(ndim, ndim + len(outer)), *range(ndim))
    count = prod(line.shape[1] for line in lines)
    windows = ops.reshape(ops.transpose(found, axes=order), shape=(*outer, *output_size, count))
    last = windows.type.ndim - 1
    best = largest_at(windows)
    at = np.broadcast_to(flat.reshape((*output_size, count)), windows.type.shape)
    made = (windows, ops.leaf(np.ascontiguousarray(at)))
    value, place = (
        ops.reshape(ops.take_along(t, best, axis=last), shape=(*outer, *output_size)) for t in made
    )
    return value, place


def _adaptive_max_backward(grad: Node, x: Node, indices: Node, *, n: int) -> Node:
    check_grad(grad)
    return scattered(grad, indices, x.type.shape, n)


def _divisors(
    shape: Ints, count: Ints, sizes: Ints, steps: Ints, pads: Ints, include: bool, override: Any
) -> np.ndarray:
    """By what the sum of each window is divided."""
    if override:
        return np.full((), float(override))
    each = []
    for m, c, k, s, p in zip(shape, count, sizes, steps, pads, strict=True):
        begin = np.arange(c) * s - p
        end = np.minimum(begin + k, m + p)
        each.append(end - begin if include else np.minimum(end, m) - np.maximum(begin, 0))
    made = np.ones((), np.float64)
    for i, line in enumerate(each):
        made = made * line.reshape((-1,) + (1,) * (len(each) - 1 - i))
    return made


def _mean_plan(
    x: Node, n: int, kernel_size: Any, stride: Any, padding: Any, ceil: bool, include: bool,
    over: Any,
) -> tuple[Ints, Ints, Ints, Ints, np.ndarray]:  # fmt: skip
    _check_rank(x, n)
    shape = x.type.shape[-n:]
    sizes, pads = spread(kernel_size, n), spread(padding, n)
    steps = spread(stride, n) if stride else sizes
    count = _windows(shape, sizes, steps, pads, (1,) * n, ceil)
    if n == 3 and any(m < k for m, k in zip(shape, sizes, strict=True)):
        given, wanted = (
            " ".join(f"{mark}{side}: {m}" for side, m in zip("THW", line, strict=True))
            for mark, line in (("", shape), ("k", sizes))
        )
        raise RuntimeError(f"input image ({given}) smaller than kernel size ({wanted})")
    _check(x, sizes, steps, pads, (1,) * n, count)
    if over == 0 and over is not None:
        raise RuntimeError("divisor must be not zero")
    return sizes, steps, pads, count, _divisors(shape, count, sizes, steps, pads, include, over)


def _mean(
    x: Node,
    kernel_size: Any,
    stride: Any = (),
    padding: Any = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
    *,
    n: int,
) -> Node:
    plan = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    sizes, steps, pads, count, divisors = _mean_plan(x, n, *plan)
    shape = x.type.shape[-n:]
    high = tuple(
        (c - 1) * s + k - m - p
        for c, s, k, m, p in zip(count, steps, sizes, shape, pads, strict=True)
    )
    outer = x.type.ndim - n
    ones = (1,) * x.type.ndim
    total = ops.reduce_window(
        x, kind="sum", window=(1,) * outer + sizes, strides=(1,) * outer + steps,
        padding=((0, 0),) * outer + tuple(zip(pads, high, strict=True)),
        base_dilation=ones, window_dilation=ones,
    )  # fmt: skip
    return total / ops.leaf(divisors.astype(x.type.dtype))


def _mean_backward(
    grad: Node, x: Node, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any,
    count_include_pad: Any, divisor_override: Any, *, n: int,
) -> Node:  # fmt: skip
    plan = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    sizes, steps, pads, count, divisors = _mean_plan(x, n, *plan)
    shape = x.type.shape[-n:]
    shares = grad / ops.leaf(divisors.astype(grad.type.dtype))
    outer = grad.type.ndim - n
    around = tuple(
        (k - 1 - p, m + p - (c - 1) * s - 1)
        for k, p, m, c, s in zip(sizes, pads, shape, count, steps, strict=True)
    )
    return ops.reduce_window(
        shares, kind="sum", window=(1,) * outer + sizes, strides=(1,) * grad.type.ndim,
        padding=((0, 0),) * outer + around, base_dilation=(1,) * outer + steps,
        window_dilation=(1,) * grad.type.ndim,
    )  # fmt: skip


ROWS: dict[str, Row] = {
    "max_pool2d_with_indices": partial(_max, n=2),
    "max_pool2d_with_indices_backward": partial(_max_backward, n=2),
    "max_pool3d_with_indices_backward": partial(_max_backward, n=3),
    "adaptive_max_pool2d": partial(_adaptive_max, n=2),
    "adaptive_max_pool3d": partial(_adaptive_max, n=3),
    "adaptive_max_pool2d_backward": partial(_adaptive_max_backward, n=2),
    "adaptive_max_pool3d_backward": partial(_adaptive_max_backward, n=3),
    "avg_pool2d": partial(_mean, n=2),
    "avg_pool3d": partial(_mean, n=3),
    "avg_pool2d_backward": partial(_mean_backward, n=2),
    "avg_pool3d_backward": partial(_mean_backward, n=3),
}


def _channels_last(shape: Ints) -> Ints:
    """The strides of an image without a batch whose channels lie last."""
    return strides_for((1, *shape), torch.channels_last_3d)[1:]


def _like_its_image(row: Row) -> Row:
    """The row, which gives images without a batch in the format of such a one."""

    def pool(x: Any, *args: Any) -> Any:
        made = row(x, *args)
        if x.ndim != 4 or x.stride() != _channels_last(tuple(x.shape)):
            return made
        return tuple(laid(t, _channels_last(t.type.shape)) for t in made)

    return pool


rows(of_nodes(ROWS), images=True, composed=True, asks=True)
name = "max_pool3d_with_indices"
row = _like_its_image(composition(name, on_nodes(partial(_max, n=3))))
rows({name: row}, images=True, asks=True)
