"""Conversion of arrays of other libraries and of other frontends (`core/buffers/interop.py`).

Arrays of other libraries are copied. Lazy arrays of other frontends share their data: nothing is
computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.buffers.interop import METHOD, offered
from lazytensor.frontends.numpy.arrays.array import Lazy, lazy, ndarray, new, wrap_view
from lazytensor.frontends.numpy.arrays.shadow import ADDRESS, c_strides, make


def shared(x: Any) -> ndarray | None:
    """An array that shares the data of another frontend's array; None if `x` is no such array.

    A write to one is seen in the other, unless `x` cannot be written to. Raises: the other
    framework's error for a tensor that may not leave it.
    """
    offer = offered(x)
    if offer is None:
        return None
    ref = offer.ref
    owner: ndarray = new(ndarray)
    owner.ref, owner._shadow, owner._base = ref.cell, None, None
    type = ref.type
    strides = c_strides(type) if offer.strides is None else offer.strides
    if ref is ref.cell and strides == c_strides(type):
        return owner
    return wrap_view(ref, make(ADDRESS, type.dtype, type.shape, strides, True), owner)


def adopted(x: Any) -> Any:
    """`x` with lazy arrays in place of other frontends' arrays, in lists and tuples too."""
    kind = type(x)
    if kind is list or kind is tuple:
        return kind(map(adopted, x))
    return x if (made := shared(x)) is None else made


def has_foreign(*values: Any) -> bool:
    """Whether `values`, nested lists and tuples included, hold another frontend's array."""
    return any(
        has_foreign(*x) if type(x) in (list, tuple) else hasattr(type(x), METHOD) and not lazy(x)
        for x in values
    )


def unpacked(x: Any) -> Any:
    """`x` with objects whose `__array__` returns a lazy array replaced by it, in lists too.

    NumPy takes only its own arrays from `__array__`.
    """
    kind = type(x)
    if kind is list or kind is tuple:
        return kind(map(unpacked, x))
    if kind is dict:
        return {key: unpacked(item) for key, item in x.items()}
    if not hasattr(kind, "__array__") or issubclass(kind, Lazy | np.ndarray | np.generic):
        return x
    found = x.__array__()
    return found if lazy(found) else x


def listed(x: Any) -> Any:
    """`x` with plain lists in place of other sequences that NumPy treats as nested lists."""
    kind = type(x)
    if kind is list or kind is tuple:
        return kind(map(listed, x))
    if issubclass(kind, str | bytes) or hasattr(kind, "__array__"):
        return x
    is_sequence = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    return [listed(x[i]) for i in range(len(x))] if is_sequence and not isinstance(x, dict) else x
