"""Pooling: torch's arguments and errors; `core/lib/pooling.py` computes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from lazytensor.core.ir.node import Node
from lazytensor.core.lib import pooling
from lazytensor.core.lib.pool_gradients import PoolWindows, largest_backward, scattered_planes
from lazytensor.frontends.torch.dispatch.kernels import composition, rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes, on_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.nn.convolution import spread
from lazytensor.frontends.torch.nn.resampling import check_grad
from lazytensor.frontends.torch.tensors.strides import strides_for
from lazytensor.frontends.torch.tensors.tensor import laid

Ints = tuple[int, ...]


def _given(n: int, sizes: Any, steps: Any, pads: Any, gaps: Any) -> PoolWindows:
    """The windows that torch's arguments mean; no steps are a window's size."""
    size, pad, gap = (spread(values, n) for values in (sizes, pads, gaps))
    return PoolWindows(size, gap, spread(steps, n) if steps else size, pad)


def _check(x: Node, windows: PoolWindows, count: Ints) -> None:
    """Raise torch's errors for windows that cannot be."""
    if min(windows.steps) <= 0:
        raise RuntimeError("stride should not be zero")
    if min(windows.gaps) <= 0:
        raise RuntimeError("dilation should be greater than zero")
    for k, p, g in zip(windows.sizes, windows.pads, windows.gaps, strict=True):
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


def _counted(x: Node, n: int, windows: PoolWindows, ceil: bool) -> Ints:
    """How many windows there are, none of which torch refuses."""
    count = pooling.window_counts(x.type.shape[-n:], windows, ceil)
    _check(x, windows, count)
    return count


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
    windows = _given(n, kernel_size, stride, padding, dilation)
    _check_rank(x, n)
    return pooling.max_pool_with_places(x, windows, _counted(x, n, windows, ceil_mode))


def _max_backward(
    grad: Node, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: Any,
    indices: Node, *, n: int,
) -> Node:  # fmt: skip
    windows = _given(n, kernel_size, stride, padding, dilation)
    return largest_backward(grad, indices, x.type.shape, windows)


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
    return pooling.adaptive_max_pool(x, tuple(output_size))


def _adaptive_max_backward(grad: Node, x: Node, indices: Node, *, n: int) -> Node:
    check_grad(grad)
    return scattered_planes(grad, indices, x.type.shape, n)


def _mean_plan(
    x: Node, n: int, kernel_size: Any, stride: Any, padding: Any, ceil: bool, include: bool,
    over: Any,
) -> tuple[PoolWindows, Ints, np.ndarray]:  # fmt: skip
    _check_rank(x, n)
    shape = x.type.shape[-n:]
    windows = _given(n, kernel_size, stride, padding, (1,))
    if n == 3 and any(m < k for m, k in zip(shape, windows.sizes, strict=True)):
        given, wanted = (
            " ".join(f"{mark}{side}: {m}" for side, m in zip("THW", line, strict=True))
            for mark, line in (("", shape), ("k", windows.sizes))
        )
        raise RuntimeError(f"input image ({given}) smaller than kernel size ({wanted})")
    count = _counted(x, n, windows, ceil)
    if over == 0 and over is not None:
        raise RuntimeError("divisor must be not zero")
    if over:
        return windows, count, np.full((), float(over))
    return windows, count, pooling.pool_divisors(shape, windows, count, include)


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
    return pooling.mean_pool(x, *_mean_plan(x, n, *plan))


def _mean_backward(grad: Node, x: Node, *plan: Any, n: int) -> Node:
    return pooling.mean_pool_gradient(grad, x.type.shape[-n:], *_mean_plan(x, n, *plan))


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
