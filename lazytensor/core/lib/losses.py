"""Losses, element by element, and their slopes; losses of classes."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, like


def _halved_square(apart: Node) -> Node:
    return 0.5 * ops.square(apart)


def huber(apart: Node, delta: float) -> Node:
    """Half the square of a difference up to `delta`, and linear beyond. apart: floats.

    Source: Huber (1964), doi 10.1214/aoms/1177703732.
    """
    size = ops.abs(apart)
    bound = like(delta, size)
    beyond = bound * (size - like(0.5 * delta, size))
    return ops.select(size <= bound, _halved_square(size), beyond)


def huber_slope(apart: Node, delta: float) -> Node:
    """The slope of `huber`: the difference, but at most `delta` either way."""
    bound, least = like(delta, apart), like(-delta, apart)
    slope = ops.select(apart > bound, bound, apart)
    return ops.select(apart < least, least, slope)


def smooth_l1(apart: Node, beta: float) -> Node:
    """The size of a difference less half of `beta`, and a parabola below `beta`. apart: floats.

    Source: Girshick, arXiv 1504.08083.
    """
    size = ops.abs(apart)
    bound = like(beta, size)
    below = _halved_square(size) / bound
    return ops.select(size < bound, below, size - like(0.5 * beta, size))


def smooth_l1_slope(apart: Node, beta: float) -> Node:
    """The slope of `smooth_l1`: the difference by `beta`, but at most 1 either way."""
    one, bound = like(1.0, apart), like(beta, apart)
    slope = ops.select(apart >= bound, one, apart / bound)
    return ops.select(apart <= -bound, -one, slope)


def binary_cross_entropy(x: Node, target: Node) -> Node:
    """The loss of a probability; logarithms are -100 at least. x, target: floats from 0 to 1."""
    one, least = like(1.0, x), like(-100.0, x)
    off, on = (ops.maximum(log, least) for log in (ops.log1p(-x), ops.log(x)))
    return (target - one) * off - target * on


def binary_cross_entropy_slope(x: Node, target: Node) -> Node:
    """The slope of `binary_cross_entropy` at `x`."""
    product = (like(1.0, x) - x) * x
    return (x - target) / ops.maximum(product, like(1e-12, x))


class Classes(NamedTuple):
    """The class of each row, which of the rows count, and their weights.

    places: s64[n, *space]. counted: bools. shares: floats.
    """

    places: Node
    counted: Node
    shares: Node

    @classmethod
    def weighed(cls, places: Node, counted: Node, weight: Node | None, like_: Node) -> Classes:
        """Rows that weigh what their class does, or 1; those that do not count weigh 0."""
        shares = cast_to(counted, like_.type.dtype)
        if weight is not None:
            shares = shares * ops.gather(weight, places, axes=(0,))
        return cls(places, counted, shares)


def class_losses(x: Node, classes: Classes) -> Node:
    """The negative logarithm of the probability of each row's class, times its share.

    x: floats[n, classes, *space], logarithms. Result: dtype of x[n, *space].
    """
    count, *space = classes.places.type.shape
    column = ops.reshape(classes.places, shape=(count, 1, *space))
    found = ops.reshape(ops.take_along(x, column, axis=1), shape=(count, *space))
    return ops.select(classes.counted, -(found * classes.shares), like(0, x))


def class_losses_gradient(grad: Node, x: Node, classes: Classes) -> Node:
    """The gradient of `class_losses` at `x`. grad: floats, of one element or of each row."""
    shares = ops.select(classes.counted, -grad * classes.shares, like(0, x))
    hit = one_hot(classes.places, x.type.shape[1], 1)
    count, *space = classes.places.type.shape
    column = ops.reshape(shares, shape=(count, 1, *space))
    return ops.select(hit, column, like(0, x))


def one_hot(places: Node, depth: int, axis: int) -> Node:
    """Along a new axis of `depth` elements: whether each is at the place. Result: bools.

    places: integers; one that is not from 0 to `depth` - 1 has no element.
    """
    shape = (*places.type.shape[:axis], depth, *places.type.shape[axis:])
    line = ops.iota(dtype=places.type.dtype, shape=shape, axis=axis)
    return ops.equal(line, ops.new_axis(places, axis))


def sparse_cross_entropy(x: Node, places: Node) -> tuple[Node, Node]:
    """The loss of each row's class, and its gradient. x: floats[n, classes], logits.

    places: s64[n]. Result: dtype of x[n]; type of x.
    """
    logs = ops.log_softmax(x, axis=1)
    found = ops.take_along(logs, ops.new_axis(places), axis=1)
    hot = cast_to(one_hot(places, x.type.shape[1], 1), x.type.dtype)
    return -ops.reshape(found, shape=(x.type.shape[0],)), ops.exp(logs) - hot


def cross_entropy(x: Node, target: Node) -> tuple[Node, Node]:
    """The loss of each row against probabilities of all classes, and its gradient.

    x, target: floats[n, classes]; x are logits. Result: dtype of x[n]; type of x.
    """
    logs = ops.log_softmax(x, axis=1)
    zero = like(0, target)
    terms = ops.select(ops.equal(target, zero), zero, target * logs)
    return -ops.reduce_sum(terms, axes=(1,)), ops.exp(logs) - target
