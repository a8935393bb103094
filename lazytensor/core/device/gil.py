"""How a thread that computes in Python beside the user's threads shares the GIL with them.

They give it up at each kernel and wait for it after, for as long as the switch interval. So this
thread asks for it for a part of the time only: it rests between two modules that it imports, and
two operations that it lowers, unless somebody waits for it. And a collection of garbage that its
objects bring about visits all objects of the process, with the GIL held.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

from lazytensor.core.device import garbage

T = TypeVar("T")
SWITCH_SECONDS: Final = 3e-5
"""Seconds that another thread waits for the GIL while this one has it."""
WORK_SECONDS: Final = 1e-3
"""Seconds of work after which a thread rests."""
REST_PER_WORK: Final = 2.0
"""Seconds of rest for each second of work."""
LONGEST_REST: Final = 0.01
"""Seconds of a rest, at most: after work in one piece, as measuring is, and waiting for XLA."""
_before: Final[list[float]] = []
"""The switch interval before each `yielding`."""


class _Pace(threading.local):
    """Since when this thread has worked without a rest; 0 of a thread that never rests."""

    since = 0.0


_pace: Final = _Pace()
_impatient: Final[list[object]] = []
"""Who waits for the work of a thread that rests."""


def rest() -> None:
    """Leave the GIL to other threads for a while, in one that works beside them."""
    if _pace.since:
        worked = time.perf_counter() - _pace.since
        if worked > WORK_SECONDS:
            if not _impatient:
                time.sleep(min(REST_PER_WORK * worked, LONGEST_REST))
            _pace.since = time.perf_counter()


@contextmanager
def without_rest() -> Iterator[None]:
    """Let no thread rest during the block, which waits for one."""
    _impatient.append(None)
    try:
        yield
    finally:
        _impatient.pop()


def resting_alike(function: Callable[[], T]) -> Callable[[], T]:
    """`function`, for another thread, which rests if the calling one does."""
    rests = bool(_pace.since)

    def run() -> T:
        _pace.since = time.perf_counter() if rests else 0.0
        return function()

    return run


class _RestingFinder:
    """Finds no module: its thread rests, before others find it. Asked first, once installed.

    It is never removed. Another thread may be asking the finders in turn, and would miss one.
    """

    @staticmethod
    def find_spec(*_: object) -> None:
        rest()


@contextmanager
def yielding() -> Iterator[None]:
    """Give up the GIL soon during the block, rest at times, and collect no garbage.

    One thread at a time.
    """
    _begin()
    _pace.since = time.perf_counter()
    if _RestingFinder not in sys.meta_path:
        sys.meta_path.insert(0, _RestingFinder)
    try:
        yield
    finally:
        _pace.since = 0.0
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
