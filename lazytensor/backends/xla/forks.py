"""Forks of a process with XLA, whose threads a child lacks (see `core/runtime/fork.py`)."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from lazytensor.core.runtime import fork


def watch_forks(live: Callable[[], Iterable[Any]], pools: tuple[Any, ...]) -> None:
    """Announce XLA's threads to the fork handlers.

    `live` returns the live arrays. Freeing one of `pools` waits for its threads to end.
    """

    def finish() -> None:
        for array in live():
            with suppress(RuntimeError):  # it failed or was deleted, so nothing is running
                array.block_until_ready()

    def forget() -> None:
        for pool in pools:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))  # it is never freed

    fork.announce(fork.Threads(finish, forget))


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
