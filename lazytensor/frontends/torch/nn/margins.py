"""Margin losses with several classes, and their gradients.

Torch's decompositions of them sum other pairs than its kernels do, and keep an axis more.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import margins
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, of_nodes
from lazytensor.frontends.torch.dispatch.registry import Row


def _as_rows(x: Node) -> Node:
    shape = x.type.shape
    return x if len(shape) == 2 else ops.reshape(x, shape=(1, x.type.size))


def _column(x: Node, count: int) -> Node:
    """One number for each row: `count` of them, or the same for all."""
    return ops.reshape(x, shape=(count if x.type.size != 1 else 1, 1))


def _shared(slope: Node, grad: Node, reduction: int, like_: Node) -> Node:
    """The slopes of the losses of rows, divided by the classes, times the gradient."""
    count, classes = slope.type.shape
    divisor = classes * (count if reduction == 1 else 1)
    by = _column(grad, count) / like(divisor, grad)
    return ops.reshape(slope * by, shape=like_.type.shape)


def _require_rows(x: Node, target: Node) -> None:
    """Refuse what is no vector or matrix with classes, or targets that are no places."""
    require(target.type.dtype is S64)
    require(x.type.ndim <= 2 and (not x.type.ndim or bool(x.type.shape[-1])))


def _require_classes(x: Node, target: Node, p: Any, weight: Any) -> None:
    _require_rows(x, target)
    require(p in (1, 2))
    count, classes = (1, x.type.size) if x.type.ndim < 2 else x.type.shape
    require(target.type.shape == (count,) or (x.type.ndim < 2 and not target.type.ndim))
    require(weight is None or weight.type.shape == (classes,))


def _multi_margin(
    x: Node, target: Node, p: Any = 1, margin: Any = 1, weight: Any = None, reduction: int = 1
) -> Node:
    _require_classes(x, target, p, weight)
    at = _as_rows(x)
    count, classes = at.type.shape
    places = _known(ops.reshape(target, shape=(count,)), 0, classes, "target out of range")
    total = margins.multi_margin_loss(at, places, p, margin, weight)
    return _reduced(total, classes, x.type.ndim < 2 and not target.type.ndim, reduction)


def _multi_margin_backward(
    grad: Node, x: Node, target: Node, p: Any, margin: Any, weight: Any = None, reduction: int = 1
) -> Node:
    at = _as_rows(x)
    places = ops.reshape(target, shape=(at.type.shape[0],))
    slope = margins.multi_margin_slope(at, places, p, margin, weight)
    return _shared(slope, grad, reduction, x)


def _reduced(losses: Node, classes: int, is_line: bool, reduction: int) -> Node:
    """The losses of rows, divided by the classes; one for a line."""
    shares = losses / like(classes, losses)
    if reduction:
        shares = (ops.mean if reduction == 1 else ops.reduce_sum)(shares, axes=(0,))
    return ops.reshape(shares, shape=()) if is_line and not reduction else shares


def _known(places: Node, least: int, classes: int, text: str) -> Node:
    """The same, checked when the program runs."""
    inside = (places >= like(least, places)) & (places < like(classes, places))
    return sure(places, inside, text)


def _multilabel_margin(x: Node, target: Node, reduction: int) -> tuple[Node, Node]:
    _require_rows(x, target)
    require(target.type.shape == x.type.shape)
    at, places = _as_rows(x), _as_rows(target)
    classes = at.type.shape[1]
    places = _known(places, -1, classes, "argument #2 'target' is out of range")
    losses, named = margins.multilabel_margin_loss(at, places)
    made = _reduced(losses, classes, x.type.ndim < 2, reduction)
    return made, ops.reshape(cast_to(named, at.type.dtype), shape=x.type.shape)


def _multilabel_margin_backward(
    grad: Node, x: Node, target: Node, reduction: int, is_target: Node
) -> Node:
    at, places, named = map(_as_rows, (x, target, is_target))
    slope = margins.multilabel_margin_slope(at, places, ops.not_equal(named, like(0, named)))
    return _shared(slope, grad, reduction, x)


ROWS: dict[str, Row] = {
    "multi_margin_loss_backward": _multi_margin_backward,
    "multilabel_margin_loss_backward": _multilabel_margin_backward,
}
CHECKED: dict[str, Row] = {
    "multi_margin_loss": _multi_margin,
    "multilabel_margin_loss_forward": _multilabel_margin,
}
"""What is checked while it runs."""


rows(of_nodes(ROWS), composed=True)
rows(of_nodes(CHECKED), asks=True)
