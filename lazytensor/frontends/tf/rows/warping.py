"""Images warped by a projection: eight numbers, which are data, say where a pixel is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import number


def _f32(value: float) -> Node:
    return scalar(value, F32)


def _clipped(x: Node, lowest: float, highest: float) -> Node:
    return ops.clamp(_f32(lowest), x, _f32(highest))


def _less_rounds(x: Node, length: int) -> Node:
    """`x` less whole rounds of `length`."""
    rounds = ops.trunc(x / length)
    return x - rounds * length


def _nearest(x: Node, size: int) -> Node:
    return _clipped(x, 0, size - 1)


def _reflected(x: Node, size: int) -> Node:
    """The edge's element comes twice: `cba|abc|cba`."""
    if size == 1:
        return _clipped(x, 0, 0)
    # What is below zero mirrors at -1/2.
    below = _less_rounds(x, 2 * size)
    below = ops.select(
        below < -size,
        below + 2 * size,
        -below - 1,
    )
    above = _less_rounds(x, 2 * size)
    above = ops.select(above >= size, 2 * size - 1 - above, above)
    return _chosen(x, size, below, above)


def _wrapped(x: Node, size: int) -> Node:
    """From the last element to the first: `abc|abc|abc`."""
    if size == 1:
        return _clipped(x, 0, 0)
    rounds = ops.trunc(-x / (size - 1))
    below = x + (rounds + 1) * size
    rounds = ops.trunc(x / (size - 1))
    above = x - rounds * size
    return _chosen(x, size, below, above)


def _chosen(x: Node, size: int, below: Node, above: Node) -> Node:
    """Coordinates inside as they are, those below and above as given."""
    made = ops.select(x > size - 1, above, x)
    return _clipped(ops.select(x < 0, below, made), 0, size - 1)


PADDED: Final[dict[str, Callable[[Node, int], Node]]] = {
    "CONSTANT": lambda x, size: x,
    "NEAREST": _nearest,
    "REFLECT": _reflected,
    "WRAP": _wrapped,
}
"""Per fill mode: where a coordinate that may be outside is read."""


class _Grid:
    """Where in the images each pixel of the result is, before it is padded.

    `y`, `x`: f32[n or 1, height, width]. `there`: where the projection has a finite point.
    """

    def __init__(self, transforms: Node, height: int, width: int) -> None:
        column = ops.reshape(
            ops.convert(ops.iota(dtype=S64, shape=(width,), axis=0), dtype=F32),
            shape=(1, 1, width),
        )
        row = ops.reshape(
            ops.convert(ops.iota(dtype=S64, shape=(height,), axis=0), dtype=F32),
            shape=(1, height, 1),
        )
        count = transforms.type.shape[0]
        numbers = [
            ops.reshape(ops.part(transforms, 1, i, 1), shape=(count, 1, 1)) for i in range(8)
        ]

        def line(i: int, last: Node) -> Node:
            first = numbers[i] * column
            return first + numbers[i + 1] * row + last

        below = line(6, _f32(1))
        self.there = ops.not_equal(below, _f32(0))
        below = ops.select(self.there, below, _f32(1))
        self.x = line(0, numbers[2]) / below
        self.y = line(3, numbers[5]) / below


def _read(images: Node, y: Node, x: Node, there: Node, fill: Node) -> Node:
    """Pixels at whole coordinates; `fill` where there are none."""
    n, height, width, channels = images.type.shape
    for at, size in ((y, height), (x, width)):
        inside = (at >= 0) & (at < size)
        there = there & inside
    rows_ = ops.convert(_clipped(y, 0, height - 1), dtype=S64)
    columns = ops.convert(_clipped(x, 0, width - 1), dtype=S64)
    batch = ops.reshape(ops.iota(dtype=S64, shape=(n,), axis=0), shape=(n, 1, 1))
    made = ops.gather(images, batch, rows_, columns, axes=(0, 1, 2))
    mask = ops.reshape(there, shape=(*there.type.shape, 1))
    mask = ops.broadcast(mask, shape=(*made.type.shape[:3], channels))
    return ops.select(mask, made, fill)


def _between(images: Node, grid: _Grid, y: Node, x: Node, fill: Node) -> Node:
    """The mean of the four pixels around each point, weighted by nearness."""
    top, left = ops.floor(y), ops.floor(x)
    found: Node | None = None
    for i in (0, 1):
        for j in (0, 1):
            pixel = _read(images, top + i, left + j, grid.there, fill)
            share = _share(y, top, i) * _share(x, left, j)
            share = ops.reshape(share, shape=(*share.type.shape, 1))
            part = ops.convert(pixel, dtype=F32) * share
            found = part if found is None else found + part
    assert found is not None
    return found


def _share(at: Node, below: Node, second: int) -> Node:
    share = at - below
    return share if second else 1 - share


def _projected(
    images: Node,
    transforms: Node,
    shape: np.ndarray,
    fill: Node | None = None,
    *,
    interpolation: str,
    fill_mode: str = "CONSTANT",
    **_: Any,
) -> Node:
    height, width = (int(n) for n in shape)
    grid = _Grid(transforms, height, width)
    pad = PADDED[fill_mode]
    y, x = pad(grid.y, images.type.shape[1]), pad(grid.x, images.type.shape[2])
    dtype = images.type.dtype
    empty = number(0, images) if fill is None else ops.convert(fill, dtype=dtype)
    if interpolation == "NEAREST":
        return _read(images, ops.round_away(y), ops.round_away(x), grid.there, empty)
    made = _between(images, grid, y, x, empty)
    mask = ops.reshape(grid.there, shape=(*grid.there.type.shape, 1))
    mask = ops.broadcast(mask, shape=made.type.shape)
    return ops.select(mask, ops.convert(made, dtype=dtype), empty)


rows({"ImageProjectiveTransformV2": _projected, "ImageProjectiveTransformV3": _projected},
     host=(2,))  # fmt: skip
