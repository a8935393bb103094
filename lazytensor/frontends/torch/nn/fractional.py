"""Pooling over windows that lie at random, and the gradient: by Graham (2014), arXiv 1412.6071."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.nn.maxima import scattered
from lazytensor.frontends.torch.nn.pooling import largest_at
from lazytensor.frontends.torch.rows.creation import filled

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


def _begins(sample: Node, size: int, k: int, count: int) -> Node:
    """Where the windows of an axis begin: s64[planes, count] for samples [planes, 1]."""
    dtype = sample.type.dtype
    last = filled((sample.type.shape[0], 1), size - k, S64)
    if count < 2:
        return part(last, 1, 0, count)
    step = cast_to(float(np.float64(size - k) / (count - 1)), dtype)
    number = ops.iota(dtype=dtype, shape=(1, count - 1), axis=1)
    ahead, first = (cast_to(x * step, S64) for x in (number + sample, sample))
    return ops.concatenate(ahead - first, last, axis=1)


def _elements(begins: Sequence[Node], shape: Sequence[int], sizes: Sequence[int]) -> Node:
    """Where in a plane the elements of each window are: s64[planes, windows, elements]."""
    n = len(begins)
    planes = begins[0].type.shape[0]
    flat = cast_to(0, S64)
    for i, (begin, size, k) in enumerate(zip(begins, shape, sizes, strict=True)):
        count = begin.type.shape[1]
        at = [count if j == i else 1 for j in range(n)]
        inside = [k if j == i else 1 for j in range(n)]
        first = ops.reshape(begin, shape=(planes, *at, *[1] * n))
        place = first + ops.iota(dtype=S64, shape=(1, *[1] * n, *inside), axis=1 + n + i)
        flat = flat * cast_to(size, S64) + place
    counts = [begin.type.shape[1] for begin in begins]
    return ops.reshape(flat, shape=(planes, prod(counts), prod(sizes)))


def _largest(
    x: Node, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Node, *, n: int
) -> tuple[Node, Node]:
    _check(x, kernel_size, output_size, random_samples, n)
    outer, space = x.type.shape[:-n], x.type.shape[-n:]
    planes, windows, size = prod(outer), prod(output_size), prod(kernel_size)
    shape = (*outer, *output_size)
    if not planes * windows:
        return filled(shape, 0, x.type.dtype), filled(shape, 0, S64)
    lines = ops.reshape(random_samples, shape=(prod(random_samples.type.shape[:2]), n))
    begins = [
        _begins(part(part(lines, 0, 0, planes), 1, place, 1), m, k, count)
        for place, m, k, count in zip(ORDER[n], space, kernel_size, output_size, strict=True)
    ]
    places = _elements(begins, space, kernel_size)
    flat = ops.reshape(x, shape=(planes, prod(space)))
    found = ops.take_along(flat, ops.reshape(places, shape=(planes, windows * size)), axis=1)
    found = ops.reshape(found, shape=(planes, windows, size))
    best = largest_at(found)
    value, at = (ops.reshape(ops.take_along(t, best, axis=2), shape=shape) for t in (found, places))
    return value, at


def _largest_backward(
    grad: Node, x: Node, kernel_size: Any, output_size: Any, indices: Node, *, n: int
) -> Node:
    return scattered(grad, indices, x.type.shape, n)


ROWS: dict[str, Row] = {
    f"fractional_max_pool{n}d{suffix}": partial(row, n=n)
    for n in (2, 3)
    for suffix, row in (("", _largest), ("_backward", _largest_backward))
}


rows(of_nodes(ROWS), composed=True, asks=True)
