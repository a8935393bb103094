"""Batch normalisation: statistics, running ones, and the gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, F16, F32
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.normalization import (
    group_norm,
    moved_statistic,
    reciprocal_deviation,
    unbiased,
    weight_norm_gradient,
)
from lazytensor.frontends.torch.dispatch.kernels import rows, write
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.strides import axis_of

Three = tuple[Node, Node, Node]


def _wide(dtype: np.dtype) -> np.dtype:
    return F32 if dtype in (F16, BF16) else dtype


def _scaling(x: Node, weight: Any, bias: Any) -> list[Node]:
    lines = [None if line is None else operand(line) for line in (weight, bias)]
    if lines[1] is not None and lines[0] is None:
        lines[0] = filled(lines[1].type.shape, 1, lines[1].type.dtype)
    wide = _wide(x.type.dtype)
    return [cast_to(line, wide) for line in lines if line is not None]


def _follow(running: Any, value: Node, momentum: float) -> None:
    """Move a running statistic towards that of the batch."""
    if running is None:
        return
    write(running, moved_statistic(operand(running), value, momentum))


def _train(
    x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> Three:
    given = operand(x)
    count = given.type.size // max(given.type.shape[1], 1)
    center, spread = ops.channel_moments(given, axis=1)
    scale = reciprocal_deviation(spread, eps)
    _follow(mean, center, momentum)
    _follow(variance, unbiased(spread, count), momentum)
    made = ops.batch_norm(given, center, scale, *_scaling(given, weight, bias), axis=1)
    return made, center, scale


def _infer(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Three:
    given = operand(x)
    wide = _wide(given.type.dtype)
    center, spread = (cast_to(operand(line), wide) for line in (mean, variance))
    scaling = _scaling(given, weight, bias)
    made = ops.batch_norm(given, center, reciprocal_deviation(spread, eps), *scaling, axis=1)
    nothing = filled((0,), 0, wide)
    return made, nothing, nothing


def _norm(
    x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, momentum: float,
    eps: float,
) -> Three:  # fmt: skip
    if training:
        return _train(x, weight, bias, mean, variance, momentum, eps)
    return _infer(x, weight, bias, mean, variance, eps)


def _reserved(*made: Node) -> tuple[Node, ...]:
    """Results, and the workspace of other libraries, which is empty here."""
    return (*made, filled((0,), 0, np.dtype(np.uint8)))


def _backward(
    grad: Any, x: Any, weight: Any, mean: Any, variance: Any, save_mean: Any, save_scale: Any,
    train: bool, eps: float, output_mask: Sequence[bool],
) -> tuple[Node | None, ...]:  # fmt: skip
    given = operand(x)
    wide = _wide(given.type.dtype)
    if train:
        center, scale = operand(save_mean), operand(save_scale)
    else:
        center = cast_to(operand(mean), wide)
        scale = reciprocal_deviation(cast_to(operand(variance), wide), eps)
    lines = [] if weight is None else [cast_to(operand(weight), wide)]
    own = cast_to(operand(grad), given.type.dtype)
    made = ops.batch_norm_backward(own, given, center, scale, *lines, axis=1, fixed=not train)
    of_x, *rest = made
    dtype = wide if weight is None else operand(weight).type.dtype
    found = (of_x, *(cast_to(line, dtype) for line in rest))
    return tuple(g if wanted else None for g, wanted in zip(found, output_mask, strict=True))


def _group_norm(
    x: Any, weight: Any, bias: Any, n: int, channels: int, space: int, groups: int, eps: float
) -> Three:
    """Each group of an image's channels is normalised as a channel of a batch is."""
    given = operand(x)
    made, *statistics = group_norm(given, groups, _scaling(given, weight, bias), eps)
    mixed = weight is not None and operand(weight).type.dtype != given.type.dtype
    kept = _wide(given.type.dtype) if mixed else given.type.dtype
    center, scale = (cast_to(line, kept) for line in statistics)
    return made, center, scale


def _weight_norm_backward(
    grad: Any, direction: Any, size: Any, norms: Any, dim: int
) -> tuple[Node, Node]:
    """The gradients for the direction and for the size of weights, of which `norms` are the lengths
    along all axes but `dim`."""
    given, v, g, lengths = map(operand, (grad, direction, size, norms))
    return weight_norm_gradient(given, v, g, lengths, axis_of(dim, v.type.ndim))


COMPOSED: dict[str, Row] = {"_weight_norm_interface_backward": _weight_norm_backward}
KERNELS: dict[str, Row] = {
    "native_batch_norm": _norm,
    "_native_batch_norm_legit": _norm,
    "_native_batch_norm_legit.no_stats": lambda x, weight, bias, training, momentum, eps: _norm(
        x, weight, bias, None, None, True, momentum, eps
    ),
    "_batch_norm_with_update": lambda *args: _reserved(*_train(*args)),
    "_batch_norm_no_update": lambda x, weight, bias, mean, variance, momentum, eps: _reserved(
        *_infer(x, weight, bias, mean, variance, eps)
    ),
    "native_group_norm": _group_norm,
    "native_batch_norm_backward": _backward,
    "batch_norm_backward": lambda *args: _backward(*args[:-1]),
}


rows(KERNELS, images=True, asks=True)
rows(COMPOSED, composed=True)
