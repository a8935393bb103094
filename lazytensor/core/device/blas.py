"""How many threads NumPy's products of matrices take: fewer, while something else needs them.

The threads of OpenBLAS spin for a while after each product, at the user's priority. Beside a
compile in the background they gain nothing, and starve it.
"""

from __future__ import annotations

import ctypes
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


def threads() -> int:
    """How many threads products take, whoever computes them; 1 where that is not known."""
    found = _functions()
    return 1 if found is None else int(found[0]())


def take_one_thread() -> int:
    """Let products take one thread; how many they have taken before."""
    before, found = threads(), _functions()
    if found is not None:
        found[1](1)
    return before


def give_back(before: int) -> None:
    """Let products take `before` threads, unless the user has set another number meanwhile."""
    found = _functions()
    if found is not None and threads() == 1:
        found[1](before)
