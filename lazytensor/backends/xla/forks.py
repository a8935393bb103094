"""Forks of a process with XLA, whose threads a child lacks (see `core/runtime/fork.py`)."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import numpy as np

from lazytensor.core.device.host_memory import in_words
from lazytensor.core.errors import Unsupported
from lazytensor.core.runtime import fork

FETCHED_BYTES: Final = 2**28
"""Bytes that a fork moves from the device's memory to the host's at most."""


def _nbytes(array: Any) -> int:
    return int(array.on_device_size_in_bytes())


class Fetched:
    """Values on a device that the child of a fork can read, as they were moved to the host before.

    `is_child`: whether this process is one. It has no device.
    """

    def __init__(self) -> None:
        self.is_child = False
        self._values: dict[int, np.ndarray] = {}  # the arrays live, so that an id names one

    def fetch(self, arrays: Iterable[Any], copied: Callable[[Any], np.ndarray]) -> None:
        """Copy the smallest arrays, as many as `FETCHED_BYTES` hold."""
        room = FETCHED_BYTES
        for array in sorted(arrays, key=_nbytes):
            room -= _nbytes(array)
            if room < 0:
                return
            with suppress(RuntimeError):  # it failed or was deleted
                self._values[id(array)] = copied(array)

    def drop(self) -> None:
        """Forget the copies: the parent has the device."""
        self._values.clear()

    def value(self, array: Any) -> np.ndarray:
        """The value of an array. Raises: Unsupported if it is on the device alone."""
        if id(array) in self._values:
            return self._values[id(array)]
        most = in_words(FETCHED_BYTES)
        text = f"a process made by os.fork cannot read the {in_words(_nbytes(array))} of an array"
        cure = "observe it before the fork, or start the process by 'spawn'"
        raise Unsupported(f"{text} on the device: a fork moves {most} at most; {cure}")


fetched: Final = Fetched()


def watch_forks(
    live: Callable[[], Iterable[Any]],
    pools: tuple[Any, ...],
    copied: Callable[[Any], np.ndarray] | None = None,
) -> None:
    """Announce XLA's threads to the fork handlers.

    `live` returns the live arrays. Freeing one of `pools` waits for its threads to end. `copied`
    returns an array's copy in the host's memory, where its own is another.
    """

    def finish() -> None:
        for array in live():
            with suppress(RuntimeError):  # it failed or was deleted, so nothing is running
                array.block_until_ready()
        if copied is not None:
            fetched.fetch(live(), copied)

    def forget() -> None:
        fetched.is_child = fetched.is_child or copied is not None
        for pool in pools:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))  # it is never freed

    fork.announce(fork.Threads(finish, forget))
    if copied is not None and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=fetched.drop)


def hide_jax_warning() -> None:
    """Hide jax's warning of a deadlock: it does not concern users without jax code of their own."""
    if not hasattr(os, "register_at_fork"):
        return
    hidden: list[warnings.catch_warnings[None]] = []

    def hide() -> None:
        hidden.append(warnings.catch_warnings())
        hidden[-1].__enter__()
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)

    def show() -> None:
        hidden.pop().__exit__(None, None, None)

    # Registered after jax's handler: before a fork, handlers run in reverse order.
    os.register_at_fork(before=hide, after_in_parent=show, after_in_child=show)
