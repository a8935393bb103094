"""Host memory that a backend can use as it is."""

from __future__ import annotations

import math
import os
from functools import cache
from typing import Any, Final

import numpy as np

ALIGNMENT: Final = 64
"""XLA on a CPU takes arrays at such addresses as they are, and copies all others."""
ALIGNED_BYTES: Final = 2**16
"""Bytes from which a copy costs more than finding such an address."""
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def allocated(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of anything, at an aligned address if it is large."""
    size = math.prod(shape)
    nbytes = size * dtype.itemsize
    if nbytes < ALIGNED_BYTES or dtype.hasobject:
        return np.empty(shape, dtype)
    memory = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    made: np.ndarray = memory[start : start + nbytes].view(dtype).reshape(shape)
    return made


def copied(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """A copy in rows, of another dtype if that is given, at an aligned address if it is large."""
    if dtype is None and array.nbytes < ALIGNED_BYTES and type(array) is np.ndarray:
        return array.copy()
    wanted = array.dtype if dtype is None else np.dtype(dtype)
    if array.size * wanted.itemsize < ALIGNED_BYTES or wanted.hasobject:
        return np.array(array, wanted, order="C", copy=True, subok=False)
    made = allocated(array.shape, wanted)
    np.copyto(made, array, casting="unsafe")
    return made


@cache
def most() -> int:
    """Bytes that an array can have at most: this machine's memory and swap."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # a system that does not say
        return 2**63
    return memory + _swap()


def _swap() -> int:
    """Bytes of memory that this machine has on disk, as far as it says."""
    try:
        with open("/proc/meminfo") as lines:
            return sum(
                int(line.split()[1]) * 1024 for line in lines if line.startswith("SwapTotal:")
            )
    except FileNotFoundError:
        return 0


def in_words(nbytes: int) -> str:
    """A number of bytes as NumPy's errors have it: `7.28 TiB`."""
    power = min(max(nbytes.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    text = f"{nbytes / 1024**power:#.3g}" if power else str(nbytes)
    return f"{text.rstrip('.')} {_UNITS[power]}"
