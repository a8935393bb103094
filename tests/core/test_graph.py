"""Numbered graphs: a key is as exact as the program, and names the same program again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lazytensor
from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.graph import NumberedGraph, numbered, reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar, starts, varying
from lazytensor.core.ir.program import program_of
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch, sync

F32 = np.dtype(np.float32)
SMALL, LARGE = np.ones(2, F32), np.ones(3, F32)
Step = Callable[[Node, Node], Node]
STEPS: dict[str, Step] = {
    "add": ops.add,
    "multiply": ops.multiply,
    "add a number": lambda x, y: ops.add(x, scalar(0.5, F32)),
    "add another number": lambda x, y: ops.add(x, scalar(1.5, F32)),
    "add a datum": lambda x, y: ops.add(x, varying(0.5, F32)),
    "add a leaf": lambda x, y: ops.add(x, leaf(np.zeros(x.type.shape, F32))),
    "sine": lambda x, y: ops.sin(x),
    "slice": lambda x, y: ops.slice(x, starts((0,)), sizes=x.type.shape, strides=(1,)),
    "sum and spread": lambda x, y: ops.broadcast(ops.reduce_sum(x, axes=(0,)), shape=x.type.shape),
}
plans = st.tuples(
    st.sampled_from([SMALL, LARGE]),
    st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), st.integers(0, 9))),
    st.integers(1, 3),
)


def made(plan: Any) -> NumberedGraph:
    """The graph of a plan: a leaf's array, steps of two earlier nodes each, how many outputs."""
    value, steps, count = plan
    nodes: list[Node] = [leaf(value), leaf(value)]
    for name, i, j in steps:
        nodes.append(STEPS[name](nodes[i % len(nodes)], nodes[j % len(nodes)]))
    outputs = [node for node in nodes if node.value is None][-count:]
    return numbered(reachable(outputs), outputs)


@given(plans, plans)
def test_keys_are_equal_where_programs_are(one: Any, other: Any) -> None:
    graph = made(one)
    assert made(one).key == graph.key
    second = made(other)
    assert (graph.key == second.key) == (program_of(graph) == program_of(second))


@given(plans)
def test_a_graph_is_numbered_as_its_programs_lines(plan: Any) -> None:
    graph = made(plan)
    program = program_of(graph)
    assert [node is None for node in graph.nodes] == [
        i in {*program.parameters, *program.slots} for i in range(len(program.instructions))
    ]
    assert [graph.nodes[i] for i in program.outputs] == graph.outputs
    assert [x.type for x in graph.leaves] == [
        program.instructions[i][3] for i in program.parameters
    ]
    assert len(graph.slots) == len(program.slots)
    serials = [node.serial for node in graph.recorded]
    assert serials == sorted(serials)


def test_what_a_graph_needs_is_found_where_serial_numbers_are_far_apart() -> None:
    first = ops.sin(leaf(SMALL))
    for _ in range(1000):
        scalar(1.0, F32)
    last = ops.add(first, first)
    assert reachable([last]) == [first, last]


def test_a_node_is_a_line_once_where_it_is_asked_for_and_used() -> None:
    first = ops.sin(leaf(SMALL))
    last = ops.add(first, first)
    graph = numbered(reachable([first, last, first]), [first, last, first])
    assert graph.nodes == [None, first, last]
    assert program_of(graph).outputs == (1, 2, 1)


def asked() -> None:
    """Ask for the value of a program of two operations."""
    cell = Cell(ops.sin(ops.add(leaf(SMALL), scalar(2.0, F32))))
    np.testing.assert_allclose(fetch(cell.node), np.sin(SMALL + 2), rtol=1e-6)


def test_a_program_is_found_by_a_new_key_of_equal_operations() -> None:
    cache.clear()
    asked()
    (entry,) = cache.entries()
    asked()
    assert len(entry.keys) == 1
    ops.sin.signatures.clear()  # as happens when there are too many
    asked()
    assert cache.entries() == [entry]
    assert len(set(entry.keys)) == 2


def test_an_evicted_program_has_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    asked()
    (entry,) = cache.entries()
    monkeypatch.setattr(lazytensor.settings, "programs", 1)
    cell = Cell(ops.cos(ops.cos(leaf(LARGE))))
    sync(cell.node)
    assert entry not in cache.entries()
    assert all(cache.known(key) is None for key in entry.keys)
    asked()
    assert entry not in cache.entries()
