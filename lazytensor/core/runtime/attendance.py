"""Runs that are waited for where they are started: the host runs a part of them, or the user wants
to know what each takes, or others on a mesh are under way."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from lazytensor.core.device import interrupts
from lazytensor.core.device.backend import Executable, backend
from lazytensor.core.runtime import locking
from lazytensor.core.settings import settings

RUNS_UNDER_WAY: Final = 4
"""Runs on meshes that may be under way when another one is started. A run blocks a thread
of XLA:CPU for each device. With too few threads, runs block each other (jaxlib 0.10)."""
_under_way: Final[deque[Any]] = deque()
"""A result of each of the last runs on meshes, the smallest."""


def wait(executable: Executable, values: Sequence[Any]) -> None:
    """Return when a run has its results, if it is one that is waited for."""
    if executable.shardings:
        _wait_for_another(values[executable.smallest])
    if settings.wait or executable.calls_back:
        with locking.outside():
            for value in values:
                backend().wait(value)
        interrupts.raise_deferred()


def wait_for_all() -> None:
    """Return when no run on a mesh is under way."""
    while _under_way:
        result = _under_way.popleft()
        if not result.is_deleted():
            backend().wait(result)


def _wait_for_another(result: Any) -> None:
    """Note a run, and wait for the one that was started a few runs before it.

    A result that a later run overwrites is not waited for: that run is, and has not begun yet.
    """
    _under_way.append(result)
    while len(_under_way) > RUNS_UNDER_WAY:
        oldest = _under_way.popleft()
        if not oldest.is_deleted():
            with locking.outside():
                backend().wait(oldest)
