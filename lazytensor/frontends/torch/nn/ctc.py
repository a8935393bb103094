"""Connectionist temporal classification: the loss, and its gradient.

By the forward and backward variables of Graves et al. (2006), doi 10.1145/1143844.1143891, in
logarithms. A label is spelled with a blank before, between and after its symbols. Each variable is
one loop over all times. Lengths are data: they select the time at which a sequence ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.ctc import ctc_loss, ctc_loss_backward
from lazytensor.frontends.torch.dispatch.errors import require
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled


def _lengths(given: Any) -> list[int]:
    return given.tolist() if isinstance(given, torch.Tensor) else [int(n) for n in given]


def _require_lengths(lengths: list[int], count: int, most: int | None) -> None:
    require(len(lengths) == count and min(lengths, default=0) >= 0)
    require(most is None or max(lengths, default=0) <= most)


def _require_operands(log_probs: Node, targets: Any, blank: int) -> None:
    type = log_probs.type
    require(type.dtype in (F32, F64) and type.ndim == 3 and bool(type.size))
    require(targets.dtype in (torch.int32, torch.int64) and targets.ndim in (1, 2))
    require(0 <= blank < type.shape[2])


def _labels(targets: Any, lengths: Sequence[int]) -> Node:
    """A row for each label: s64[n,s]."""
    given, count, most = cast_to(operand(targets), S64), len(lengths), max(lengths)
    total = given.type.shape[0]
    if given.type.ndim == 2:
        require(total == count and given.type.shape[1] >= most)
        return given
    require(total == sum(lengths))
    if not total:
        return filled((count, 0), 0, S64)
    first = np.cumsum([0, *lengths[:-1]])
    places = np.minimum(first[:, None] + np.arange(most), total - 1)
    return ops.gather(given, ops.leaf(places), axes=(0,))


def _given(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int
) -> tuple[Node, Node, Node, Node]:
    """The operands of the loss. Lengths are data, so that all batches share a program."""
    given = operand(log_probs)
    _require_operands(given, targets, blank)
    times, count, _ = given.type.shape
    steps, lengths = _lengths(input_lengths), _lengths(target_lengths)
    _require_lengths(steps, count, times)
    _require_lengths(lengths, count, None)
    labels = _labels(targets, lengths)
    return given, labels, *(ops.leaf(np.asarray(n, np.int64)) for n in (steps, lengths))


def _ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """`zero_infinity` changes the gradient alone; torch replaces the losses itself."""
    return ctc_loss(*_given(log_probs, targets, input_lengths, target_lengths, blank), blank=blank)


def _ctc_loss_backward(
    grad: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, loss: Any,
    log_alpha: Any, blank: int, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    given = _given(log_probs, targets, input_lengths, target_lengths, blank)
    rest = operand(loss), operand(log_alpha)
    return ctc_loss_backward(operand(grad), *given, *rest, blank=blank, zero_infinity=zero_infinity)


ROWS: dict[str, Row] = {
    "_ctc_loss": _ctc_loss,
    "_ctc_loss.Tensor": _ctc_loss,
    "_ctc_loss_backward": _ctc_loss_backward,
    "_ctc_loss_backward.Tensor": _ctc_loss_backward,
}


rows(ROWS)
