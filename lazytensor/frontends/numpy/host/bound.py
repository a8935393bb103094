"""The calling thread's bound below which arrays of host data stay NumPy's own.

Three things determine it, and none changes another:
- The user's setting is what was assigned to `settings.small`. It holds for every thread.
- A thread's account of profit and loss (`profitability.py`) raises the bound for that thread and
  for some seconds. The user's next assignment ends that.
- A tracer makes everything lazy in its thread while its call lasts.

`settings.small` reads as the calling thread's bound. While no thread has a bound of its own, it is
a plain attribute, as calls that take a fraction of a microsecond read it. While one has, the
settings have a class that looks up the thread's own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import get_ident
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final

from lazytensor.core.settings import Settings, settings

if TYPE_CHECKING:
    from lazytensor.core.runtime.background import Job

differing: Final[set[int]] = set()
"""Threads that have a bound of their own. A thread that has ended may stay here until the user
assigns a setting: the others then look up theirs and find none."""
_tracing: Final[set[int]] = set()
"""Threads with a tracer's call under way."""
_noting: Final = threading.RLock()
_assignments: Final = [0]
"""How often `settings.small` was set while a thread had a bound of its own."""


class _Bound:
    """A thread's bound.

    `traces`: its tracer calls under way. `raised`: its raised bound, 0 for none. `since`: the
    number of assignments to the setting when it was raised. It is raised until `until`, and until
    the process has worked until `worked`: a process that mostly waits would spend most of its work
    on trials. `job`: the compile whose end ends that earlier, if there is one.
    """

    __slots__ = ("job", "raised", "since", "traces", "until", "worked")

    def __init__(self) -> None:
        self.job: Job | None = None
        self.traces = self.raised = self.since = 0
        self.until = self.worked = 0.0


class _Bounds(threading.local):
    def __init__(self) -> None:
        self.own = _Bound()


_bounds: Final = _Bounds()


def _own() -> _Bound:
    """The calling thread's."""
    return _bounds.own


def setting() -> int:
    """The user's setting."""
    found: int = vars(settings)["small"]
    return found


class _ByThread(Settings):
    """Settings while a thread has a bound of its own."""

    @property
    def small(self) -> int:
        own = _own()
        if own.traces:
            return 0
        return own.raised if _holds(own) and not _is_over(own) else setting()

    @small.setter
    def small(self, elements: int) -> None:
        vars(self)["small"] = elements
        _assignments[0] += 1
        with _noting:  # no bound is raised any longer, in threads that have ended either
            differing.intersection_update(_tracing)
            _choose_class()


def is_raised() -> bool:
    """Whether arrays that are lazy by the user's setting count as small in this thread."""
    own = _own()
    return not own.traces and _holds(own)


def _holds(own: _Bound) -> bool:
    """Whether a bound is raised, and nothing was assigned to the setting since."""
    return own.raised > 0 and own.since == _assignments[0]


def raise_to(elements: int, seconds: float = inf, job: Job | None = None) -> None:
    """Raise this thread's bound for some seconds of work, or until a compile ends.

    The user's next assignment and `put_back` end that, too.
    """
    own = _own()
    own.job = job
    own.raised, own.since = elements, _assignments[0]
    own.until, own.worked = perf_counter() + seconds, process_time() + seconds
    _note()


def _is_over(own: _Bound) -> bool:
    """Whether the calling thread's bound was raised for long enough. It is put back then."""
    if own.job is not None and own.job.how:
        put_back()
        return True
    if perf_counter() < own.until:
        return False
    left = own.worked - process_time()
    if left > 0:
        own.until = perf_counter() + left
        return False
    put_back()
    return True


def put_back() -> None:
    """Let this thread's bound be the user's setting again."""
    own = _own()
    own.raised, own.job = 0, None
    _note()


@contextmanager
def everything_lazy() -> Iterator[None]:
    """Make arrays of this thread lazy however small they are."""
    _count_trace(1)
    try:
        yield
    finally:
        _count_trace(-1)


def _count_trace(step: int) -> None:
    own = _own()
    own.traces += step
    _note()


def _note() -> None:
    """Update `differing` and the settings' class to this thread's bound."""
    me, traces = get_ident(), _own().traces
    with _noting:
        (_tracing.add if traces else _tracing.discard)(me)
        (differing.add if traces or is_raised() else differing.discard)(me)
        _choose_class()


def _choose_class() -> None:
    settings.__class__ = _ByThread if differing else Settings
