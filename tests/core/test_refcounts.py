"""What is asked of reference counts: true where there is one owner, false beside any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers import refcounts
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.graph import numbered, reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf

Beside = Callable[[Any], Any]
"""Makes a reference to an object."""
BESIDE: dict[str, Beside] = {
    "nothing": lambda x: None,
    "a name": lambda x: x,
    "a container": lambda x: {"of": x},
    "a weak reference": ref,
}
VIEWS: dict[str, Beside] = {
    "nothing": lambda x: None,
    "a name": lambda x: x,
    "a container": lambda x: [x],
    "a view": lambda x: x[1:],
}


def pending() -> Node:
    return ops.exp(leaf(np.ones(3)))


@pytest.mark.parametrize("beside", BESIDE)
def test_a_node_is_held_by_strong_references(beside: str) -> None:
    graph = ops.exp(pending())
    kept = BESIDE[beside](graph.operands[0])
    outputs = numbered(reachable([graph]), [graph], keeping_held=True).outputs
    assert outputs[-1] is graph
    assert len(outputs) - 1 == (beside in ("a name", "a container"))
    del kept


@pytest.mark.parametrize("beside", BESIDE)
def test_a_leaf_is_owned_if_nothing_else_refers_to_it(beside: str) -> None:
    graph = pending()
    kept = BESIDE[beside](graph.operands[0])
    assert numbered(reachable([graph]), [graph]).owned == [beside == "nothing"]
    del kept


@pytest.mark.parametrize("beside", VIEWS)
def test_a_leafs_array_is_its_own(beside: str) -> None:
    own = leaf(np.ones(3))
    own.value = np.ones(3)
    kept = VIEWS[beside](own.value)
    assert refcounts.has_own_array(own) == (beside == "nothing")
    del kept


@pytest.mark.parametrize("beside", VIEWS)
def test_a_cells_memory_is_its_own(beside: str) -> None:
    cell = Cell(leaf(np.ones(3)))
    cell.node.value = np.ones(3)
    kept = VIEWS[beside](cell.node.value)
    assert refcounts.is_own(cell) == (beside == "nothing")
    del kept


@pytest.mark.parametrize("beside", VIEWS)
def test_a_listed_array_is_unshared(beside: str) -> None:
    values = [np.ones(3)]
    kept = VIEWS[beside](values[0])
    unshared = refcounts.is_unshared(values, 0, {})  # an assertion would name the array
    others = refcounts.beside_the_list(values, 0)
    assert (unshared, others) == (beside == "nothing", beside != "nothing")
    del kept


@pytest.mark.parametrize("beside", VIEWS)
def test_a_listed_view_of_all_of_an_array_is_unshared(beside: str) -> None:
    values = [np.ones(4).reshape(2, 2)]
    kept = VIEWS[beside](values[0].base)
    unshared = refcounts.is_unshared(values, 0, {})
    assert unshared == (beside == "nothing")
    del kept
