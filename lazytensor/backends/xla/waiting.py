"""Waiting for results; where other processes take part in making them, the wait is watched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from math import inf
from time import perf_counter
from typing import Any, Final, TypeVar

from jaxlib import _jax

from lazytensor.core.device.backend import in_thread
from lazytensor.core.device.processes import Watch

T = TypeVar("T")
LOOKING: Final = 200e-6
"""Seconds for which a thread polls for a result before it sleeps."""
LONGEST_SLEEP: Final = 1e-3
"""Seconds between two looks at a result of several processes."""
SLEEP_SHARE: Final = 0.03
"""How long a look may come too late, as a share of the wait until then."""
WATCHES_APART: Final = 0.25
"""Seconds after which the watch is asked again."""
watches: Final[list[Watch]] = []
"""What watches the waits, if this process is one of several that compute together."""
_give_way: Final[Callable[[], object]] = getattr(os, "sched_yield", lambda: time.sleep(0))


def wait(buffer: Any) -> None:
    """Return when the buffer is there. Raises: ExecutionError or ProcessError if it failed."""
    _look_out_for(buffer)
    for watch in watches:
        _watched(buffer, watch)
        return
    buffer.block_until_ready()


def _look_out_for(buffer: Any) -> None:
    """Poll for a while before sleeping: waking up takes as long as many programs run.

    The thread yields the processor to XLA's threads before each poll.
    """
    ready = buffer.is_ready
    if buffer.is_deleted() or ready():  # in this order: `is_ready` of a deleted buffer crashes
        return
    end = perf_counter() + LOOKING
    while not ready() and perf_counter() < end:
        _give_way()


def watched_call(function: Callable[[], T], most: float = inf) -> T:
    """`function()`, in a thread of its own, so that the wait for it can be watched, too.

    Raises: TimeoutError after `most` seconds. The thread goes on.
    """
    done, start = in_thread(function), perf_counter()
    while True:
        try:
            return done.result(WATCHES_APART)
        except TimeoutError:
            waited = perf_counter() - start
            if waited > most:
                raise
            for watch in watches:
                watch.waiting(waited)
        except _jax.JaxRuntimeError as error:
            for watch in watches:
                raise watch.failed(error) from error
            raise


def _watched(buffer: Any, watch: Watch) -> None:
    """Wait by looking. XLA itself does not stop to wait for a process that never comes."""
    start = asked = perf_counter()
    while not buffer.is_deleted() and not buffer.is_ready():
        now = perf_counter()
        if now - asked > WATCHES_APART:
            asked = now
            watch.waiting(now - start)
        time.sleep(min(LONGEST_SLEEP, SLEEP_SHARE * (now - start)))
    try:
        buffer.block_until_ready()
    except _jax.JaxRuntimeError as error:
        raise watch.failed(error) from error
