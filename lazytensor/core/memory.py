"""Host memory that a backend can use as it is."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

ALIGNMENT: Final = 64
"""XLA on a CPU takes arrays at such addresses as they are, and copies all others."""
LARGE: Final = 2**16
"""Bytes from which a copy costs more than finding such an address."""


def allocated(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of anything, at an aligned address if it is large."""
    size = math.prod(shape)
    nbytes = size * dtype.itemsize
    if nbytes < LARGE or dtype.hasobject:
        return np.empty(shape, dtype)
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    made: np.ndarray = memory[start : start + nbytes].view(dtype).reshape(shape)
    return made


def copied(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """A copy in rows, of another dtype if that is given, at an aligned address if it is large."""
    if dtype is None and array.nbytes < LARGE and array.__class__ is np.ndarray:
        return array.copy()
    wanted = array.dtype if dtype is None else np.dtype(dtype)
    if array.size * wanted.itemsize < LARGE or wanted.hasobject:
        return np.array(array, wanted, order="C", copy=True, subok=False)
    made = allocated(array.shape, wanted)
    np.copyto(made, array, casting="unsafe")
    return made
