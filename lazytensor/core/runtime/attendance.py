"""Runs that are waited for where they are started: the host runs a part of them, or the user wants
to know what each takes, or many on a mesh are under way."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any, Final

from lazytensor.core.device import interrupts
from lazytensor.core.device.backend import Executable, backend
from lazytensor.core.runtime import locking
from lazytensor.core.settings import settings

RUNS_UNDER_WAY: Final = 16
"""Runs on meshes after which one is waited for. With twice as many under way the collectives of
XLA:CPU wait for one another for ever (jaxlib 0.10)."""
_on_meshes: Final = count(1)


def wait(executable: Executable, values: Iterable[Any]) -> None:
    """Return when a run has its results, if it is one that is waited for."""
    is_due = bool(executable.shardings) and next(_on_meshes) % RUNS_UNDER_WAY == 0
    if is_due or settings.wait or executable.calls_back:
        with locking.outside():
            for value in values:
                backend().wait(value)
        interrupts.raise_deferred()
