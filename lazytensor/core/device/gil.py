"""How a thread that computes in Python beside the user's threads shares the GIL with them.

They give it up at each kernel and wait for it after, for as long as the switch interval. And a
collection of garbage that this thread's objects bring about visits all objects of the process, with
the GIL held.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SWITCH_SECONDS: Final = 1e-4
"""Seconds that another thread waits for the GIL while this one has it."""
_before: Final[list[tuple[float, bool]]] = []
"""The switch interval, and whether garbage was collected, before each `yielding`."""


@contextmanager
def yielding() -> Iterator[None]:
    """Give up the GIL soon during the block, and collect no garbage. One thread at a time."""
    _begin()
    try:
        yield
    finally:
        _end()


@contextmanager
def waiting() -> Iterator[None]:
    """Leave `yielding` for the block, in which this thread computes nothing in Python."""
    is_yielding = bool(_before)
    if is_yielding:
        _end()
    try:
        yield
    finally:
        if is_yielding:
            _begin()


def _begin() -> None:
    _before.append((sys.getswitchinterval(), gc.isenabled()))
    sys.setswitchinterval(min(_before[-1][0], SWITCH_SECONDS))
    gc.disable()


def _end() -> None:
    interval, collects = _before.pop()
    sys.setswitchinterval(interval)
    if collects:
        gc.enable()
