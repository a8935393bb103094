"""How many threads the host's kernels take: fewer, while something else needs the processors.

The threads of OpenBLAS, and those of a framework's OpenMP, spin for a while after each kernel, at
the user's priority. Beside a compile in the background they starve it; beside each other they gain
nothing. Invariant: what `narrow` has changed lasts until `widen`, within one run of a program.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Final, NamedTuple
from weakref import WeakSet

import numpy as np


class Pool(NamedTuple):
    """A library's threads: how many its kernels take in the calling thread, and how to set that."""

    size: Callable[[], int]
    resize: Callable[[int], Any]


SPINNING: Final[dict[str, Pool]] = {}
"""By a framework's name: threads that spin for a while after each kernel."""

Narrowed = Sequence[tuple[Pool, int]]
"""Pools that take one thread for a while, and how many they took before."""

_NAMES: Final = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads")
"""How NumPy's wheels and a system's OpenBLAS name the functions."""
_claims: Final[WeakSet[object]] = WeakSet()
"""What needs a processor: a compile, say. What is dropped needs none."""


@cache
def products() -> Pool:
    """The threads of NumPy's products of matrices; one that never changes for another BLAS."""
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
        for name in _NAMES:
            if hasattr(library, name.format("set")):
                return Pool(*(getattr(library, name.format(verb)) for verb in ("get", "set")))
    return Pool(lambda: 1, lambda _: None)


def claim(claimant: object) -> None:
    """Leave a processor to something until `release`, however often it is claimed."""
    _claims.add(claimant)


def release(claimant: object) -> None:
    """End a claim, if there is one."""
    _claims.discard(claimant)


def narrow(convolves: bool = False) -> Narrowed:
    """Let kernels of this run take one thread where more would be in the way.

    NumPy's products, beside a framework's kernels: `convolves`, or its threads spin. All kernels
    whose threads spin, while something claims a processor.
    """
    pools = []
    if convolves or SPINNING or _claims:
        pools.append(products())
    if _claims:
        pools += SPINNING.values()
    narrowed = [(pool, pool.size()) for pool in pools]
    for pool, _ in narrowed:
        pool.resize(1)
    return narrowed


def widen(narrowed: Narrowed) -> None:
    """Undo `narrow`, unless the user has set another number meanwhile."""
    for pool, before in narrowed:
        if pool.size() == 1:
            pool.resize(before)
