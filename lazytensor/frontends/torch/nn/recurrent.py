"""The cells of recurrent networks, of which torch asks devices other than the CPU for one kernel.

A kernel gets the products with the input and with the hidden state, rows for the sequences and the
gates side by side, and gives the next state and a workspace, which only the gradient's kernel
reads: the gates as they are after their activations. In f16 and bf16 it is f32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, F16, F32
from lazytensor.core.ir.node import Node
from lazytensor.core.ops.movement import part
from lazytensor.core.ops.scanning import Nodes
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row

Gradients = tuple[Node | None, ...]


def _wide(x: Any) -> Node:
    given: Node = operand(x)
    return cast_to(given, F32) if given.type.dtype in (F16, BF16) else given


def _with_bias(x: Any, bias: Any) -> Node:
    given = _wide(x)
    if bias is None:
        return given
    line = _wide(bias)
    return given + ops.reshape(line, shape=(1, line.type.size))


def split(x: Node, count: int) -> list[Node]:
    """The gates that lie side by side on the last axis."""
    axis, size = x.type.ndim - 1, x.type.shape[-1] // count
    return [part(x, axis, i * size, size) for i in range(count)] if count > 1 else [x]


def joined(gates: Nodes) -> Node:
    """Gates side by side."""
    return ops.concatenate(*gates, axis=1) if len(gates) > 1 else gates[0]


def _sum(*terms: Node) -> Node:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _product(*factors: Node) -> Node:
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


def _rest(x: Node) -> Node:
    return 1 - x


def _sigmoid_slope(y: Node) -> Node:
    """The slope of the logistic function where it is `y`."""
    return y * _rest(y)


def tanh_slope(y: Node) -> Node:
    return _rest(ops.square(y))


def _lines(grad: Node, has_bias: bool) -> Node | None:
    return ops.reduce_sum(grad, axes=(0,)) if has_bias else None


def _as(x: Any, *made: Node | None) -> Gradients:
    """Results in the dtype of `x`."""
    dtype = operand(x).type.dtype
    return tuple([None if each is None else cast_to(each, dtype) for each in made])


def lstm_step(gates: Nodes, cell: Node) -> tuple[Nodes, Nodes]:
    """The hidden state and the cell's, and the gates after their activations."""
    first, second, third, last = gates
    entering, kept, leaving = map(ops.logistic, (first, second, last))
    new = ops.tanh(third)
    after = kept * cell + entering * new
    return (leaving * ops.tanh(after), after), (entering, kept, new, leaving)


def lstm_step_backward(
    grads: Sequence[Node | None], before: Node, after: Node, gates: Nodes
) -> tuple[Nodes, Node]:
    """The gradients of the gates, and of the cell's state before.

    grads: of the hidden state and of the cell's, of which one may be missing.
    """
    to_state, to_cell = grads
    entering, kept, new, leaving = gates
    bent = ops.tanh(after)
    to_leaving = like(0, after)
    if to_state is not None:
        to_leaving = to_state * bent
        through = _product(to_state, leaving, tanh_slope(bent))
        to_cell = through if to_cell is None else through + to_cell
    assert to_cell is not None, "there is a gradient"
    to_leaving = ops.broadcast(to_leaving, shape=after.type.shape)
    to_gates = (
        _product(to_cell, new, _sigmoid_slope(entering)),
        _product(to_cell, before, _sigmoid_slope(kept)),
        _product(to_cell, entering, tanh_slope(new)),
        to_leaving * _sigmoid_slope(leaving),
    )
    return to_gates, to_cell * kept


def gru_step(of_input: Nodes, of_hidden: Nodes, before: Node) -> tuple[Node, Nodes]:
    """The state, and the gates after their activations with the last product."""
    reset, update = (ops.logistic(of_input[i] + of_hidden[i]) for i in (0, 1))
    new = ops.tanh(of_input[2] + reset * of_hidden[2])
    state = new + update * (before - new)
    return state, (reset, update, new, of_hidden[2])


def gru_step_backward(given: Node, before: Node, gates: Nodes) -> tuple[Nodes, Nodes, Node]:
    """The gradients of the two products' gates, and of the state before."""
    reset, update, new, of_hidden = gates
    to_new = _product(given, _rest(update), tanh_slope(new))
    to_reset = _product(to_new, of_hidden, _sigmoid_slope(reset))
    to_update = _product(given, before - new, _sigmoid_slope(update))
    both = to_reset, to_update
    return (*both, to_new), (*both, to_new * reset), given * update


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
