"""How many threads NumPy's products of matrices take: fewer, while something else needs them.

The threads of OpenBLAS spin for a while after each product, at the user's priority. Beside a
compile in the background they gain nothing, and starve it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import numpy as np

_NAMES: Final = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads")
"""How NumPy's wheels and a system's OpenBLAS name the functions."""


@cache
def _functions() -> tuple[Any, Any] | None:
    """The functions that get and set the number; None where NumPy has another BLAS."""
    try:
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None
    for name in _NAMES:
        if hasattr(library, name.format("set")):
            return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Let products take one thread during the block, whoever computes them."""
    found = _functions()
    if found is None:
        yield
        return
    get, set = found
    before = get()
    set(1)
    try:
        yield
    finally:
        if get() == 1:  # else the user has set it meanwhile
            set(before)
