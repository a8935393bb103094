"""Loops over time: each step reads its lines of the inputs and the state of the step before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.ops import control
from lazytensor.core.ops.control import Region
from lazytensor.core.ops.movement import broadcast

T = TypeVar("T")
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
    counts = len(given), len(state)

    def once(time: Node, *rest: Node) -> list[Node]:
        lines, before, same = divided(rest, *counts)
        after, made = body(time, lines, before, same)
        return [*after, *made]

    end = broadcast(scalar(given[0].type.shape[0], S64), shape=())
    of_a_time = [x.type.with_shape(x.type.shape[1:]) for x in given]
    types = [end.type, *of_a_time, *(x.type for x in (*state, *shared))]
    region = Region(name, trace_types(once, types, {}))
    made: Node | Nodes = control.scan(
        end, *given, *state, *shared,
        body=region, given=len(given), state=len(state), backwards=backwards,
    )  # fmt: skip
    return Scanned(*divided(made if isinstance(made, tuple) else [made], len(state)))


def divided(items: Sequence[T], *counts: int) -> list[Sequence[T]]:
    """Consecutive groups of `counts` items, and the rest."""
    parts, at = [], 0
    for count in counts:
        parts.append(items[at : at + count])
        at += count
    return [*parts, items[at:]]
