"""Gradients of the margin losses with several classes; torch decomposes the losses themselves."""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.dtypes import S64
from lazytensor.core.node import Node
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import cast_to, like, operand


def _as_rows(x: Node) -> Node:
    shape = x.type.shape
    made: Node = x if len(shape) == 2 else ops.reshape(x, shape=(1, x.type.size))
    return made


def _column(x: Node, count: int) -> Node:
    """One number for each row: `count` of them, or the same for all."""
    made: Node = ops.reshape(x, shape=(count if x.type.size != 1 else 1, 1))
    return made


def _hits(places: Node, classes: int) -> Node:
    """Along a new last axis: whether it is the class at that place."""
    shape = (*places.type.shape, classes)
    found = ops.iota(dtype=S64, shape=shape, axis=len(shape) - 1)
    made: Node = ops.equal(found, ops.reshape(cast_to(places, S64), shape=(*shape[:-1], 1)))
    return made


def _only(flags: Node, x: Node) -> Node:
    made: Node = ops.select(flags, x, like(0, x))
    return made


def _sum(x: Node, axis: int) -> Node:
    made: Node = ops.reduce_sum(x, axes=(axis,))
    return made


def _shared(slope: Node, grad: Node, reduction: int) -> Node:
    """The slopes of the losses of rows, divided by the classes, times the gradient."""
    count, classes = slope.type.shape
    divisor = classes * (count if reduction == 1 else 1)
    by = ops.divide(_column(grad, count), like(divisor, grad))
    made: Node = ops.multiply(slope, by)
    return made


def _multi_margin_backward(
    grad: Any, x: Any, target: Any, p: Any, margin: Any, weight: Any = None, reduction: int = 1
) -> Node:
    given = operand(x)
    at, places = _as_rows(given), operand(target)
    count, classes = at.type.shape
    places = ops.reshape(places, shape=(count,))
    hit = _hits(places, classes)
    own = ops.reshape(_sum(_only(hit, at), 1), shape=(count, 1))
    apart = ops.add(ops.subtract(at, own), like(margin, at))
    slope = like(1, at) if p == 1 else ops.multiply(like(2, at), apart)
    slope = ops.select(ops.greater(apart, like(0, at)), slope, like(0, at))
    slope = ops.select(hit, like(0, at), slope)
    if weight is not None:
        share = ops.gather(operand(weight), cast_to(places, S64), axes=(0,))
        slope = ops.multiply(slope, ops.reshape(share, shape=(count, 1)))
    lost = ops.negate(ops.reshape(_sum(slope, 1), shape=(count, 1)))
    made = _shared(ops.select(hit, lost, slope), operand(grad), reduction)
    return ops.reshape(made, shape=given.type.shape)


def _multilabel_margin_backward(
    grad: Any, x: Any, target: Any, reduction: int, is_target: Any
) -> Node:
    given = operand(x)
    at, places, named = map(_as_rows, (given, operand(target), operand(is_target)))
    count, classes = at.type.shape
    valid = ops.cumprod(cast_to(ops.greater_equal(places, like(0, places)), S64), axis=1)
    hits = ops.and_(  # row, label, class; a row's labels end with its first -1
        _hits(places, classes),
        ops.reshape(ops.equal(valid, cast_to(1, S64)), shape=(count, classes, 1)),
    )
    row = ops.reshape(at, shape=(count, 1, classes))
    own = ops.reshape(_sum(_only(hits, row), 2), shape=(count, classes, 1))
    apart = ops.add(ops.subtract(row, own), like(1, at))
    other = ops.equal(ops.reshape(named, shape=(count, 1, classes)), like(0, named))
    labelled = ops.reduce_or(hits, axes=(2,))
    active = ops.and_(ops.greater(apart, like(0, at)), other)
    active = ops.and_(active, ops.reshape(labelled, shape=(count, classes, 1)))
    steps = cast_to(active, at.type.dtype)
    lost = ops.reshape(_sum(steps, 2), shape=(count, classes, 1))
    slope = ops.subtract(_sum(steps, 1), _sum(_only(hits, lost), 1))
    made = _shared(slope, operand(grad), reduction)
    return ops.reshape(made, shape=given.type.shape)


ROWS: dict[str, Row] = {
    "multi_margin_loss_backward": _multi_margin_backward,
    "multilabel_margin_loss_backward": _multilabel_margin_backward,
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, composed=True)
