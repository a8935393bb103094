"""The cells of recurrent networks, of which torch asks devices other than the CPU for one kernel.

A kernel gets the products with the input and with the hidden state, rows for the sequences and the
gates side by side, and gives the next state and a workspace, which only the gradient's kernel
reads: the gates as they are after their activations. In f16 and bf16 it is f32.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import widened
from lazytensor.core.lib.recurrent import (
    gru_step,
    gru_step_backward,
    joined,
    lstm_step,
    lstm_step_backward,
    split,
)
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand
from lazytensor.frontends.torch.dispatch.registry import Row

Gradients = tuple[Node | None, ...]


def _wide(x: Any) -> Node:
    return widened(operand(x))


def _with_bias(x: Any, bias: Any) -> Node:
    given = _wide(x)
    if bias is None:
        return given
    line = _wide(bias)
    return given + ops.reshape(line, shape=(1, line.type.size))


def _lines(grad: Node, has_bias: bool) -> Node | None:
    return ops.reduce_sum(grad, axes=(0,)) if has_bias else None


def _as(x: Any, *made: Node | None) -> Gradients:
    """Results in the dtype of `x`."""
    dtype = operand(x).type.dtype
    return tuple([None if each is None else cast_to(each, dtype) for each in made])


def _lstm(x: Any, hidden: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    gates = _with_bias(x, input_bias) + _with_bias(hidden, hidden_bias)
    after, workspace = lstm_step(split(gates, 4), _wide(cx))
    return *_as(x, *after), joined(workspace)


def _lstm_backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool
) -> Gradients:
    if grad_hy is None and grad_cy is None:
        return None, None, None
    given = [None if grad is None else _wide(grad) for grad in (grad_hy, grad_cy)]
    gates = split(_wide(workspace), 4)
    to_gates, to_before = lstm_step_backward(given, _wide(cx), _wide(cy), gates)
    grad = joined(to_gates)
    return _as(cx, grad, to_before, _lines(grad, has_bias))


def _gru(x: Any, hidden: Any, hx: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    of_input = split(_with_bias(x, input_bias), 3)
    before = _wide(hx)
    state, (*gates, last) = gru_step(of_input, split(_with_bias(hidden, hidden_bias), 3), before)
    return *_as(x, state), joined((*gates, before, last))


def _gru_backward(grad_hy: Any, workspace: Any, has_bias: bool) -> Gradients:
    *gates, before, last = split(_wide(workspace), 5)
    grads = gru_step_backward(_wide(grad_hy), before, (*gates, last))
    to_input, to_hidden = map(joined, grads[:2])
    lines = _lines(to_input, has_bias), _lines(to_hidden, has_bias)
    return _as(grad_hy, to_input, to_hidden, grads[2], *lines)


ROWS: dict[str, Row] = {
    "_thnn_fused_lstm_cell": _lstm,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_backward,
    "_thnn_fused_gru_cell": _gru,
    "_thnn_fused_gru_cell_backward": _gru_backward,
}


rows(ROWS, composed=True)
