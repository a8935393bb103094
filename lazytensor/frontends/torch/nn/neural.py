"""Activations, normalisation, losses, embeddings, dropout; and the gradients torch asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib import activations, losses
from lazytensor.core.lib.numbers import is_inexact
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, of_nodes, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.random.drawing import bernoulli
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.rows.elementwise import multiply
from lazytensor.frontends.torch.tensors.strides import axis_of
from lazytensor.frontends.torch.tensors.tensor import numpy_dtype


def _softmax(name: str) -> Row:
    op = getattr(ops, name)

    def row(x: Node, dim: int, half_to_float: bool = False, dtype: Any = None) -> Node:
        if half_to_float or dtype is not None:
            x = cast_to(x, F32 if dtype is None else numpy_dtype(dtype))
        if not x.type.size:
            return x
        if not x.type.ndim:
            axis_of(dim, 0)  # for its error
            return ops.reshape(op(ops.reshape(x, shape=(1,)), axis=0), shape=())
        return op(x, axis=axis_of(dim, x.type.ndim))

    return row


_masked_softmax = _softmax("masked_softmax")


def _safe_softmax(x: Node, dim: int, dtype: Any = None) -> Node:
    return _masked_softmax(x, dim, dtype=dtype)


def _softmax_backward(name: str) -> Row:
    op = getattr(ops, name)

    def row(grad: Node, output: Node, dim: int, input_dtype: Any) -> Node:
        if not output.type.ndim:
            grad, output = (ops.reshape(t, shape=(1,)) for t in (grad, output))
            return ops.reshape(op(grad, output, axis=0), shape=())
        made = op(grad, output, axis=axis_of(dim, output.type.ndim))
        return cast_to(made, numpy_dtype(input_dtype))

    return row


def _is_approximate(word: str) -> bool:
    require(word in ("none", "tanh"))
    return word == "tanh"


def _gelu(x: Node, *, approximate: str = "none") -> Node:
    return ops.gelu(x, approximate=_is_approximate(approximate))


def _gelu_backward(grad: Node, x: Node, *, approximate: str = "none") -> Node:
    how = _is_approximate(approximate)
    return ops.gelu_backward(grad, x, approximate=how)


def _relu(x: Node) -> Node:
    require(x.type.dtype is not BOOL)
    return ops.maximum(x, like(0, x))


def _threshold_backward(grad: Node, x: Node, threshold: float) -> Node:
    return ops.threshold_backward(grad, x, like(threshold, x))


def _silu(x: Node) -> Node:
    return x * ops.logistic(x)


def _layer_norm(
    x: Node, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Node, Node, Node]:
    axes = len(normalized_shape)
    require(axes > 0 and x.type.shape[x.type.ndim - axes :] == tuple(normalized_shape))
    scaling = [] if weight is None else [weight]
    if bias is not None:
        if weight is None:
            scaling = [filled(normalized_shape, 1, x.type.dtype)]
        scaling.append(bias)
    wide = F32 if x.type.dtype in (F16, BF16) else x.type.dtype
    return ops.layer_norm(x, scalar(eps, wide), *scaling, axes=axes)


def _layer_norm_backward(
    grad: Any,
    x: Any,
    normalized_shape: Sequence[int],
    mean: Any,
    rstd: Any,
    weight: Any,
    bias: Any,
    output_mask: Sequence[bool],
) -> Any:
    given = [t for t in (grad, x, mean, rstd, weight) if t is not None]
    made = ops.layer_norm_backward(*given, axes=len(normalized_shape))
    return tuple(g if wanted else None for g, wanted in zip(made, output_mask, strict=True))


def _dropout(x: Any, p: float, train: bool | None = None) -> Any:
    given = operand(x)
    shape = given.type.shape
    require(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={1 - p:g}")
    if train is False:
        return given, filled(shape, True, BOOL)
    require(is_inexact(given.type.dtype))
    mask = bernoulli(shape, 1.0 - p)
    scale = like(0.0 if p == 1 else 1.0 / (1.0 - p), given)
    return given * cast_to(mask, given.type.dtype) * scale, mask


def _dropout_backward(grad: Node, mask: Node, scale: float) -> Node:
    return multiply(multiply(grad, mask), scale)


def _classes(target: Node, weight: Any, ignored: int, x: Node) -> losses.Classes:
    """What each target weighs, and the class to look at where it counts."""
    counted = ops.not_equal(target, cast_to(ignored, S64))
    places = ops.select(counted, target, cast_to(0, S64))
    count = x.type.shape[1]
    inside = (places >= 0) & (places < cast_to(count, S64))
    places = sure(places, inside, f"Target is out of bounds: there are {count} classes.")
    weights = None if weight is None else operand(weight)
    return losses.Classes.weighed(places, counted, weights, x)


def _require_classes(x: Any, target: Any, weight: Any) -> None:
    """Refuse classes, or weights of them, that do not fit to rows of their probabilities."""
    require(x.ndim in (1, 2) and target.ndim < 2)
    wanted = x.shape[:1] if x.ndim == 2 else target.shape
    require(target.shape == wanted and (x.ndim == 2 or target.numel() == 1))
    require(weight is None or weight.shape == x.shape[-1:])


def _require_labels(x: Any, target: Any, weight: Any) -> None:
    """Refuse images of classes, or weights of them, that do not fit to their probabilities."""
    require(target.ndim == 3 and x.ndim == 4)
    require(weight is None or weight.numel() == x.shape[1])
    require((x.shape[0], *x.shape[2:]) == tuple(target.shape))


def _nll_of_images(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    _require_labels(x, target, weight)
    return _losses(x, target, weight, reduction, ignore_index)


def _nll(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    _require_classes(x, target, weight)
    return _losses(x, target, weight, reduction, ignore_index)


def _losses(x: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """The losses of the classes along the second axis, and what they weigh together."""
    given, wanted = operand(x), cast_to(operand(target), S64)
    require(target.dtype in (torch.int64, torch.uint8))
    single = given.type.ndim == 1
    if single:
        given = ops.reshape(given, shape=(1, *given.type.shape))
        wanted = ops.reshape(wanted, shape=(1,))
    classes = _classes(wanted, weight, ignore_index, given)
    each = losses.class_losses(given, classes)
    axes = tuple(range(each.type.ndim))
    total = ops.reduce_sum(classes.shares, axes=axes)
    if reduction == 0:
        each = ops.reshape(each, shape=()) if single else each
        return each, filled((), 0, given.type.dtype)
    made = ops.reduce_sum(each, axes=axes)
    return (made / total if reduction == 1 else made), total


def _nll_backward(
    grad: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> Node:
    given, at, wanted = operand(grad), operand(x), cast_to(operand(target), S64)
    shape = at.type.shape
    single = at.type.ndim == 1
    if single:
        at, wanted = ops.reshape(at, shape=(1, *shape)), ops.reshape(wanted, shape=(1,))
    classes = _classes(wanted, weight, ignore_index, at)
    if reduction == 1:
        given = given / operand(total)
    made = losses.class_losses_gradient(given, at, classes)
    return ops.reshape(made, shape=shape) if single else made


def _glu_jvp(glu: Node, x: Node, tangent: Node, dim: int) -> Node:
    return activations.gated_tangent(glu, x, tangent, axis_of(dim, x.type.ndim))


def _glu_backward_jvp(slope: Node, grad: Node, x: Node, dgrad: Node, dx: Node, dim: int) -> Node:
    axis = axis_of(dim, x.type.ndim)
    return activations.gated_gradient_tangent(slope, grad, x, dgrad, dx, axis)


ACTIVATIONS: dict[str, Row] = {
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "relu": _relu,
    "silu": _silu,
    "threshold_backward": _threshold_backward,
    "softshrink_backward": activations.within_masked,
    "hardshrink_backward": activations.within_masked,
    "sigmoid_backward": activations.logistic_gradient,
    "tanh_backward": activations.tanh_gradient,
}

ROWS: dict[str, Row] = {
    "_softmax": _softmax("softmax"),
    "_log_softmax": _softmax("log_softmax"),
    "_safe_softmax": _safe_softmax,
    "_softmax_backward_data": _softmax_backward("softmax_backward"),
    "_log_softmax_backward_data": _softmax_backward("log_softmax_backward"),
    "native_layer_norm": _layer_norm,
    "native_layer_norm_backward": _layer_norm_backward,
    "glu_jvp": _glu_jvp,
    "glu_backward_jvp": _glu_backward_jvp,
    "native_dropout_backward": _dropout_backward,
}

OTHERS: dict[str, Row] = {
    "nll_loss_forward": _nll,
    "nll_loss2d_forward": _nll_of_images,
    "nll_loss_backward": _nll_backward,
}
"""What draws random numbers, or is checked while it runs."""


rows(of_nodes(ROWS), pure=True)
rows(OTHERS, asks=True)
rows({"native_dropout": _dropout}, follows=True)
rows(of_nodes(ACTIVATIONS), keeps=True, pure=True)
