"""Just enough of an array to write programs with: a vector over a cell or a view of one."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir import library_files
from lazytensor.core.ir.node import Node
from lazytensor.core.runtime.scheduler import fetch

library_files.hide(__file__)  # the user's code is that of the tests

F64 = np.dtype(np.float64)


class Array:
    """A 1-d lazy array: arithmetic, slices that are views, assignment."""

    def __init__(self, holder: Cell | View) -> None:
        self.holder = holder

    @property
    def node(self) -> Node:
        """What it shows now."""
        return self.holder.node

    def __add__(self, other: Array | float) -> Array:
        return record(ops.add, self, other)

    def __sub__(self, other: Array | float) -> Array:
        return record(ops.subtract, self, other)

    def __mul__(self, other: Array | float) -> Array:
        return record(ops.multiply, self, other)

    def __truediv__(self, other: Array | float) -> Array:
        return record(ops.divide, self, other)

    def sin(self) -> Array:
        """Its sine."""
        return record(ops.sin, self)

    def __getitem__(self, key: builtins.slice) -> Array:
        return Array(self.holder.view(self._step(key)))

    def __setitem__(self, key: builtins.slice | int, value: Array | float) -> None:
        key = builtins.slice(key, key + 1) if isinstance(key, int) else key
        view = self.holder.view(self._step(key))
        node = operand(value, self.node.type.dtype)
        view.write(ops.broadcast(node, shape=view.type.shape))

    def _step(self, key: builtins.slice) -> Any:
        span = range(*key.indices(self.holder.type.size))
        return ops.slice_step((span.start if span else 0,), (len(span),), (span.step,))

    def numpy(self) -> np.ndarray:
        """Its value."""
        return fetch(self.node)

    def __float__(self) -> float:
        return float(self.numpy())


def operand(value: Array | float, dtype: np.dtype) -> Node:
    """The node of an array or of a number."""
    return value.node if isinstance(value, Array) else ops.scalar(value, dtype)


def record(op: Any, x: Array, *others: Array | float) -> Array:
    """An op over arrays and numbers, as a new array."""
    dtype = x.node.type.dtype
    return Array(Cell(op(x.node, *(operand(y, dtype) for y in others))))


def array(values: Any) -> Array:
    """An array of these numbers."""
    return Array(Cell(ops.leaf(np.array(values, F64))))


def zeros(n: int) -> Array:
    """An array of n zeros, recorded."""
    return Array(Cell(ops.broadcast(ops.scalar(0.0, F64), shape=(n,))))
