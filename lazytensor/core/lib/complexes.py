"""Extremes of complex numbers: by real parts, then by imaginary ones. The first NaN wins."""

from __future__ import annotations

import math
from collections.abc import Callable

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import numerics

Axes = tuple[int, ...]
Combine = Callable[[Node, Node], Node]

LARGER: Combine = numerics.complex_extreme(ops.greater_equal, True)
SMALLER: Combine = numerics.complex_extreme(ops.less_equal, True)
COMPLEX_PAIRS = {ops.reduce_max: LARGER, ops.reduce_min: SMALLER}
"""By reduction of floats: the matching function of two complex numbers."""


def extreme(node: Node, axes: Axes, greatest: bool) -> Node:
    """The greatest, or least, over `axes`."""
    rest = [i for i in range(node.type.ndim) if i not in axes]
    turned = ops.transpose(node, axes=(*rest, *sorted(axes)))
    shape = tuple(node.type.shape[i] for i in rest)
    count = math.prod(node.type.shape[i] for i in axes)
    line = ops.reshape(turned, shape=(*shape, count))
    find = ops.complex_argmax if greatest else ops.complex_argmin
    place = ops.reshape(find(line, axis=len(shape)), shape=(*shape, 1))
    found = ops.take_along(line, place, axis=len(shape))
    return ops.reshape(found, shape=shape)


def clamp(low: Node, x: Node, high: Node) -> Node:
    """Complex numbers within limits. Of equal values, such as 0 and -0, the limit is taken."""
    for limit, before in ((low, ops.greater), (high, ops.less)):
        of_x, of_limit = (ops.real(x), ops.imag(x)), (ops.real(limit), ops.imag(limit))
        first, second = (before(a, b) for a, b in zip(of_x, of_limit, strict=True))
        inside = ops.select(ops.equal(of_x[0], of_limit[0]), second, first)
        x = ops.select(inside | ops.is_nan(x), x, limit)
    return x
