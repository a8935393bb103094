"""Batch normalisation: statistics, running ones, and the gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, F16, F32
from lazytensor.core.ir.node import Node
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


def _inverse(variance: Node, eps: float) -> Node:
    return ops.rsqrt(variance + cast_to(eps, variance.type.dtype))


def _follow(running: Any, value: Node, momentum: float) -> None:
    """Move a running statistic towards that of the batch."""
    if running is None:
        return
    old = operand(running)
    new = cast_to(value, old.type.dtype)
    dtype = old.type.dtype
    kept = old * cast_to(1 - momentum, dtype)
    write(running, kept + new * cast_to(momentum, dtype))


def _train(
    x: Any, weight: Any, bias: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> Three:
    given = operand(x)
    count = given.type.size // max(given.type.shape[1], 1)
    center, spread = ops.channel_moments(given, axis=1)
    scale = _inverse(spread, eps)
    _follow(mean, center, momentum)
    unbiased = spread * cast_to(count / max(count - 1, 1), spread.type.dtype)
    _follow(variance, unbiased, momentum)
    made = ops.batch_norm(given, center, scale, *_scaling(given, weight, bias), axis=1)
    return made, center, scale


def _infer(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Three:
    given = operand(x)
    wide = _wide(given.type.dtype)
    center, spread = (cast_to(operand(line), wide) for line in (mean, variance))
    scaling = _scaling(given, weight, bias)
    made = ops.batch_norm(given, center, _inverse(spread, eps), *scaling, axis=1)
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
        scale = _inverse(cast_to(operand(variance), wide), eps)
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
    dtype, shape = given.type.dtype, given.type.shape
    outline = (1, n * groups, channels // groups * space)
    parts = ops.reshape(cast_to(given, _wide(dtype)), shape=outline)
    center, spread = ops.channel_moments(parts, axis=1)
    scale = _inverse(spread, eps)
    made = ops.reshape(ops.batch_norm(parts, center, scale, axis=1), shape=shape)
    scaling = _scaling(given, weight, bias)
    for line, op in zip(scaling, (ops.multiply, ops.add), strict=False):
        column = ops.reshape(line, shape=(channels, *[1] * (len(shape) - 2)))
        made = op(made, ops.broadcast(column, shape=shape))
    mixed = weight is not None and operand(weight).type.dtype != dtype
    kept = _wide(dtype) if mixed else dtype
    statistics = [cast_to(ops.reshape(s, shape=(n, groups)), kept) for s in (center, scale)]
    return cast_to(made, dtype), statistics[0], statistics[1]


def _weight_norm_backward(
    grad: Any, direction: Any, size: Any, norms: Any, dim: int
) -> tuple[Node, Node]:
    """The gradients for the direction and for the size of weights, of which `norms` are the lengths
    along all axes but `dim`."""
    given, v, g = operand(grad), operand(direction), operand(size)
    length = cast_to(operand(norms), v.type.dtype)
    axis = axis_of(dim, v.type.ndim)
    others = tuple(i for i in range(v.type.ndim) if i != axis)
    along = ops.reduce_sum(given * v, axes=others)
    share = ops.reshape(along, shape=g.type.shape) / length
    across = given - v * (share / length)
    return g / length * across, cast_to(share, g.type.dtype)


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
