"""The bound below which arrays of host data stay NumPy's own, as the calling thread has it.

Three things make it, and none changes another:
- The user's setting is what was assigned to `settings.small`. It holds for every thread.
- A thread's account of profit and loss (`profitability.py`) raises the bound for that thread, from
  the setting that it found. The user's next assignment ends that.
- A tracer makes everything lazy, in its thread, as long as its call takes.

`settings.small` reads as the calling thread's bound. Where no thread has one of its own, that is a
plain attribute: calls that NumPy answers in a fraction of a microsecond read it. While one has, the
settings are of a class that looks the thread's own up.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import ClassVar, Final

from lazytensor.core.settings import Settings, settings

differing: Final[set[int]] = set()
"""Threads that have a bound of their own. One that has ended may be left here: then the others look
theirs up, and find none."""


class _Own(threading.local):
    traces: int = 0
    raised: int = 0
    since: int = 0


_own: Final = _Own()
"""The calling thread's: calls of tracers under way, the raised bound (0: none), and the number of
assignments to the setting when it was raised."""


def setting() -> int:
    """What the user has set."""
    found: int = vars(settings)["small"]
    return found


class _ByThread(Settings):
    """Settings while a thread has a bound of its own. `assignments` counts those to `small`."""

    assignments: ClassVar[int] = 0

    @property
    def small(self) -> int:
        if _own.traces:
            return 0
        return _own.raised if is_raised() else setting()

    @small.setter
    def small(self, elements: int) -> None:
        vars(self)["small"] = elements
        _ByThread.assignments += 1


def is_raised() -> bool:
    """Whether arrays that are lazy by the user's setting count as small in this thread."""
    return _own.raised > 0 and not _own.traces and _own.since == _ByThread.assignments


def raise_to(elements: int) -> None:
    """Raise this thread's bound, until the user assigns a setting or `put_back` is called."""
    _own.raised, _own.since = elements, _ByThread.assignments
    _note()


def put_back() -> None:
    """Let this thread's bound be the user's setting again."""
    _own.raised = 0
    _note()


@contextmanager
def everything_lazy() -> Iterator[None]:
    """Make arrays of this thread lazy however small they are."""
    _own.traces += 1
    _note()
    try:
        yield
    finally:
        _own.traces -= 1
        _note()


_noting: Final = threading.Lock()


def _note() -> None:
    """Keep `differing`, and the settings' class, as this thread's bound has become."""
    with _noting:
        if _own.traces or _own.raised:
            differing.add(get_ident())
        else:
            differing.discard(get_ident())
        settings.__class__ = _ByThread if differing else Settings
