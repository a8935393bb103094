"""Runs that are waited for where they are started: the host runs a part of them, or the user wants
to know what each takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lazytensor.core.device import interrupts
from lazytensor.core.device.backend import Executable, backend
from lazytensor.core.runtime import locking
from lazytensor.core.settings import settings


def wait(executable: Executable, values: Iterable[Any]) -> None:
    """Return when a run has its results, if it is one that is waited for."""
    if settings.wait or executable.calls_back:
        with locking.outside():
            for value in values:
                backend().wait(value)
        interrupts.raise_deferred()
