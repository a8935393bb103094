"""Loops over time: each step reads its lines of the inputs and the state of the step before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.control import Region, while_
from lazytensor.core.ops.movement import broadcast, concatenate, reshape, slice, update_slice

Nodes = Sequence[Node]
Body = Callable[[Node, Nodes, Nodes, Nodes], tuple[Nodes, Nodes]]


class Scanned(NamedTuple):
    """The state after the last step, and tables with each step's lines at its place."""

    state: Nodes
    tables: Nodes


def scan(
    name: str, body: Body, given: Nodes, state: Nodes, shared: Nodes = (), backwards: bool = False
) -> Scanned:
    """One loop: `state, lines = body(time, lines of given, state, shared)` for each time.

    given: tensors that have time as their first axis, at least one. time: s64[], from 0 on, or down
    to 0 if `backwards`. The state that `body` returns has the types of `state`; its lines are
    stacked along the first axis of the tables.
    """
    steps = given[0].type.shape[0]
    counts = len(given), len(state), len(shared)

    def once(time: Node, *rest: Node) -> list[Node]:
        lines, before, same = divided(rest, *counts[:2])
        after, made = body(time, lines, before, same)
        return [*after, *made]

    def more(time: Node, end: Node, *_: Node) -> Node:
        return (time >= 0) & (time < end)

    def step(time: Node, end: Node, *rest: Node) -> list[Node]:
        whole, before, same, tables = divided(rest, *counts)
        after, made = body(time, [_line(x, time) for x in whole], before, same)
        stored = [_stored(*pair, time) for pair in zip(tables, made, strict=True)]
        later = time + (-1 if backwards else 1)
        return [later, end, *whole, *after, *same, *stored]

    # The end is an operand, so that the bodies are the same for any length.
    now, end = (broadcast(scalar(n, S64), shape=()) for n in (steps - 1 if backwards else 0, steps))
    of_a_time = [x.type.with_shape(x.type.shape[1:]) for x in given]
    types = [now.type, *of_a_time, *(x.type for x in (*state, *shared))]
    results = _region(f"{name}: once", once, types).results
    empty = [_empty(steps, line) for line in results[len(state) :]]
    start = [now, end, *given, *state, *shared, *empty]
    types = [x.type for x in start]
    condition, each = _region(f"{name}: more", more, types), _region(f"{name}: step", step, types)
    made = while_(*start, condition=condition, body=each)
    _, after, _, tables = divided(made[2:], *counts)
    return Scanned(after, tables)


def _region(name: str, body: Callable[..., Node | Nodes], types: Sequence[TensorType]) -> Region:
    return Region(name, trace_types(body, types, {}))


def divided(nodes: Nodes, *counts: int) -> list[Nodes]:
    """Consecutive groups of `counts` nodes, and the rest."""
    parts, at = [], 0
    for count in counts:
        parts.append(nodes[at : at + count])
        at += count
    return [*parts, nodes[at:]]


def _empty(steps: int, line: TensorType) -> Node:
    return broadcast(scalar(0, line.dtype), shape=(steps, *line.shape))


def _begin(time: Node, ndim: int) -> Node:
    here = reshape(time, shape=(1,))
    rest = [broadcast(scalar(0, S64), shape=(ndim - 1,))] if ndim > 1 else []
    return concatenate(here, *rest, axis=0)


def _line(x: Node, time: Node) -> Node:
    ndim, shape = x.type.ndim, x.type.shape[1:]
    found = slice(x, _begin(time, ndim), sizes=(1, *shape), strides=(1,) * ndim)
    return reshape(found, shape=shape)


def _stored(table: Node, line: Node, time: Node) -> Node:
    ndim = table.type.ndim
    row = reshape(line, shape=(1, *line.type.shape))
    return update_slice(table, row, _begin(time, ndim), strides=(1,) * ndim)
