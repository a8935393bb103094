"""The calling thread's bound below which arrays of host data stay NumPy's own.

Three things determine it, and none changes another:
- The user's setting is what was assigned to `settings.small`. It holds for every thread.
- A thread's account of profit and loss (`profitability.py`) raises the bound for that thread. The
  user's next assignment ends that.
- A tracer makes everything lazy in its thread while its call lasts.

`settings.small` reads as the calling thread's bound. While no thread has a bound of its own, it is
a plain attribute, as calls that take a fraction of a microsecond read it. While one has, the
settings have a class that looks up the thread's own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import ClassVar, Final

from lazytensor.core.settings import Settings, settings

differing: Final[set[int]] = set()
"""Threads that have a bound of their own. A thread that has ended may stay here until the user
assigns a setting: the others then look up theirs and find none."""
_tracing: Final[set[int]] = set()
"""Threads with a tracer's call under way."""
_noting: Final = threading.Lock()


class _Own(threading.local):
    traces: int = 0
    raised: int = 0
    since: int = 0


_own: Final = _Own()
"""The calling thread's tracer calls under way, its raised bound (0: none), and the number of
assignments to the setting when the bound was raised."""


def setting() -> int:
    """The user's setting."""
    found: int = vars(settings)["small"]
    return found


class _ByThread(Settings):
    """Settings while a thread has a bound of its own. `assignments`: how often `small` was set."""

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
        with _noting:  # no bound is raised any longer, in threads that have ended either
            differing.intersection_update(_tracing)
            _choose_class()


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


def _note() -> None:
    """Update `differing` and the settings' class to this thread's bound."""
    me = get_ident()
    with _noting:
        (_tracing.add if _own.traces else _tracing.discard)(me)
        (differing.add if _own.traces or is_raised() else differing.discard)(me)
        _choose_class()


def _choose_class() -> None:
    settings.__class__ = _ByThread if differing else Settings
