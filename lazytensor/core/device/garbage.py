"""Pauses of Python's collection of garbage. Threads may pause it at the same time."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final


class _Pauses:
    """Those under way, and whether garbage was collected before them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._collects = False

    def begin(self) -> None:
        """Begin one."""
        with self._lock:
            if not self._count:
                self._collects = gc.isenabled()
                gc.disable()
            self._count += 1

    def end(self) -> None:
        """End one."""
        with self._lock:
            self._count -= 1
            if not self._count and self._collects:
                gc.enable()


_pauses: Final = _Pauses()


def pause() -> None:
    """Collect no garbage until `go_on` was called as often."""
    _pauses.begin()


def go_on() -> None:
    """End one pause."""
    _pauses.end()


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage during the block."""
    pause()
    try:
        yield
    finally:
        go_on()


@contextmanager
def importing() -> Iterator[None]:
    """The same for a block that imports: what imports make stays, and is not visited later."""
    with uncollected():
        yield
        promote()


def promote() -> None:
    """Count all objects as old ones, which the next collections need not visit.

    Modules were imported. Their objects would bring a visit to all of the process. Nothing is done
    where the user has frozen objects, which are to stay so.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()
