"""Margin losses with several classes, and their gradients; losses are of rows."""

from __future__ import annotations

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, like, whole


def _hits(places: Node, classes: int) -> Node:
    """Along a new last axis: whether it is the class at that place."""
    shape = (*places.type.shape, classes)
    found = ops.iota(dtype=S64, shape=shape, axis=len(shape) - 1)
    return ops.equal(found, ops.new_axis(cast_to(places, S64)))


def _only(flags: Node, x: Node) -> Node:
    return ops.select(flags, x, like(0, x))


def _sum(x: Node, axis: int) -> Node:
    return ops.reduce_sum(x, axes=(axis,))


def _beyond(x: Node, hit: Node, margin: float) -> tuple[Node, Node]:
    """How far each class is beyond the margin of the row's own, and whether it counts."""
    apart = x - ops.new_axis(_sum(_only(hit, x), 1)) + like(margin, x)
    return apart, (apart > 0) & ~hit


def _weighed(x: Node, places: Node, weight: Node | None) -> Node:
    if weight is None:
        return x
    return x * ops.new_axis(ops.gather(weight, cast_to(places, S64), axes=(0,)))


def multi_margin_loss(x: Node, places: Node, p: float, margin: float, weight: Node | None) -> Node:
    """The sum over the other classes of `max(0, margin - own + other) ** p`.

    x: floats[n, classes]. places: integers[n], the rows' classes. p: 1 or 2. weight: dtype of x,
    [classes]. Result: dtype of x[n].
    """
    apart, active = _beyond(x, _hits(places, x.type.shape[1]), margin)
    losses = _only(active, apart if p == 1 else ops.square(apart))
    return _sum(_weighed(losses, places, weight), 1)


def multi_margin_slope(x: Node, places: Node, p: float, margin: float, weight: Node | None) -> Node:
    """The slope of `multi_margin_loss` at `x`. Result: type of x."""
    hit = _hits(places, x.type.shape[1])
    apart, active = _beyond(x, hit, margin)
    slope = like(p, x) * (like(1, x) if p == 1 else apart)
    slope = _weighed(ops.select(active, slope, like(0, x)), places, weight)
    return ops.select(hit, -ops.new_axis(_sum(slope, 1)), slope)


def _labels(places: Node, classes: int) -> Node:
    """For each row and label, whether it is the class; a row's labels end with its first -1."""
    valid = ops.cumprod(cast_to(places >= 0, S64), axis=1)
    return _hits(places, classes) & ops.new_axis(ops.equal(valid, whole(1)))


def _pairs(x: Node, hits: Node) -> tuple[Node, Node]:
    """How far each class is beyond the margin of each label's, and which labels there are."""
    count, classes = x.type.shape
    row = ops.reshape(x, shape=(count, 1, classes))
    own = ops.new_axis(_sum(_only(hits, row), 2))
    return row - own + 1, ops.new_axis(ops.reduce_or(hits, axes=(2,)))


def multilabel_margin_loss(x: Node, places: Node) -> tuple[Node, Node]:
    """The sum over labels and other classes of `max(0, 1 - label + other)`; which classes are
    labels.

    x: floats[n, classes]. places: s64[n, classes], a row's labels up to its first -1.
    Result: dtype of x[n]; bools[n, classes].
    """
    hits = _labels(places, x.type.shape[1])
    named = ops.reduce_or(hits, axes=(1,))
    apart, labelled = _pairs(x, hits)
    others = ~ops.reshape(named, shape=(x.type.shape[0], 1, x.type.shape[1]))
    active = others & labelled & (apart > 0)
    return _sum(_sum(_only(active, apart), 2), 1), named


def multilabel_margin_slope(x: Node, places: Node, named: Node) -> Node:
    """The slope of `multilabel_margin_loss` at `x`. named: bools, shape of x. Result: type of x."""
    hits = _labels(places, x.type.shape[1])
    apart, labelled = _pairs(x, hits)
    other = ~ops.reshape(named, shape=(x.type.shape[0], 1, x.type.shape[1]))
    steps = cast_to((apart > 0) & other & labelled, x.type.dtype)
    lost = ops.new_axis(_sum(steps, 2))
    return _sum(steps, 1) - _sum(_only(hits, lost), 1)
