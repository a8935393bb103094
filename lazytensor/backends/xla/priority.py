"""Threads that run where the user's threads leave a processor: Linux has a class of such threads.

They are lowered from outside, and hold no GIL: a low thread that had it would keep all others.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

TASKS: Final = Path("/proc/self/task")
PRESSURE: Final = Path("/proc/pressure/cpu")
NAME: Final = "lazytensor-xla"
"""The name of these threads: a thread begins with the name of the one that starts it."""
NICENESS: Final = 10
"""Their niceness on a busy machine, where a thread of the idle class might never run: a process
that ends waits for what is under way."""
BUSY_PERCENT: Final = 20.0
"""Share of the last seconds in which threads waited for a processor, from which it is busy."""


@contextmanager
def lowering() -> Iterator[None]:
    """Lower all threads that this thread starts in the block, and those that they start later."""
    mine = TASKS / str(threading.get_native_id()) / "comm"
    try:
        before = mine.read_text()
        mine.write_text(NAME)
    except OSError:  # this is no Linux
        yield
        return
    try:
        yield
    finally:
        mine.write_text(before.rstrip("\n"))
        is_busy = _is_busy()
        for task in TASKS.iterdir():
            with suppress(OSError):  # it has ended, or that is forbidden
                if (task / "comm").read_text().rstrip("\n") == NAME:
                    _lower(int(task.name), is_busy)


def _lower(thread: int, is_busy: bool) -> None:
    if is_busy:
        os.setpriority(os.PRIO_PROCESS, thread, NICENESS)
    else:
        os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))


def _is_busy() -> bool:
    """Whether threads of this machine wait for processors; also where the kernel does not say."""
    try:
        said = PRESSURE.read_text().split("avg10=")[1].split()[0]
    except (OSError, IndexError):
        return True
    return float(said) > BUSY_PERCENT
