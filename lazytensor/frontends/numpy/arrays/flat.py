"""Iteration over arrays, and `x.flat`: all elements in row-major order, for reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, writing
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.lending import shown_in
from lazytensor.frontends.numpy.arrays.array import Lazy, extends, ndarray, wrap
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.arrays.reinterpretation import check_settable, flat_view
from lazytensor.frontends.numpy.host.access_counters import memory_of
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.indexing.access import getitem, recorded, setitem
from lazytensor.frontends.numpy.indexing.assignment import source

FLAT_AXES: Final = 32


class flatiter:
    """The class of `x.flat`. Its slices are copies. A write repeats a value that is too short."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: ndarray) -> None:
        self._base = base
        self._index = 0
        self._elements: Iterator[Any] | None = None

    @property
    def base(self) -> ndarray:
        """The array iterated over."""
        return self._base

    @property
    def index(self) -> int:
        """The number of elements given so far."""
        return self._index

    @property
    def coords(self) -> tuple[int, ...]:
        """The index of the next element in the array."""
        return tuple(int(i) for i in np.unravel_index(self.index, self.base.shape))

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.index >= self.base.size:
            raise StopIteration
        if self._elements is None:
            self._elements = iterate(flat_view(self.base))
        self._index += 1
        return next(self._elements)

    def __getitem__(self, key: Any) -> Any:
        found = recorded(flat_view(self.base), _places(key, self.base.size))
        return wrap(found.node) if type(found) is ndarray else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_read_only(self.base):
            raise ValueError("underlying array is read-only")
        if type(key) is tuple:
            np.empty(self.base.size).flat[real(key)] = 0  # raises
        row = flat_view(self.base)
        key = _places(key, self.base.size)
        part = recorded(row, key)
        if type(part) is ndarray:
            value = wrap(_repeated(source(value, self.base.dtype), part.size))
            if not value.size:
                return  # nothing to write, which NumPy accepts
        try:
            setitem(row, key, value)
        except (TypeError, OverflowError):
            if type(part) is ndarray:
                raise
            raise ValueError("Error setting single item of array.") from None

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    def copy(self, /) -> ndarray:
        """The elements, in an array of their own."""
        return wrap(flat_view(self.base).node)

    def __array__(self, dtype: Any = None, /, *, copy: Any = None) -> np.ndarray:
        made = scheduler.fetch(flat_view(self.base).node)
        made.flags.writeable = not is_read_only(self.base)
        return made if dtype is None else made.astype(dtype, copy=False)

    def __eq__(self, other: object) -> Any:
        return self.copy() == (other.copy() if isinstance(other, flatiter) else other)

    def __ne__(self, other: object) -> Any:
        return self.copy() != (other.copy() if isinstance(other, flatiter) else other)


def _repeated(value: Node, size: int) -> Node:
    """The elements of `value`, repeated to `size` elements."""
    row = ops.line(value)
    if value.type.size in (1, size) or not value.type.size:
        return row
    places = leaf(np.arange(size) % value.type.size)
    return ops.gather(row, places, axes=(0,))


def _places(key: Any, size: int) -> Any:
    """`key` itself if it means the same for `x.flat` and a row, else the indices it selects."""
    if type(key) in (int, slice) or key is ...:
        return key
    if isinstance(key, Lazy) and key.dtype.kind in "iu":
        return key
    return np.arange(size).flat[real(key)]


@extends(Lazy)
class FlatAttribute(Lazy):
    """The attribute `flat`."""

    @property
    def flat(self) -> flatiter:
        """NumPy's `flat`."""
        if self.ndim > FLAT_AXES:
            _ = np.empty(self.shape).flat  # raises
        # A scalar is never written to.
        return flatiter(self if isinstance(self, ndarray) else wrap(self.node))

    @flat.setter
    def flat(self, value: Any) -> None:
        check_settable(self, "flat")
        self.flat[:] = value


def iterate(x: ndarray) -> Iterator[Any]:
    """`iter(x)`."""
    if not x.ndim:
        raise TypeError("iteration over a 0-d array")
    if x.ndim == 1 and x.size > _SINGLY:
        return _elements(x)
    return (getitem(x, i) for i in range(x.shape[0]))


def _elements(x: ndarray) -> Iterator[Any]:
    """Iterate by one program instead of a read for each element. A write to `x` in the loop makes
    another program."""
    i = 0
    while i < x.shape[0]:
        cell = x.ref.cell
        if type(cell) is not Cell:
            memory = memory_of(cell)
            part = None if memory is None else shown_in(memory, x.ref.chain)
            if part is not None:  # shows later writes, and keeps the memory lent
                yield from part[i:]
                return
            yield getitem(x, i)
            i += 1
            continue
        scheduler.sync(x.node, cause="iteration")
        with writing:
            if cell.reads is None:
                cell.reads = {}
            unwritten = cell.reads  # a write removes it
        for value in scheduler.fetch(x.node)[i:]:
            yield value
            i += 1
            if cell.reads is not unwritten:
                break


_SINGLY: Final = 8
