"""Elementwise losses: mean square, Huber's and smooth L1, and binary cross entropy."""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import losses
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import check_cast, rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand, promoted
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.tensor import TORCH

MEAN = 1
"""Torch's number for the reduction; 0 is none, 2 the sum."""


def _apart(x: Any, target: Any) -> Node:
    return ops.subtract(*promoted(x, target))


def _reduced(made: Node, reduction: int) -> Node:
    axes = tuple(range(made.type.ndim))
    if reduction == 0:
        return made
    return (ops.mean if reduction == MEAN else ops.reduce_sum)(made, axes=axes)


def _passed_on(slope: Node, grad: Any, reduction: int) -> Node:
    """The gradient of a loss with this slope in each element."""
    share = 1.0 / slope.type.size if reduction == MEAN and slope.type.size else 1.0
    given = cast_to(operand(grad), slope.type.dtype)
    return slope * like(share, slope) * given


def _mse(x: Any, target: Any, reduction: int = MEAN) -> Node:
    return _reduced(ops.square(_apart(x, target)), reduction)


def _mse_backward(grad: Any, x: Any, target: Any, reduction: int) -> Node:
    apart = _apart(x, target)
    return _passed_on(apart * 2.0, grad, reduction)


def _huber(x: Any, target: Any, reduction: int = MEAN, delta: float = 1.0) -> Node:
    require(delta > 0)
    made = losses.huber(_apart(x, target), delta)
    wanted = operand(x).type.dtype  # as in torch: the operands are not promoted
    check_cast(made, TORCH[wanted])
    return _reduced(cast_to(made, wanted), reduction)


def _huber_backward(grad: Any, x: Any, target: Any, reduction: int, delta: float) -> Node:
    return _passed_on(losses.huber_slope(_apart(x, target), delta), grad, reduction)


def _smooth_l1(x: Any, target: Any, reduction: int = MEAN, beta: float = 1.0) -> Node:
    require(beta >= 0)
    return _reduced(losses.smooth_l1(_apart(x, target), beta), reduction)


def _smooth_l1_backward(grad: Any, x: Any, target: Any, reduction: int, beta: float) -> Node:
    return _passed_on(losses.smooth_l1_slope(_apart(x, target), beta), grad, reduction)


def _fraction(x: Node, role: str) -> Node:
    """`x`, whose elements must be from 0 to 1: checked when the program runs."""
    zero, one = like(0.0, x), like(1.0, x)
    inside = (x >= zero) & (x <= one)
    return sure(x, inside, f"all elements of {role} should be between 0 and 1")


def _binary_cross_entropy(x: Any, target: Any, weight: Any = None, reduction: int = MEAN) -> Node:
    given = _fraction(operand(x), "input")
    wanted = _fraction(operand(target), "target")
    made = losses.binary_cross_entropy(given, wanted)
    if weight is not None:
        made = made * operand(weight)
    return _reduced(made, reduction)


def _binary_cross_entropy_backward(
    grad: Any, x: Any, target: Any, weight: Any = None, reduction: int = MEAN
) -> Node:
    given, wanted = operand(x), operand(target)
    slope = losses.binary_cross_entropy_slope(given, wanted)
    if weight is not None:
        slope = slope * operand(weight)
    return _passed_on(slope, grad, reduction)


ROWS: dict[str, Row] = {"mse_loss": _mse, "mse_loss_backward": _mse_backward}
CHECKED: dict[str, Row] = {"binary_cross_entropy": _binary_cross_entropy}
"""Rows whose data is checked while the program runs."""
COMPOSED: dict[str, Row] = {
    "huber_loss": _huber,
    "binary_cross_entropy_backward": _binary_cross_entropy_backward,
    "huber_loss_backward": _huber_backward,
    "smooth_l1_loss": _smooth_l1,
    "smooth_l1_loss_backward": _smooth_l1_backward,
}


rows(ROWS, pure=True)
rows(CHECKED, asks=True)
rows(COMPOSED, composed=True)
