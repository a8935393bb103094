"""Passing arrays between frontends, which know nothing of each other: what they show is the core's.

A frontend's class has a method `__lazytensor__()`, which gives an `Offer`, or None for an object
that is not lazy. It records nothing but what its own geometry asks for, and computes nothing.

Ownership:
- A cell or a view has no owner. An array that takes one shares it: a write on one side is seen on
  the other, and it lives as long as an array shows it.
- A node never changes, so taking it is a copy without cost. An array that is written to puts it
  into a cell of its own, and the next write replaces it there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, leaf

METHOD: Final = "__lazytensor__"


class Offer(NamedTuple):
    """What an array shows: a cell or view, if it may be written to, else a node.

    `strides`, in bytes, is how the elements lie in the eyes of its framework, where not in rows.
    `refusal` says why it may be looked at, and not taken by another framework. `assign` gives it
    another value, where a node is held that is not for good.
    """

    held: Cell | View | Node
    strides: tuple[int, ...] | None = None
    refusal: str = ""
    assign: Callable[[Node], None] | None = None

    @property
    def node(self) -> Node:
        """What it holds now."""
        return self.held if isinstance(self.held, Node) else self.held.node

    @property
    def ref(self) -> Cell | View:
        """What to write to: the offered cell or view, or a cell of its own where a node is."""
        return self.copy if isinstance(self.held, Node) else self.held

    @property
    def change(self) -> Callable[[Node], None]:
        """What gives the array another value of this type.

        Raises: ValueError for a view, which has a part of another array's memory, and for what
        cannot be written to.
        """
        if self.assign is not None:
            return self.assign
        if isinstance(self.held, Cell):
            return self.held.write
        is_view = isinstance(self.held, View)
        raise ValueError("a view changes with its array" if is_view else "it is read-only")

    @property
    def copy(self) -> Cell:
        """A cell of its own, that holds what is held now; nothing is copied before a write."""
        node = self.node
        if node.op is SLOT:  # what an array holds is data of every program
            node = leaf(np.asarray(node.value, node.type.dtype))
        return Cell(node)


def shown(x: object) -> Offer | None:
    """What `x` shows, for a look; None if it is nothing lazy."""
    method = getattr(type(x), METHOD, None)
    found: Offer | None = None if method is None else method(x)
    return found


def offered(x: object) -> Offer | None:
    """What `x` shows, to be taken by another frontend; None if it is nothing lazy.

    Raises: RuntimeError if its framework refuses that.
    """
    found = shown(x)
    if found is not None and found.refusal:
        raise RuntimeError(found.refusal)
    return found
