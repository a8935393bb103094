"""Connectionist temporal classification: the loss, and its gradient.

By the forward and backward variables of Graves et al. (2006), doi 10.1145/1143844.1143891, in
logarithms. A label is spelled with a blank before, between and after its symbols. Each variable is
one loop over all times. Lengths are data: they select the time at which a sequence ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.ctc import ctc_loss, ctc_loss_backward
from lazytensor.frontends.torch.dispatch.errors import dtype_name
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.tensors.tensor import TORCH


def _lengths(given: Any) -> list[int]:
    return given.tolist() if isinstance(given, torch.Tensor) else [int(n) for n in given]


_WHILE: Final = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check_lengths(name: str, lengths: list[int], count: int, most: int | None) -> None:
    if len(lengths) != count:
        raise RuntimeError(f"{name} must be of size batch_size")
    for n in lengths:
        if n < 0:
            raise RuntimeError(
                f"Expected {name} to have value at least 0, but got value {n} {_WHILE}"
            )
        if most is not None and n > most:
            raise RuntimeError(
                f"Expected {name} to have value at most {most}, but got value {n} {_WHILE}"
            )


def _check(log_probs: Node, targets: Any, blank: int) -> None:
    if log_probs.type.dtype not in (F32, F64):
        name = dtype_name(TORCH[log_probs.type.dtype])
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{name}'")
    if log_probs.type.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.type.ndim}-dimensional tensor for "
            f"argument #1 'log_probs' {_WHILE}"
        )
    if not log_probs.type.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if targets.dtype not in (torch.int32, torch.int64):
        raise RuntimeError(
            "Expected tensor for argument #2 'targets' to have scalar type Int; but got "
            f"torch.{dtype_name(targets.dtype)}Tensor instead {_WHILE}"
        )
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument "
            f"#2 'targets' {_WHILE}"
        )
    if not 0 <= blank < log_probs.type.shape[2]:
        raise RuntimeError("blank must be in label range")


def _labels(targets: Any, lengths: Sequence[int]) -> Node:
    """A row for each label: s64[n,s]."""
    given, count, most = cast_to(operand(targets), S64), len(lengths), max(lengths)
    total = given.type.shape[0]
    if given.type.ndim == 2:
        if total != count or given.type.shape[1] < most:
            axis, wanted = (0, count) if total != count else (1, most)
            raise RuntimeError(
                f"Expected tensor to have size {'at least ' if axis else ''}{wanted} at dimension "
                f"{axis}, but got size {given.type.shape[axis]} for argument #2 'targets' {_WHILE}"
            )
        return given
    if total != sum(lengths):
        raise RuntimeError(
            f"Expected tensor to have size {sum(lengths)} at dimension 0, but got size {total} for "
            f"argument #2 'targets' {_WHILE}"
        )
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
    _check(given, targets, blank)
    times, count, _ = given.type.shape
    steps, lengths = _lengths(input_lengths), _lengths(target_lengths)
    _check_lengths("input_lengths", steps, count, times)
    _check_lengths("target_lengths", lengths, count, None)
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
