"""The steps of recurrent cells, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import like
from lazytensor.core.ops.movement import part
from lazytensor.core.ops.scanning import Nodes


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
    """The slope of the hyperbolic tangent where it is `y`."""
    return _rest(ops.square(y))


def lstm_step(gates: Nodes, cell: Node, bound: float | None = None) -> tuple[Nodes, Nodes]:
    """The hidden state and the cell's, and the gates after their activations.

    `bound`: the most that the cell's state is, either way.
    """
    first, second, third, last = gates
    entering, kept, leaving = map(ops.logistic, (first, second, last))
    new = ops.tanh(third)
    after = kept * cell + entering * new
    if bound is not None:
        after = ops.clamp(like(-bound, after), after, like(bound, after))
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
