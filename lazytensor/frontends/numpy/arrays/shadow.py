"""Shadows: real arrays that answer questions of layout and whose memory is never read.

A shadow has the shape, strides and flags that NumPy's array would have. The memory of its elements
does not exist, so it is only passed to NumPy code that uses the layout alone: basic indexing that
leaves an array, transposing, reshaping without a copy, overlap tests.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core.ir.memo import keep, memory
from lazytensor.core.ir.shapes import rows
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.runtime.lending import Lent
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar

_MEMORY: Final = np.empty(64, np.uint8)
ADDRESS: Final = int(_MEMORY.ctypes.data) + (-int(_MEMORY.ctypes.data)) % 16
_shared: Final[dict[TensorType, np.ndarray]] = memory()


class Turned(np.ndarray):
    """A shadow whose axes may have another order than C's. All other shadows have C's order."""


class _Layout:
    """Has the interface by which NumPy makes an array of memory that it does not own."""

    def __init__(
        self, address: int, dtype: np.dtype, shape: Shape, strides: Shape, writeable: bool
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (address, not writeable),
            # NumPy does not know the letters of all dtypes that other libraries have added.
            "typestr": f"|V{dtype.itemsize}" if dtype.isbuiltin == 2 else dtype.str,
            "shape": shape,
            "strides": strides,
        }


def shadow(x: Lazy) -> np.ndarray:
    """The shadow of a lazy array."""
    found = x._shadow
    return found if found is not None else shadow_of_type(x.ref.type)


def shadow_of_type(type: TensorType) -> np.ndarray:
    """The shadow that all C-contiguous, writeable arrays of a type share."""
    found = _shared.get(type)
    if found is None:
        found = make(ADDRESS, type.dtype, type.shape, c_strides(type), True)
        keep(_shared, type, found)
    return found


def make(
    address: int, dtype: np.dtype, shape: Shape, strides: Shape, writeable: bool
) -> np.ndarray:
    """A shadow with this layout."""
    array = np.asarray(_Layout(address, dtype, shape, strides, writeable))
    return array if array.dtype == dtype else array.view(dtype)


def fortran_shadow(type: TensorType) -> np.ndarray:
    """The shadow of a Fortran-contiguous array that owns its cell."""
    return turned(shadow_of_type(type.with_shape(type.shape[::-1])).T)


def turned(array: np.ndarray) -> Turned:
    """The same layout, marked as `Turned`."""
    return array.view(Turned)


def read_only(array: np.ndarray) -> np.ndarray:
    """The same layout, read-only."""
    view = array.view()
    view.flags.writeable = False
    return view


def writeable(array: np.ndarray) -> np.ndarray:
    """The same layout, writeable."""
    address = array.__array_interface__["data"][0]
    made = make(address, array.dtype, array.shape, array.strides, True)
    return turned(made) if type(array) is Turned else made


def c_strides(type: TensorType) -> Shape:
    """Strides of a C-contiguous array."""
    if not type.size:
        return np.empty(type.shape, type.dtype).strides  # they depend on NumPy's release
    return tuple([step * type.dtype.itemsize for step in rows(type.shape)])


def same_elements(x: Any, y: Lazy) -> bool:
    """Whether two arrays show the same elements of the same data, in the same order.

    `x` may be a real array that shows lent memory of `y`.
    """
    if type(x) is np.ndarray and type(y.ref.cell) is Lent:
        lent = y.ref.known()
        return lent is not None and _whereabouts(lent) == _whereabouts(x)
    if not issubclass(type(x), Lazy):
        return False
    if x.ref.cell is not y.ref.cell or x.ref.type is not y.ref.type or not x.ref.type.ndim:
        return False
    one, other = shadow(x), shadow(y)
    return one.ctypes.data == other.ctypes.data and one.strides == other.strides


def _whereabouts(x: np.ndarray) -> tuple[Any, ...]:
    return x.ctypes.data, x.dtype, x.shape, x.strides


def overlap(x: Any, y: Any, test: Any, max_work: Any = None) -> bool:
    """Whether `test` (`np.shares_memory` or `np.may_share_memory`) says that arrays overlap."""
    if not isinstance(x, Lazy) and not isinstance(y, Lazy):
        return bool(test(x, y, max_work=max_work))
    if issubclass(type(x), Lazy) and issubclass(type(y), Lazy):
        if type(x) is Scalar or x.ref.cell is not y.ref.cell:
            return False
        return bool(test(shadow(x), shadow(y), max_work=max_work))
    lazy, other = (x, y) if issubclass(type(x), Lazy) else (y, x)
    if type(lazy.ref.cell) is not Lent:
        return False
    return bool(test(lazy.ref.known(), other, max_work=max_work))
