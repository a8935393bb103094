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
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import composition, rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes, on_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.nn.convolution import spread
from lazytensor.frontends.torch.nn.resampling import require_windows
from lazytensor.frontends.torch.tensors.strides import strides_for
from lazytensor.frontends.torch.tensors.tensor import laid

Ints = tuple[int, ...]


def _given(n: int, sizes: Any, steps: Any, pads: Any, gaps: Any) -> PoolWindows:
    """The windows that torch's arguments mean; no steps are a window's size."""
    size, pad, gap = (spread(values, n) for values in (sizes, pads, gaps))
    return PoolWindows(size, gap, spread(steps, n) if steps else size, pad)


def _require_rank(x: Node, n: int) -> None:
    """Refuse what is no batch of images, nor one of them."""
    shape = x.type.shape
    require(len(shape) in (n + 1, n + 2) and 0 not in shape[-n - 1 :])


def _counted(x: Node, n: int, windows: PoolWindows, ceil: bool) -> Ints:
    """How many windows there are, none of which torch refuses."""
    require(min(windows.steps) > 0 and min(windows.gaps) > 0)
    sizes = zip(windows.sizes, windows.pads, windows.gaps, strict=True)
    require(all(0 <= p <= (g * (k - 1) + 1) // 2 for k, p, g in sizes))
    count = pooling.window_counts(x.type.shape[-n:], windows, ceil)
    require(min(count) >= 1)
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
    _require_rank(x, n)
    return pooling.max_pool_with_places(x, windows, _counted(x, n, windows, ceil_mode))


def _max_backward(
    grad: Node, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: Any,
    indices: Node, *, n: int,
) -> Node:  # fmt: skip
    windows = _given(n, kernel_size, stride, padding, dilation)
    return largest_backward(grad, indices, x.type.shape, windows)


def _adaptive_max(x: Node, output_size: Sequence[int], *, n: int) -> tuple[Node, Node]:
    _require_rank(x, n)
    require(len(output_size) == n and min(output_size) >= 0)
    return pooling.adaptive_max_pool(x, tuple(output_size))


def _adaptive_max_backward(grad: Node, x: Node, indices: Node, *, n: int) -> Node:
    require_windows(grad)
    return scattered_planes(grad, indices, x.type.shape, n)


def _mean_plan(
    x: Node, n: int, kernel_size: Any, stride: Any, padding: Any, ceil: bool, include: bool,
    over: Any,
) -> tuple[PoolWindows, Ints, np.ndarray]:  # fmt: skip
    _require_rank(x, n)
    shape = x.type.shape[-n:]
    windows = _given(n, kernel_size, stride, padding, (1,))
    require(n == 2 or all(m >= k for m, k in zip(shape, windows.sizes, strict=True)))
    count = _counted(x, n, windows, ceil)
    require(over != 0)
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
