"""How a thread that computes in Python beside the user's threads shares the GIL with them.

They give it up at each kernel and wait for it after, for as long as the switch interval. And a
collection of garbage that this thread's objects bring about visits all objects of the process, with
the GIL held.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SWITCH_SECONDS: Final = 1e-4
"""Seconds that another thread waits for the GIL while this one has it."""
_before: Final[list[float]] = []
"""The switch interval before each `yielding`."""


class _Collections:
    """Pauses of the collection of garbage. Threads may pause it at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0
        self._collects = False

    def pause(self) -> None:
        """Collect no garbage until `go_on` was called as often."""
        with self._lock:
            if not self._pauses:
                self._collects = gc.isenabled()
                gc.disable()
            self._pauses += 1

    def go_on(self) -> None:
        """End one pause."""
        with self._lock:
            self._pauses -= 1
            if not self._pauses and self._collects:
                gc.enable()


garbage: Final = _Collections()


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage during the block, in which another thread is waited for.

    A finalizer in that thread might wait for a lock of the waiting one. That thread could not
    prevent it: what it allocates first may bring about a collection.
    """
    garbage.pause()
    try:
        yield
    finally:
        garbage.go_on()


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
    _before.append(sys.getswitchinterval())
    sys.setswitchinterval(min(_before[-1], SWITCH_SECONDS))
    garbage.pause()


def _end() -> None:
    sys.setswitchinterval(_before.pop())
    garbage.go_on()
