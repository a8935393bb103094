"""The cells of one thread whose nodes are pending. `pending.pyx` does the same in Cython.

Invariants:
- A cell is in at most one list, and the list does not keep it alive.
- A cell that is added again, or to another thread's list, moves to the end.
- A list gives its cells in the order in which they were added last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node


class Listed:
    """What has a place in a list of pending cells: a cell, or the like. It holds `node`."""

    __slots__ = ("__weakref__", "node")

    node: Node


class PendingCells:
    """A list of the live cells that may hold a pending node."""

    __slots__ = ("_references",)

    def __init__(self) -> None:
        self._references: list[ref[Listed]] = []

    def add(self, cell: Listed) -> None:
        """Enter a cell, which leaves any other list."""
        self._references.append(ref(cell))

    def nodes(self) -> list[Node]:
        """The pending nodes of all cells, each once."""
        found: dict[Node, None] = {}
        for reference in self._references:
            cell = reference()
            if cell is not None and (node := cell.node).value is None:
                found[node] = None
        return list(found)

    def keep_pending(self) -> None:
        """Let go of all cells whose node has a value."""
        self._references = [
            r for r in self._references if (cell := r()) is not None and cell.node.value is None
        ]

    def __len__(self) -> int:
        """Number of cells, of which some may be gone or have a value."""
        return len(self._references)
