"""Softmax, cross entropies, biases, batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import losses
from lazytensor.core.lib.ctc import ctc_loss, ctc_loss_backward
from lazytensor.core.lib.normalization import reciprocal_deviation, unbiased
from lazytensor.core.lib.numbers import filled
from lazytensor.core.lib.recurrent import lstm_step, split
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows import checks
from lazytensor.frontends.tf.rows.checks import inside
from lazytensor.frontends.tf.rows.elementwise import number
from lazytensor.frontends.tf.rows.indexing import wide
from lazytensor.frontends.tf.rows.windows import layout


def _softmax(x: Node, **_: Any) -> Node:
    return ops.softmax(x, axis=x.type.ndim - 1)


def _log_softmax(x: Node, **_: Any) -> Node:
    return ops.log_softmax(x, axis=x.type.ndim - 1)


def _cross_entropy(features: Node, labels: Node, **_: Any) -> tuple[Node, Node]:
    if features.type.shape != labels.type.shape:
        shape = tuple(map(max, features.type.shape, labels.type.shape))
        features, labels = (ops.broadcast(t, shape=shape) for t in (features, labels))
    return losses.cross_entropy(features, labels)


def _sparse_cross_entropy(features: Node, labels: Node, **_: Any) -> tuple[Node, Node]:
    """A label that names no class gives NaN, as TF's kernels on devices have it."""
    classes = features.type.shape[1]
    targets = wide(labels)
    loss, grad = losses.sparse_cross_entropy(features, targets)
    inside = (targets >= 0) & (targets < classes)
    nan = number(float("nan"), features)
    return ops.select(inside, loss, nan), ops.select(ops.new_axis(inside), grad, nan)


def _bias_add(x: Node, bias: Node, *, data_format: str = "NHWC", **_: Any) -> Node:
    if data_format == "NCHW":
        bias = ops.reshape(bias, shape=(bias.type.size,) + (1,) * (x.type.ndim - 2))
    elif bias.type.shape != x.type.shape[-1:]:
        raise ValueError(f"{bias.type} is added to {x.type}")
    return x + bias


def _bias_add_grad(grad: Node, *, data_format: str = "NHWC", **_: Any) -> Node:
    feature = 1 if data_format == "NCHW" else grad.type.ndim - 1
    return ops.reduce_sum(
        grad, axes=tuple(axis for axis in range(grad.type.ndim) if axis != feature)
    )


def _batch_norm(
    x: Node, scale: Node, offset: Node, mean: Node, variance: Node, *, epsilon: float = 1e-4,
    exponential_avg_factor: float = 1.0, data_format: str = "NHWC", is_training: bool = True,
    **_: Any,
) -> tuple[Node, ...]:  # fmt: skip
    axis = layout(data_format, x.type.ndim).feature
    middle, spread = ops.channel_moments(x, axis=axis) if is_training else (mean, variance)
    made = ops.batch_norm(
        x, middle, reciprocal_deviation(spread, epsilon), scale, offset, axis=axis
    )
    if not is_training:
        return made, mean, variance, mean, variance, mean
    count = x.type.size // max(x.type.shape[axis], 1)
    estimate = unbiased(spread, count)
    if exponential_avg_factor == 1.0:
        return made, middle, estimate, middle, spread, middle
    share, rest = exponential_avg_factor, 1 - exponential_avg_factor
    running = [old * rest + new * share for old, new in ((mean, middle), (variance, estimate))]
    return made, *running, middle, spread, middle


def _older(*given: Node, **attrs: Any) -> tuple[Node, ...]:
    """Without what newer kernels keep for the backward."""
    return _batch_norm(*given, **attrs)[:5]


def _older_grad(*given: Node, **attrs: Any) -> tuple[Node, ...]:
    made = _batch_norm_grad(*given, **attrs)[:3]
    nothing = ops.broadcast(number(0.0, made[1]), shape=())
    return *made, nothing, nothing


def _batch_norm_grad(
    grad: Node, x: Node, scale: Node, middle: Node, spread: Node, *_rest: Node,
    epsilon: float = 1e-4, data_format: str = "NHWC", is_training: bool = True, **_: Any,
) -> tuple[Node, ...]:  # fmt: skip
    axis = layout(data_format, x.type.ndim).feature
    factor = reciprocal_deviation(spread, epsilon)
    fixed = not is_training
    made = ops.batch_norm_backward(grad, x, middle, factor, scale, axis=axis, fixed=fixed)
    nothing = ops.broadcast(number(0.0, spread), shape=(0,))
    return *made, nothing, nothing


def _ctc_loss(
    logits: Node, indices: np.ndarray, values: Node, steps: Node, *,
    preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False, **_: Any,
) -> tuple[Node, Node]:  # fmt: skip
    """Labels come as a sparse matrix; the last class is the blank."""
    if preprocess_collapse_repeated or not ctc_merge_repeated or ignore_longer_outputs_than_inputs:
        raise ValueError("labels that are changed, or left out")
    count, classes = logits.type.shape[1:]
    lengths = np.bincount(indices[:, 0], minlength=count)
    first = np.cumsum(lengths) - lengths
    most = max(int(lengths.max(initial=0)), 1)
    places = np.minimum(first[:, None] + np.arange(most), max(len(indices) - 1, 0))
    labels = ops.gather(wide(values), ops.leaf(places), axes=(0,))
    logs = ops.log_softmax(logits, axis=2)
    given = logs, labels, wide(steps), ops.leaf(lengths.astype(np.int64))
    loss, table = ctc_loss(*given, blank=classes - 1)
    fits = checks.guard(
        ops.reduce_and(ops.is_finite(loss), axes=(0,)),
        "Not enough time for target transition sequence",
    )
    loss = loss if fits is None else ops.guarded(loss, fits)
    ones = filled(loss.type.shape, 1, loss.type.dtype)
    slope = ctc_loss_backward(ones, *given, loss, table, blank=classes - 1, zero_infinity=False)
    return loss, slope


def _lstm_cell(
    x: Node, cell: Node, hidden: Node, weight: Node, wci: Node, wcf: Node, wco: Node, bias: Node,
    *, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False, **_: Any,
) -> tuple[Node, ...]:  # fmt: skip
    if use_peephole:
        raise ValueError("gates that see the cell's state")
    joint = ops.concatenate(x, hidden, axis=1)
    entering, new, kept, leaving = split(ops.matmul(joint, weight) + bias, 4)
    given = entering, kept + forget_bias, new, leaving
    (state, after), (i, f, ci, o) = lstm_step(given, cell, cell_clip if cell_clip > 0 else None)
    return i, after, f, o, ci, ops.tanh(after), state


rows({"CTCLoss": _ctc_loss}, host=(1,), moving=True)
rows({"LSTMBlockCell": _lstm_cell})
rows({"Softmax": _softmax, "LogSoftmax": _log_softmax, "BiasAdd": _bias_add,
      "BiasAddV1": _bias_add, "BiasAddGrad": _bias_add_grad,
      "SoftmaxCrossEntropyWithLogits": _cross_entropy,
      "FusedBatchNormV3": _batch_norm, "FusedBatchNormV2": _older, "FusedBatchNorm": _older,
      "FusedBatchNormGradV3": _batch_norm_grad, "FusedBatchNormGradV2": _older_grad,
      "FusedBatchNormGrad": _older_grad})  # fmt: skip
rows({"SparseSoftmaxCrossEntropyWithLogits": _sparse_cross_entropy},
     demands=lambda x, y, **_: [inside(y, x.type.shape[1], name="labels")])  # fmt: skip
