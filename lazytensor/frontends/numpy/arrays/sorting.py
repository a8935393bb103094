"""Methods that rearrange an array in place."""

from __future__ import annotations

import math
import operator
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.frontends.numpy.arrays import reinterpretation
from lazytensor.frontends.numpy.arrays.array import ndarray
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.host.fallback import real

USUAL: Final = {None, "quicksort", "mergesort", "heapsort", "stable"}


def sort(
    x: ndarray, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> None:
    """`x.sort(axis)`."""
    if x.ndim:
        _check_writeable(x)
    if order is not None or kind not in USUAL or not x.ndim:
        np.empty((0,) * x.ndim, x.dtype).sort(axis=axis, kind=kind, order=order)  # raises
    place = normalize_axis_index(operator.index(axis), x.ndim)
    if x.dtype.kind != "c":
        x.ref.write(ops.sort(x.node, axis=place))
        return
    from lazytensor.frontends.numpy.functions import ordering

    x.ref.write(ordering.sort(x, place).node)


def partition(
    x: ndarray, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> None:
    """`x.partition(kth, axis)`: sorted altogether, which is a partition too."""
    np.empty(x.shape, x.dtype).partition(real(kth), axis, kind, order)  # raises
    sort(x, axis)


def resize(x: ndarray, *shape: Any, refcheck: Any = True) -> None:
    """`x.resize(shape)`, of an array that owns its data; new elements are zero."""
    operator.index(refcheck)  # nobody counts references to lazy arrays, but it must be a flag
    wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if wanted is None or not shape:
        return
    sizes = tuple(map(operator.index, wanted))
    if min(sizes, default=0) < 0:
        raise ValueError("negative dimensions not allowed")
    size = math.prod(sizes)
    if size == x.size:
        reinterpretation.set_shape(x, sizes)
        return
    if x._base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    row = ops.reshape(x.node, shape=(x.size,))
    if size > x.size:
        zero = ops.scalar(0, x.dtype)
        row = ops.pad(row, zero, low=(0,), high=(size - x.size,), interior=(0,))
    elif size < x.size:
        row = ops.slice(row, ops.starts((0,)), sizes=(size,), strides=(1,))
    x.ref, x._shadow = Cell(ops.reshape(row, shape=sizes)), None


def _check_writeable(x: ndarray) -> None:
    if is_read_only(x):
        raise ValueError("sort array is read-only")
