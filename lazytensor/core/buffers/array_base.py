"""What arrays of frontends have in common: they hold a cell, or a view of one.

`array_base.pyx` does the same with CPython's C API; the two are kept alike by hand.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, TypeVar

import numpy as np

from lazytensor.core.buffers.cell import Cell, View, enter
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape, TensorType


class Holder:
    """An array that shows what `ref` holds.

    `_shadow` and `_base` are for a frontend whose arrays lie in several ways, or share memory: they
    say how this one lies, and with which array it shares its memory. A subclass may have a property
    `ref`.
    """

    __slots__ = ("__weakref__", "_base", "_shadow", "ref")

    ref: Cell | View
    _base: Any
    _shadow: Any

    @property
    def node(self) -> Node:
        """What it holds now."""
        return self.ref.node

    @property
    def type(self) -> TensorType:
        """Dtype and shape."""
        return self.ref.type

    @property
    def shape(self) -> Shape:
        """Length of each axis."""
        return self.ref.type.shape

    @property
    def dtype(self) -> np.dtype:
        """Dtype of the elements."""
        return self.ref.type.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.ref.type.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.ref.type.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.ref.type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.ref.type.nbytes


ref_of: Final = attrgetter("ref")
"""The cell of an array, or the view that it shows."""

type_of: Final = attrgetter("ref.type")
"""Dtype and shape of an array."""

node_of: Final = attrgetter("ref.node")
"""What an array holds now."""

H = TypeVar("H", bound=Holder)


def holding(cls: type[H], node: Node) -> H:
    """A new array of a class that holds a node in a cell of its own."""
    cell = _blank(Cell)
    enter(cell, node)
    array: H = _blank(cls)
    array.ref = cell
    array._shadow = array._base = None
    return array


def showing(cls: type[H], ref: Cell | View, shadow: Any, base: Any) -> H:
    """A new array of a class that shows what another one holds."""
    array: H = _blank(cls)
    array.ref = ref
    array._shadow = shadow
    array._base = base
    return array


_blank: Final = object.__new__
