"""Extremes of complex numbers: by real parts, then by imaginary ones; the first NaN before all."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from lazytensor.core import ops
from lazytensor.core.dtypes import S64
from lazytensor.core.node import Node
from lazytensor.core.op import scalar
from lazytensor.frontends.numpy import numerics

Axes = tuple[int, ...]
Combine = Callable[[Node, Node], Node]

LARGER: Combine = numerics.complex_extreme(ops.greater_equal, True)
SMALLER: Combine = numerics.complex_extreme(ops.less_equal, True)
OF_TWO = {ops.reduce_max: LARGER, ops.reduce_min: SMALLER}
"""Per reduction of floats: the function of two complex numbers that goes with it."""


def position(line: Node, axis: int, greatest: bool) -> Node:
    """Where along `axis` the greatest, or least, is first, by reductions of the parts."""
    best, rest = (ops.reduce_max, -math.inf) if greatest else (ops.reduce_min, math.inf)
    shape = tuple(1 if i == axis else n for i, n in enumerate(line.type.shape))
    re, im = ops.real(line), ops.imag(line)

    def extreme(x: Node) -> Node:
        return cast(Node, ops.reshape(best(x, axes=(axis,)), shape=shape))

    among = ops.equal(re, extreme(re))
    im = ops.select(among, im, scalar(rest, im.type.dtype))
    among = ops.and_(among, ops.equal(im, extreme(im)))
    n = scalar(line.type.shape[axis], S64)
    places = ops.iota(dtype=S64, shape=line.type.shape, axis=axis)
    found, missing = (
        ops.reduce_min(ops.select(flags, places, n), axes=(axis,))
        for flags in (among, ops.is_nan(line))
    )
    return cast(Node, ops.select(ops.less(missing, n), missing, found))


def extreme(node: Node, axes: Axes, greatest: bool) -> Node:
    """The greatest, or least, over `axes`."""
    rest = [i for i in range(node.type.ndim) if i not in axes]
    turned = ops.transpose(node, axes=(*rest, *sorted(axes)))
    shape = tuple(node.type.shape[i] for i in rest)
    count = math.prod(node.type.shape[i] for i in axes)
    line = ops.reshape(turned, shape=(*shape, count))
    place = ops.reshape(position(line, len(shape), greatest), shape=(*shape, 1))
    found = ops.take_along(line, place, axis=len(shape))
    return cast(Node, ops.reshape(found, shape=shape))
