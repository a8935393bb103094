"""The cells of recurrent networks, of which torch asks devices other than the CPU for one kernel.

A kernel gets the products with the input and with the hidden state, rows for the sequences and the
gates side by side, and gives the next state and a workspace, which only the gradient's kernel
reads: the gates as they are after their activations. In f16 and bf16 it is f32.
"""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.dtypes import BF16, F16, F32
from lazytensor.core.node import Node
from lazytensor.frontends.torch.joining import part
from lazytensor.frontends.torch.kernels import Row, rows
from lazytensor.frontends.torch.promotion import cast_to, like, operand

Gradients = tuple[Node | None, ...]


def _wide(x: Any) -> Node:
    given: Node = operand(x)
    return cast_to(given, F32) if given.type.dtype in (F16, BF16) else given


def _with_bias(x: Any, bias: Any) -> Node:
    given = _wide(x)
    if bias is None:
        return given
    line = _wide(bias)
    made: Node = ops.add(given, ops.reshape(line, shape=(1, line.type.size)))
    return made


def _split(x: Node, count: int) -> list[Node]:
    """The gates that lie side by side."""
    size = x.type.shape[1] // count
    return [part(x, 1, i * size, size) for i in range(count)]


def _joined(*gates: Node) -> Node:
    made: Node = ops.concatenate(*gates, axis=1)
    return made


def _sum(*terms: Node) -> Node:
    total = terms[0]
    for term in terms[1:]:
        total = ops.add(total, term)
    return total


def _product(*factors: Node) -> Node:
    total = factors[0]
    for factor in factors[1:]:
        total = ops.multiply(total, factor)
    return total


def _rest(x: Node) -> Node:
    made: Node = ops.subtract(like(1, x), x)
    return made


def _sigmoid_slope(y: Node) -> Node:
    """The slope of the logistic function where it is `y`."""
    return _product(y, _rest(y))


def tanh_slope(y: Node) -> Node:
    return _rest(ops.square(y))


def _lines(grad: Node, has_bias: bool) -> Node | None:
    return ops.reduce_sum(grad, axes=(0,)) if has_bias else None


def _as(x: Any, *made: Node | None) -> Gradients:
    """Results in the dtype of `x`."""
    dtype = operand(x).type.dtype
    return tuple([None if each is None else cast_to(each, dtype) for each in made])


def lstm(x: Any, hidden: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    gates = ops.add(_with_bias(x, input_bias), _with_bias(hidden, hidden_bias))
    first, second, third, last = _split(gates, 4)
    entering, kept, leaving = map(ops.logistic, (first, second, last))
    new = ops.tanh(third)
    cell = ops.add(_product(kept, _wide(cx)), _product(entering, new))
    state = _product(leaving, ops.tanh(cell))
    return *_as(x, state, cell), _joined(entering, kept, new, leaving)


def lstm_backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool
) -> Gradients:
    if grad_hy is None and grad_cy is None:
        return None, None, None
    entering, kept, new, leaving = _split(_wide(workspace), 4)
    before, after = _wide(cx), ops.tanh(_wide(cy))
    to_cell, to_leaving = None if grad_cy is None else _wide(grad_cy), like(0, after)
    if grad_hy is not None:
        to_state = _wide(grad_hy)
        to_leaving = _product(to_state, after)
        through = _product(to_state, leaving, tanh_slope(after))
        to_cell = through if to_cell is None else ops.add(through, to_cell)
    assert to_cell is not None, "there is a gradient"
    to_leaving = ops.broadcast(to_leaving, shape=after.type.shape)
    grad = _joined(
        _product(to_cell, new, _sigmoid_slope(entering)),
        _product(to_cell, before, _sigmoid_slope(kept)),
        _product(to_cell, entering, tanh_slope(new)),
        _product(to_leaving, _sigmoid_slope(leaving)),
    )
    return _as(cx, grad, _product(to_cell, kept), _lines(grad, has_bias))


def gru(x: Any, hidden: Any, hx: Any, input_bias: Any = None, hidden_bias: Any = None) -> Any:
    of_input = _split(_with_bias(x, input_bias), 3)
    of_hidden = _split(_with_bias(hidden, hidden_bias), 3)
    reset, update = (ops.logistic(ops.add(of_input[i], of_hidden[i])) for i in (0, 1))
    new = ops.tanh(ops.add(of_input[2], _product(reset, of_hidden[2])))
    before = _wide(hx)
    state = _sum(new, _product(update, ops.subtract(before, new)))
    return *_as(x, state), _joined(reset, update, new, before, of_hidden[2])


def gru_backward(grad_hy: Any, workspace: Any, has_bias: bool) -> Gradients:
    given = _wide(grad_hy)
    reset, update, new, before, of_hidden = _split(_wide(workspace), 5)
    to_new = _product(given, _rest(update), tanh_slope(new))
    to_reset = _product(to_new, of_hidden, _sigmoid_slope(reset))
    to_update = _product(given, ops.subtract(before, new), _sigmoid_slope(update))
    to_input = _joined(to_reset, to_update, to_new)
    to_hidden = _joined(to_reset, to_update, _product(to_new, reset))
    lines = _lines(to_input, has_bias), _lines(to_hidden, has_bias)
    return _as(grad_hy, to_input, to_hidden, _product(given, update), *lines)


ROWS: dict[str, Row] = {
    "_thnn_fused_lstm_cell": lstm,
    "_thnn_fused_lstm_cell_backward_impl": lstm_backward,
    "_thnn_fused_gru_cell": gru,
    "_thnn_fused_gru_cell_backward": gru_backward,
}


def attach() -> None:
    """Register the rows."""
    rows(ROWS, composed=True)
