"""`x.flat`: all elements in row-major order, to be read, written and iterated over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from lazytensor.core import ops, runtime
from lazytensor.core.node import Node
from lazytensor.core.op import leaf
from lazytensor.frontends.numpy.array import ndarray, wrap
from lazytensor.frontends.numpy.assignment import source
from lazytensor.frontends.numpy.flags import is_read_only
from lazytensor.frontends.numpy.indexing import getitem, setitem
from lazytensor.frontends.numpy.reinterpretation import flat_view


class flatiter:
    """What `x.flat` gives. Slices of it are copies; writing repeats a value that is too short."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: ndarray) -> None:
        self.base = base
        self.index = 0

    @property
    def coords(self) -> tuple[int, ...]:
        """Where in the array the next element is."""
        return tuple(int(i) for i in np.unravel_index(self.index, self.base.shape))

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return getitem(flat_view(self.base), self.index - 1)

    def __getitem__(self, key: Any) -> Any:
        found = getitem(flat_view(self.base), key)
        return wrap(found.node) if type(found) is ndarray else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_read_only(self.base):
            raise ValueError("underlying array is read-only")
        row = flat_view(self.base)
        part = getitem(row, key)
        if type(part) is ndarray:
            value = wrap(_repeated(source(value, self.base.dtype), part.size))
        setitem(row, key, value)

    def copy(self) -> ndarray:
        """The elements, in an array of their own."""
        return wrap(flat_view(self.base).node)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return runtime.fetch(flat_view(self.base).node).astype(dtype or self.base.dtype, copy=False)

    def __eq__(self, other: object) -> Any:
        return self.copy() == (other.copy() if isinstance(other, flatiter) else other)

    def __ne__(self, other: object) -> Any:
        return self.copy() != (other.copy() if isinstance(other, flatiter) else other)


def _repeated(value: Node, size: int) -> Node:
    """The first `size` of the elements of `value` run through over and over."""
    row: Node = ops.reshape(value, shape=(value.type.size,))
    if value.type.size in (1, size) or not value.type.size:
        return row
    places = leaf(np.arange(size) % value.type.size)
    return cast(Node, ops.gather(row, places, axes=(0,)))


def flat(x: ndarray) -> flatiter:
    """`x.flat`."""
    return flatiter(x)


def set_flat(x: ndarray, value: Any) -> None:
    """`x.flat = value`."""
    flatiter(x)[:] = value
