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
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row

ORDER: Final = {2: (1, 0), 3: (0, 1, 2)}
"""Per number of axes, which random number each axis takes."""


def _require_windows(x: Node, sizes: Any, counts: Any, samples: Node, n: int) -> None:
    """Refuse windows that do not lie in the planes, or numbers that are not one for each plane."""
    shape, given = x.type.shape, samples.type
    require(len(sizes) == len(counts) == n and len(shape) in (n + 1, n + 2))
    lengths = zip(shape[-n:], sizes, counts, strict=True)
    room = int(n == 3)  # torch is stricter of volumes
    require(all(count + k - 1 <= size - room for size, k, count in lengths))
    require(0 not in shape[-n - 1 :] and min(counts) >= 0)
    require(given.dtype == x.type.dtype and given.ndim == 3)
    require(given.shape[1:] == (shape[-n - 1], n))


def _largest(
    x: Node, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Node, *, n: int
) -> tuple[Node, Node]:
    _require_windows(x, kernel_size, output_size, random_samples, n)
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
