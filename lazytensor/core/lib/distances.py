"""Distances between the rows of matrices, and their gradients."""

from __future__ import annotations

import math

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, filled, like, widened


def vector_norm(x: Node, p: float, axes: tuple[int, ...]) -> Node:
    """The p-norm over `axes`, computed in f32 at least; infinite `p` gives an extreme size.

    x: floats or complex. Result: the real dtype of x. Raises: ShapeError for an extreme of nothing.
    """
    if p == 2:
        return ops.norm2(x, axes=axes)
    narrow = ops.abs(x)
    sizes = widened(narrow)
    if math.isinf(p):
        made = (ops.reduce_max if p > 0 else ops.reduce_min)(sizes, axes=axes)
    elif p == 0:
        flags = ops.not_equal(sizes, like(0, sizes))
        made = ops.reduce_sum(cast_to(flags, sizes.type.dtype), axes=axes)
    elif p == 1:
        made = ops.reduce_sum(sizes, axes=axes)
    else:
        made = ops.reduce_sum(sizes ** like(p, sizes), axes=axes) ** like(1 / p, sizes)
    return cast_to(made, narrow.type.dtype)


def p_norm(apart: Node, p: float) -> Node:
    """The p-norm over the last axis; 0 of nothing. apart: floats."""
    if not apart.type.shape[-1]:
        return filled(apart.type.shape[:-1], 0, apart.type.dtype)
    if p == 2:
        last = (apart.type.ndim - 1,)
        return ops.sqrt(ops.reduce_sum(ops.square(apart), axes=last))
    return vector_norm(apart, p, (apart.type.ndim - 1,))


def _slope(apart: Node, distance: Node, p: float) -> Node:
    """How the p-norm changes with each element; nothing where it is 0."""
    sign, size = ops.sign(apart), ops.abs(apart)
    if p == 0 or not apart.type.size:
        return apart * 0
    made: Node
    if p == 1:
        return sign
    if math.isinf(p):
        made = sign * cast_to(ops.equal(size, distance), apart.type.dtype)
    else:
        share = (size / distance) ** like(p - 1, apart)
        made = sign * share
    nothing = ops.equal(distance, like(0, apart)) | ops.equal(size, like(0, apart))
    return ops.select(nothing, like(0, apart), made)


def _apart(x: Node, y: Node) -> Node:
    """The differences of all rows of `x` and all of `y`."""
    *a, n, m = x.type.shape
    *b, k, _ = y.type.shape
    rows_ = ops.reshape(x, shape=(*a, n, 1, m))
    return rows_ - ops.reshape(y, shape=(*b, 1, k, m))


def pair_distances(x: Node, y: Node, p: float) -> Node:
    """The p-norms of the differences of all rows of `x` and all of `y`.

    x: floats[..., n, m]. y: dtype of x[..., k, m]. Result: dtype of x[..., n, k].
    """
    return p_norm(_apart(x, y), p)


def pair_distances_gradient(grad: Node, x: Node, y: Node, p: float, distance: Node) -> Node:
    """The gradient of `pair_distances`, whose result was `distance`, at `x`, times `grad`."""
    slope = _slope(_apart(x, y), ops.new_axis(distance), p)
    shares = slope * ops.new_axis(grad)
    return ops.reduce_sum(shares, axes=(shares.type.ndim - 2,))


def _pairs(x: Node) -> tuple[Node, Node]:
    """The places of both rows of each pair."""
    first, second = np.triu_indices(x.type.shape[0], 1)
    return ops.leaf(first.astype(np.int64)), ops.leaf(second.astype(np.int64))


def _between(x: Node) -> Node:
    first, second = (ops.gather(x, places, axes=(0,)) for places in _pairs(x))
    return first - second


def row_distances(x: Node, p: float = 2.0) -> Node:
    """The p-norms of the differences of each row of `x` and those after it, in that order.

    x: floats[n, m]. Result: dtype of x[n * (n - 1) / 2].
    """
    if x.type.shape[0] < 2:
        return filled((0,), 0, x.type.dtype)
    return p_norm(_between(x), p)


def row_distances_gradient(grad: Node, x: Node, p: float, distance: Node) -> Node:
    """The gradient of `row_distances`, whose result was `distance`, times `grad`."""
    made: Node = filled(x.type.shape, 0, x.type.dtype)
    if x.type.shape[0] < 2:
        return made
    slope = _slope(_between(x), ops.new_axis(distance), p)
    shares = slope * ops.new_axis(grad)
    first, second = _pairs(x)
    made = ops.scatter(made, shares, first, axes=(0,), mode="add")
    return ops.scatter(made, -shares, second, axes=(0,), mode="add")
