"""Reference counts that decide semantics: what may be overwritten, and what has to be settled.

CPython counts the references to each object. A buffer may be overwritten, donated or lent only if
nothing but the asker refers to it; a node must be settled if anything but the graph refers to it.
`ir/graph.py` asks about the nodes of a graph.

Protocol:
- A question subtracts the references that asking makes. The number is measured at import, by the
  same expression on an object that nothing else refers to: it differs between Python versions.
- A question takes what holds the object, and not the object: a caller's expression would count. A
  local name counts as well, so a caller deletes its names before it asks.
- A weak reference counts as well: it is a read that is remembered.
- A view of an array refers to the array that owns the memory.
- Where the answer is wrong by an unknown reference, it is that the object is shared: a copy is
  made, and no value is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final
from weakref import getweakrefcount

import numpy as np
from numpy import ndarray

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.device.host_memory import ALIGNED_BYTES, allocated
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER, leaf
from lazytensor.core.ir.types import tensor_type

Held = Mapping[int, int]
"""By the identity of arrays that were given: how often they are referred to beside the list."""


# --- values of leaves ----------------------------------------------------------------------------


def has_own_array(leaf: Node) -> bool:
    """Whether a leaf's value is a writable array of the host's, without views, that only it has."""
    value = leaf.value
    return (
        type(value) is ndarray
        and value.base is None
        and value.flags.writeable
        and sys.getrefcount(value) <= _OF_LEAFS_VALUE
        and not getweakrefcount(value)
    )


def _of_leafs_value() -> int:
    """References that `has_own_array` sees to an array that only its leaf has."""
    leaf = Input(PARAMETER, tensor_type(np.dtype(np.float32)), np.zeros((), np.float32))
    value = leaf.value
    return sys.getrefcount(value)


_OF_LEAFS_VALUE: Final = _of_leafs_value()


# --- memory of cells -----------------------------------------------------------------------------


def is_own(cell: Cell) -> bool:
    """Whether the host has the values of a cell, and only the cell refers to them."""
    node = cell.node
    value = node.value
    return (
        type(value) is ndarray
        and sys.getrefcount(node) <= _OF_CELLS_NODE
        and sys.getrefcount(value) <= _OF_CELLS_VALUE
        and not getweakrefcount(node)
        and value.flags.writeable
        and (value.base is None or sys.getrefcount(value.base) <= _OF_CELLS_BASE)
    )


def of_memory(own: Node) -> tuple[int, int]:
    """References to a leaf's value, and to the array that owns its memory; 0 if that is itself."""
    value = own.value
    base = value.base
    return sys.getrefcount(value), 0 if base is None else sys.getrefcount(base)


def _of_cells() -> tuple[int, int, int]:
    """References that `is_own` sees where only a cell refers to its values."""
    cell = Cell(leaf(allocated((ALIGNED_BYTES,), np.dtype(np.uint8))))
    node = cell.node
    value = node.value
    return sys.getrefcount(node), sys.getrefcount(value), sys.getrefcount(value.base)


_OF_CELLS_NODE, _OF_CELLS_VALUE, _OF_CELLS_BASE = _of_cells()


# --- values in the interpreter's list ------------------------------------------------------------


def is_unshared(values: list[Any], i: int, held: Held, views: int = 0) -> bool:
    """Whether nothing but the list has the memory of its array `i`; `views` of it do not count."""
    base = values[i].base
    if base is None:
        return beside_the_list(values, i) - views <= held.get(id(values[i]), 0)
    # A view of all of an array that has no other views, and is in no list.
    return (
        beside_the_list(values, i) <= 0
        and type(base) is ndarray
        and base.nbytes == values[i].nbytes
        and values[i].flags.c_contiguous
        and values[i].flags.writeable
        and sys.getrefcount(base) - _OF_LISTED_BASE <= held.get(id(base), 0)
    )


def beside_the_list(values: list[Any], i: int) -> int:
    """How often array `i` of the list is referred to besides."""
    return sys.getrefcount(values[i]) - _OF_LISTED


def _of_listed() -> tuple[int, int]:
    """References to an array of a list, and to its base, where there are no others."""
    values = [np.zeros(2).reshape(1, 2)]
    base = values[0].base
    return sys.getrefcount(values[0]), sys.getrefcount(base)


_OF_LISTED, _OF_LISTED_BASE = _of_listed()
