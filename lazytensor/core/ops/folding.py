"""Reductions that XLA lacks: one half is combined with the other until one element is left."""

from __future__ import annotations

import math
from collections.abc import Callable

from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import INTS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, starts
from lazytensor.core.ir.shapes import check_axes
from lazytensor.core.ops.elementwise import gcd
from lazytensor.core.ops.movement import concatenate, reshape, slice, transpose

Combine = Callable[[Node, Node], Node]
Axes = tuple[int, ...]


def fold(combine: Combine, node: Node, axes: Axes) -> Node:
    """`node` reduced over `axes`, which have at least one element, in any order."""
    rest = [axis for axis in range(node.type.ndim) if axis not in axes]
    shape = tuple(node.type.shape[axis] for axis in rest)
    turned = transpose(node, axes=(*sorted(axes), *rest))
    count = math.prod(node.type.shape[axis] for axis in axes)
    left = reshape(turned, shape=(count, *shape))
    while left.type.shape[0] > 1:
        left = _halved(combine, left)
    return reshape(left, shape=shape)


def _halved(combine: Combine, node: Node) -> Node:
    """The first half combined with the second; an odd last row is kept."""
    n = node.type.shape[0]
    made = combine(_rows(node, 0, n // 2), _rows(node, n // 2, n // 2))
    if n % 2:
        made = concatenate(made, _rows(node, n - 1, 1), axis=0)
    return made


def _rows(node: Node, first: int, count: int) -> Node:
    rest = node.type.shape[1:]
    begin = starts((first, *[0] * len(rest)))
    strides = (1,) * node.type.ndim
    return slice(node, begin, sizes=(count, *rest), strides=strides)


@composite
def reduce_gcd(x: Node, *, axes: Axes) -> Node:
    """The greatest common divisor over `axes`, which have at least one element.

    x: integers. Raises: DTypeError, ShapeError. Source: numpy.gcd.reduce.
    """
    check_dtype("reduce_gcd", INTS, x.type)
    check_axes("reduce_gcd", x.type, axes)
    return fold(gcd, gcd(x, x), axes)
