"""Reductions that XLA has not: of one half with the other until one is left, and of segments.

For greatest common divisors, `logaddexp` and the like; and for `reduceat`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.node import Node
from lazytensor.core.op import leaf, starts

Combine = Callable[[Node, Node], Node]
Axes = tuple[int, ...]


def fold(combine: Combine, node: Node, axes: Axes) -> Node:
    """`node` with its elements along `axes`, at least one, combined in any order."""
    rest = [axis for axis in range(node.type.ndim) if axis not in axes]
    shape = tuple(node.type.shape[axis] for axis in rest)
    turned = ops.transpose(node, axes=(*sorted(axes), *rest))
    count = math.prod(node.type.shape[axis] for axis in axes)
    left = cast(Node, ops.reshape(turned, shape=(count, *shape)))
    while left.type.shape[0] > 1:
        left = _halved(combine, left)
    return cast(Node, ops.reshape(left, shape=shape))


def _halved(combine: Combine, node: Node) -> Node:
    """The first half combined with the second; one that is left over stays."""
    n = node.type.shape[0]
    made = combine(_rows(node, 0, n // 2), _rows(node, n // 2, n // 2))
    if n % 2:
        made = ops.concatenate(made, _rows(node, n - 1, 1), axis=0)
    return made


def _rows(node: Node, first: int, count: int) -> Node:
    rest = node.type.shape[1:]
    begin = starts((first, *[0] * len(rest)))
    strides = (1,) * node.type.ndim
    return cast(Node, ops.slice(node, begin, sizes=(count, *rest), strides=strides))


def by_segment(node: Node, places: np.ndarray, axis: int, mode: str) -> Node:
    """Along `axis`, what is from each of `places`, which must rise, up to the next, combined.

    `mode` as in `scatter`. Raises: IndexError; Unsupported for places that do not rise.
    """
    n = node.type.shape[axis]
    if places.ndim != 1 or not places.size or (np.diff(places) <= 0).any():
        raise Unsupported("reduceat: indices that do not rise")
    if places[0] < 0 or places[-1] >= n:
        np.add.reduceat(np.zeros(n), places)  # raises
    heads = leaf(places.astype(np.int64))
    return cast(Node, ops.reduce_segments(node, heads, axis=axis, mode=mode))
