"""Batches, groups and weights normalized; running statistics."""

from __future__ import annotations

from collections.abc import Sequence

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, like, widened


def reciprocal_deviation(variance: Node, epsilon: float) -> Node:
    """`1 / sqrt(variance + epsilon)`. variance: f32 or f64."""
    return ops.rsqrt(variance + like(epsilon, variance))


def unbiased(variance: Node, count: int) -> Node:
    """The variance of a sample of `count` elements as an estimate of that of all."""
    return variance * like(count / max(count - 1, 1), variance)


def moved_statistic(old: Node, new: Node, momentum: float) -> Node:
    """A running statistic moved towards that of a batch. Result: type of old."""
    kept = old * like(1 - momentum, old)
    return kept + cast_to(new, old.type.dtype) * like(momentum, old)


def group_norm(
    x: Node, groups: int, scaling: Sequence[Node], epsilon: float
) -> tuple[Node, Node, Node]:
    """Each group of an image's channels, normalized; the means; the reciprocal deviations.

    x: floats[n, channels, *space]. scaling: weight, or weight and bias, f32, or f64 if x is f64,
    [channels]. Result: type of x; twice f32, or f64, [n, groups].
    """
    n, channels, *space = x.type.shape
    outline = (1, n * groups, x.type.size // max(n * groups, 1))
    parts = ops.reshape(widened(x), shape=outline)
    center, spread = ops.channel_moments(parts, axis=1)
    scale = reciprocal_deviation(spread, epsilon)
    made = ops.reshape(ops.batch_norm(parts, center, scale, axis=1), shape=x.type.shape)
    for line, op in zip(scaling, (ops.multiply, ops.add), strict=False):
        column = ops.reshape(line, shape=(channels, *[1] * len(space)))
        made = op(made, ops.broadcast(column, shape=x.type.shape))
    mean, deviation = (ops.reshape(line, shape=(n, groups)) for line in (center, scale))
    return cast_to(made, x.type.dtype), mean, deviation


def weight_norm_gradient(
    grad: Node, direction: Node, size: Node, lengths: Node, axis: int
) -> tuple[Node, Node]:
    """The gradients of weights `size * direction / lengths`, for their direction and their size.

    grad, direction: floats of one type. size: floats, 1 along all axes but `axis`. lengths: of
    `direction` along these axes.
    """
    others = tuple(i for i in range(direction.type.ndim) if i != axis)
    length = cast_to(lengths, direction.type.dtype)
    along = ops.reduce_sum(grad * direction, axes=others)
    share = ops.reshape(along, shape=size.type.shape) / length
    across = grad - direction * (share / length)
    return size / length * across, cast_to(share, size.type.dtype)
