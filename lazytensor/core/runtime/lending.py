"""Lending: while the host has a cell's values, the host framework's own views may show them.

A loop over rows does thousands of operations on a few elements each, all in the memory of one
array. While that memory is lent, the framework itself reads and writes parts of it.

Invariants:
- Memory is lent, or written to, only while nothing but the cell and its leaf refers to it.
- Lent memory may have another order of axes than rows, as the framework's own array would. A cell
  that is not lent has its values in rows.
- While there are views of a lent cell's memory, its `node` is a copy, and a write to the cell goes
  into the memory. Once there are no views, the next access makes it an ordinary cell again.
- Lending and its end require the `writing` lock. Lock-free readers check the state again after
  taking the memory: the end of lending changes the class first, and then counts references.
- Reads of a lent cell are never remembered, as writes through the views are not reported.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.cell import Cell, Chain, shown, writing, written
from lazytensor.core.buffers.refcounts import of_memory
from lazytensor.core.device.host_memory import ALIGNED_BYTES, allocated, copied
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.types import TensorType
from lazytensor.core.runtime.locking import lock
from lazytensor.core.runtime.scheduler import observe, sync

_leaf_of: Final[Callable[[Cell], Node]] = getattr_static(Cell, "node").__get__
_set_leaf: Final = getattr_static(Cell, "node").__set__
_set_reads: Final = getattr_static(Cell, "reads").__set__


class Lent(Cell):
    """A cell whose memory the host framework's views may show. Made of a cell by `lend`."""

    __slots__ = ()

    @property
    def node(self) -> Node:
        """The leaf, no longer lent; a copy of it while there are views."""
        with writing:
            if not _ended(self):
                return _in_rows(_leaf_of(self))
            return _leaf_of(self)

    @node.setter
    def node(self, node: Node) -> None:
        _set_leaf(self, node)

    @property
    def reads(self) -> Any:
        """Always empty, as reads are never remembered."""
        return {}

    @reads.setter
    def reads(self, reads: Any) -> None:
        """Do nothing. The slot holds the view whose address was asked for, if any."""

    @property
    def type(self) -> TensorType:
        """Type of the data."""
        own: Node = _leaf_of(self)
        return own.type

    def write(self, node: Node) -> None:
        """Replace the data; the views show it."""
        self.write_part((), node)

    def write_part(self, chain: Chain, node: Node) -> None:
        """Replace only what `chain` shows, as others may write to the rest through views."""
        while not Lent._takes(self, chain, node):
            observe(node)  # without the locks, which other threads wait for; it may end the lending

    def _takes(self, chain: Chain, node: Node) -> bool:
        """Replace what `chain` shows, if `node` is computed or need not be; else return False."""
        with lock, writing:
            if _ended(self):
                Cell.write_part(self, chain, node)
                return True
            if node.value is None:
                return False
            part = shown_in(self.known(), chain)
            if part is None:
                node, part = written(self, chain, node), self.known()
                sync(node, cause="observation", alone=True)  # its operands are known: no waiting
            part[...] = observe(node)
            return True

    def known(self) -> np.ndarray:
        """The data, in the memory that is lent. The caller reads it at once."""
        value: np.ndarray = _leaf_of(self).value
        return value


class Ending(Lent):
    """A lent cell during the check for views of its memory."""

    __slots__ = ()


def _ended(cell: Cell) -> bool:
    """Whether a cell that was lent is an ordinary one, from now on if there are no views."""
    if cell.__class__ is Cell:  # another thread was first
        return True
    cell.__class__ = Ending
    own = _leaf_of(cell)
    if _is_seen(own):
        cell.__class__ = Lent
        return False
    if not own.value.flags.c_contiguous:
        _set_leaf(cell, _in_rows(own))
    cell.__class__ = Cell
    del cell.memory
    return True


def _in_rows(own: Node) -> Node:
    """A copy of a leaf, in rows."""
    return leaf(copied(own.value), own.type)


def shown_in(memory: np.ndarray, chain: Chain) -> np.ndarray | None:
    """What `chain` shows in this memory; None if NumPy would have to copy it."""
    part = shown(memory, chain)
    if part is memory or not part.size or np.may_share_memory(part, memory):
        return part
    return None


def lend(cell: Cell, like: np.ndarray | None = None) -> np.ndarray:
    """Lend the memory of a cell that is its own. The caller holds `writing`.

    like: an array of the cell's type whose layout the memory takes. Without it, rows.
    """
    cell.reads = None
    if like is not None:
        turned = np.empty_like(like, subok=False)
        turned[...] = cell.node.value
        cell.node = leaf(turned, cell.type)
    cell.memory = cell.node.value
    cell.__class__ = Lent
    return cell.memory


def hold(cell: Cell) -> None:
    """Keep a view of a lent cell's memory, so that it stays in place while the cell lives."""
    _set_reads(cell, cell.memory.view())


def _is_seen(own: Node) -> bool:
    """Whether there are views of a lent cell's memory."""
    return of_memory(own) != (_LENT_BASE if own.value.base is not None else _LENT_VALUE)


def _references_of_lent(bytes: int) -> tuple[int, int]:
    """The references that `_is_seen` counts when there are no views."""
    cell = Cell(leaf(allocated((bytes,), np.dtype(np.uint8))))
    lend(cell)
    return of_memory(_leaf_of(cell))


_LENT_VALUE, _LENT_BASE = _references_of_lent(1), _references_of_lent(ALIGNED_BYTES)
