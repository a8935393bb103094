"""Pooling over windows that lie at random, and the gradient: by Graham (2014), arXiv 1412.6071."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.pool_gradients import scattered_planes
from lazytensor.core.lib.pooling import fractional_max_pool
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row

ORDER: Final = {2: (1, 0), 3: (0, 1, 2)}
"""Per number of axes, which random number each axis takes."""
AXES: Final = {2: ("height", "width"), 3: ("time", "height", "width")}
ERROR_PREFIXES: Final = {2: "fractional_max_pool2d()", 3: "fractional_max_pool3d_out()"}
"""What torch's errors begin with."""


def _check(x: Node, sizes: Sequence[int], counts: Sequence[int], samples: Node, n: int) -> None:
    for name, given in (("kernel_size", sizes), ("output_size", counts)):
        if len(given) != n:
            raise RuntimeError(
                f"fractional_max_pool{n}d: {name} must either be a single Int or tuple of Ints"
            )
    shape = x.type.shape
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"{ERROR_PREFIXES[n]}: Expected {n + 1}D or {n + 2}D tensor, but got: {list(shape)}"
        )
    for name, size, k, count in zip(AXES[n], shape[-n:], sizes, counts, strict=True):
        if count + k - 1 > size - (n == 3):  # torch is stricter of volumes
            raise RuntimeError(
                f"{ERROR_PREFIXES[n]}: pool {name} {k} too large relative to input {name} {size}"
            )
    if 0 in shape[-n - 1 :] or min(counts) < 0:
        raise RuntimeError(
            f"{ERROR_PREFIXES[n]}: Expected planes with elements, but got: {list(shape)}"
        )
    if samples.type.dtype != x.type.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.type.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.type.ndim}")
    if samples.type.shape[2] != n:
        raise RuntimeError(
            f"Expect _random_samples.size(2) equals to {n}; got {samples.type.shape[2]}."
        )
    if samples.type.shape[1] != shape[-n - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")


def _largest(
    x: Node, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Node, *, n: int
) -> tuple[Node, Node]:
    _check(x, kernel_size, output_size, random_samples, n)
    planes = prod(x.type.shape[:-n])
    lines = ops.reshape(random_samples, shape=(prod(random_samples.type.shape[:2]), n))
    samples = [part(part(lines, 0, 0, planes), 1, place, 1) for place in ORDER[n]]
    return fractional_max_pool(x, tuple(kernel_size), tuple(output_size), samples)


def _largest_backward(
    grad: Node, x: Node, kernel_size: Any, output_size: Any, indices: Node, *, n: int
) -> Node:
    return scattered_planes(grad, indices, x.type.shape, n)


ROWS: dict[str, Row] = {
    f"fractional_max_pool{n}d{suffix}": partial(row, n=n)
    for n in (2, 3)
    for suffix, row in (("", _largest), ("_backward", _largest_backward))
}


rows(of_nodes(ROWS), composed=True, asks=True)
