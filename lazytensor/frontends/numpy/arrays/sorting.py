"""Methods that rearrange an array in place."""

from __future__ import annotations

import math
import operator
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.lib.arranging import fitted
from lazytensor.frontends.numpy.arrays.array import extends, ndarray
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.functions import ordering
from lazytensor.frontends.numpy.host.fallback import real

USUAL: Final = {None, "quicksort", "mergesort", "heapsort", "stable"}


@extends(ndarray)
class Sorting(ndarray, own=True):
    """Methods that rearrange an array in place."""

    def sort(
        self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """NumPy's `sort`."""
        if self.ndim and is_read_only(self):
            raise ValueError("sort array is read-only")
        if order is not None or kind not in USUAL or not self.ndim:
            np.empty((0,) * self.ndim, self.dtype).sort(axis=axis, kind=kind, order=order)  # raises
        self.ref.write(ordering.sorted_along(self.node, axis))

    def partition(
        self, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
    ) -> None:
        """NumPy's `partition`. A sorted array is a partition too."""
        np.empty(self.shape, self.dtype).partition(real(kth), axis, kind, order)  # raises
        self.sort(axis)

    def resize(self, *shape: Any, refcheck: Any = True) -> None:
        """NumPy's `resize`, of an array that owns its data; new elements are zero."""
        operator.index(refcheck)  # references are not counted, but it must be a flag
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if wanted is None or not shape:
            return
        sizes = tuple(map(operator.index, wanted))
        if min(sizes, default=0) < 0:
            raise ValueError("negative dimensions not allowed")
        size = math.prod(sizes)
        if size == self.size:
            self.shape = sizes  # type: ignore[misc]  # set by `Reinterpretation`
            return
        if self._base is not None:
            raise ValueError("cannot resize this array: it does not own its data")
        row = ops.reshape(self.node, shape=(self.size,))
        self.ref, self._shadow = Cell(ops.reshape(fitted(row, 0, size), shape=sizes)), None
