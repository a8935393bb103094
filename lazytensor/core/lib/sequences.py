"""A layer of a recurrent network, and its gradient: one loop over time each.

Sequences of several lengths are packed: of each time the rows that have not ended, one time after
the other. Inside, times have a row for every sequence, and the state of one that has ended, or not
begun, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import recurrent
from lazytensor.core.lib.numbers import like
from lazytensor.core.ops.movement import part
from lazytensor.core.ops.scanning import Nodes, divided, scan

Pieces = tuple[Nodes, Nodes]
Gradients = tuple[Nodes, Nodes, Sequence[Node | None]]


class Kind(NamedTuple):
    """A cell: of the gates' products with the input and with the hidden state, its first state.

    `forward(of_input, of_hidden, *states)` gives the states after, and a workspace.
    `backward(gradients of these states, before, after, workspace)` gives the gradients of the two
    products, and of the states before as far as they come not through the product.

    Each gate has a table of its own: XLA reads parts of a line of a table six times as slowly.
    """

    gates: int
    states: int
    forward: Callable[..., Pieces]
    backward: Callable[[Nodes, Nodes, Nodes, Nodes], Gradients]


def _lstm(of_input: Nodes, of_hidden: Nodes, _: Node, cell: Node) -> Pieces:
    gates = [ops.add(*pair) for pair in zip(of_input, of_hidden, strict=True)]
    return recurrent.lstm_step(gates, cell)


def _lstm_backward(grads: Nodes, before: Nodes, after: Nodes, gates: Nodes) -> Gradients:
    made, to_cell = recurrent.lstm_step_backward(grads, before[1], after[1], gates)
    return made, made, (None, to_cell)


def _gru(of_input: Nodes, of_hidden: Nodes, state: Node) -> Pieces:
    after, gates = recurrent.gru_step(of_input, of_hidden, state)
    return (after,), gates


def _gru_backward(grads: Nodes, before: Nodes, _: Nodes, gates: Nodes) -> Gradients:
    to_input, to_hidden, to_before = recurrent.gru_step_backward(grads[0], before[0], gates)
    return to_input, to_hidden, (to_before,)


def _plain(bend: Callable[[Node], Node], of_input: Nodes, of_hidden: Nodes, _: Node) -> Pieces:
    return (bend(of_input[0] + of_hidden[0]),), ()


def _plain_backward(
    slope: Callable[[Node], Node], grads: Nodes, _: Nodes, after: Nodes, workspace: Nodes
) -> Gradients:
    made = (grads[0] * slope(after[0]),)
    return made, made, (None,)


def _above_zero(x: Node) -> Node:
    return ops.maximum(x, like(0, x))


def _is_above_zero(y: Node) -> Node:
    return ops.convert(y > 0, dtype=y.type.dtype)


NETWORKS: Final = {
    "lstm": Kind(4, 2, _lstm, _lstm_backward),
    "gru": Kind(3, 1, _gru, _gru_backward),
    "rnn_tanh": Kind(
        1, 1, partial(_plain, ops.tanh), partial(_plain_backward, recurrent.tanh_slope)
    ),
    "rnn_relu": Kind(1, 1, partial(_plain, _above_zero), partial(_plain_backward, _is_above_zero)),
}
"""The cells, by the names of their networks."""


class Packing(NamedTuple):
    """Where packed rows are: of each time and sequence the row; whether it is one; the place of
    each row among all times and sequences."""

    rows: Node
    inside: Node
    places: Node

    @classmethod
    def of(cls, sizes: np.ndarray) -> Packing:
        """The packing of these numbers of sequences at each time, s64[times], which never rise."""
        inside = np.arange(sizes[0]) < sizes[:, None]
        rows = np.where(inside, np.cumsum(inside).reshape(inside.shape) - 1, 0)
        return cls(*map(ops.leaf, (rows, inside, np.flatnonzero(inside))))


def _unpacked(x: Node, packing: Packing) -> Node:
    return ops.gather(x, packing.rows, axes=(0,))


def _packed(x: Node, packing: Packing) -> Node:
    shape = x.type.shape
    flat = ops.reshape(x, shape=(shape[0] * shape[1], *shape[2:]))
    return ops.gather(flat, packing.places, axes=(0,))


def _chosen(inside: Nodes, new: Nodes, old: Nodes) -> Nodes:
    """What is new of the sequences that are there."""
    if not inside:
        return new
    column = ops.reshape(inside[0], shape=(inside[0].type.size, 1))
    return [ops.select(column, *pair) for pair in zip(new, old, strict=True)]


def _only(inside: Nodes, made: Nodes) -> Nodes:
    return _chosen(inside, made, [like(0, x) for x in made])


@one_node
def recurrent_layer(
    x: Node, weight: Node, recurrence: Node, *rest: Node, kind: str, biases: int, backwards: bool
) -> tuple[Node, ...]:
    """The output, the last states; of each time the states, and the workspace, if there is one."""
    cell = NETWORKS[kind]
    of_input, of_hidden, states, packs = divided(rest, biases // 2, biases // 2, cell.states)
    packing = Packing(*packs) if packs else None
    gates = ops.linear(x, weight, *of_input)
    if packing:
        gates = _unpacked(gates, packing)

    def step(_: Node, lines: Nodes, before: Nodes, shared: Nodes) -> Pieces:
        of_time, there = divided(lines, cell.gates)
        of_state = recurrent.split(ops.linear(before[0], *shared), cell.gates)
        after, workspace = cell.forward(of_time, of_state, *before)
        after = _chosen(there, after, before)
        return after, (*after, *workspace)

    given = recurrent.split(gates, cell.gates) + ([packing.inside] if packing else [])
    last, tables = scan(kind, step, given, states, [recurrence, *of_hidden], backwards)
    made = _packed(tables[0], packing) if packing else tables[0]
    return made, *last, *tables


def _before(first: Node, after: Node, backwards: bool) -> Node:
    """The state before each time."""
    rest = part(after, 0, 1 if backwards else 0, after.type.shape[0] - 1)
    start = ops.reshape(first, shape=(1, *first.type.shape))
    return ops.concatenate(*((rest, start) if backwards else (start, rest)), axis=0)


@one_node
def recurrent_layer_backward(
    grad: Node, *rest: Node, kind: str, biases: int, backwards: bool, packed: bool
) -> tuple[Node, ...]:
    """The gradients of the operands of `recurrent_layer`, but of a packing.

    rest: the gradients of the last states, then the operands and the tables of `recurrent_layer`.
    """
    cell = NETWORKS[kind]
    n, packs = cell.states, 3 if packed else 0
    parts = divided(rest, n, 3, biases, n, packs, n)
    to_last, (x, weight, recurrence), _, first, where, after, workspace = parts
    packing = Packing(*where) if packed else None
    before = [_before(*pair, backwards) for pair in zip(first, after, strict=True)]
    to_output, inside = (_unpacked(grad, packing), [packing.inside]) if packing else (grad, [])

    def step(_: Node, lines: Nodes, grads: Nodes, shared: Nodes) -> Pieces:
        given, *states_and_workspace, there = divided(lines, 1, n, n, len(workspace))
        (here,) = _only(there, given)
        full = [grads[0] + here, *grads[1:]]
        to_input, to_hidden, direct = cell.backward(full, *states_and_workspace)
        both = (to_hidden,) if to_input is to_hidden else (to_input, to_hidden)
        gates = [*map(recurrent.joined, both)]
        through = ops.dot_general(gates[-1], shared[0], contract=((1,), (0,)))
        hidden = through if direct[0] is None else through + direct[0]
        new = [hidden, *(x for x in direct[1:] if x is not None)]
        return _chosen(there, new, grads), _only(there, gates)

    whole = [to_output, *before, *after, *workspace, *inside]
    to_first, gates = scan(f"{kind} backward", step, whole, to_last, [recurrence], not backwards)
    to_input = _packed(gates[0], packing) if packing else gates[0]
    both = True, True, biases > 0
    to_x, *of_input = ops.linear_backward(to_input, x, weight, wanted=both)
    of_hidden = ops.linear_backward(
        gates[-1], before[0], recurrence, wanted=(False, True, biases > 0)
    )
    return to_x, of_input[0], of_hidden[0], *of_input[1:], *of_hidden[1:], *to_first
