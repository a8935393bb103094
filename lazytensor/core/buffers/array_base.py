"""What arrays of frontends have in common: they hold a cell, or a view of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape, TensorType


class Holder:
    """An array that shows what `ref` holds.

    `_shadow` is for a frontend whose arrays lie in several ways: it says how this one does.
    """

    __slots__ = ("__weakref__", "_shadow", "ref")

    ref: Cell | View
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
