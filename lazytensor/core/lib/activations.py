"""Gradients of activations; gated units and how they move with their operands."""

from __future__ import annotations

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import like
from lazytensor.core.ops.movement import part


def _halves(x: Node, axis: int) -> list[Node]:
    count = x.type.shape[axis] // 2
    return [part(x, axis, start, count) for start in (0, count)]


def gated_tangent(gated: Node, x: Node, tangent: Node, axis: int) -> Node:
    """How half of `x` by the logistic function of the other, which is `gated`, moves with `x`."""
    share = ops.logistic(_halves(x, axis)[1])
    first, second = _halves(tangent, axis)
    return first * share + (1 - share) * gated * second


def gated_gradient_tangent(
    slope: Node, grad: Node, x: Node, moved_grad: Node, moved: Node, axis: int
) -> Node:
    """How `slope`, the gradient of a gated unit for `grad`, moves with `grad` and with `x`."""
    (first, second), (dfirst, dsecond), (_, gate) = (_halves(t, axis) for t in (x, moved, slope))
    share = ops.logistic(second)
    rest = 1 - share
    change = share * rest * dsecond
    low = moved_grad * share + grad * change
    bend = gate * ((rest - share) * dsecond)
    product = moved_grad * first + grad * dfirst
    return ops.concatenate(low, share * rest * product + bend, axis=axis)


def within_masked(grad: Node, x: Node, bound: float) -> Node:
    """`grad`, 0 where the size of `x` is at most a bound."""
    return ops.select(ops.abs(x) <= like(bound, x), like(0, grad), grad)


def logistic_gradient(grad: Node, y: Node) -> Node:
    """The gradient of the logistic function, whose result was `y`."""
    return grad * (y * (like(1, y) - y))


def tanh_gradient(grad: Node, y: Node) -> Node:
    """The gradient of the hyperbolic tangent, whose result was `y`."""
    return grad * (like(1, y) - ops.square(y))
