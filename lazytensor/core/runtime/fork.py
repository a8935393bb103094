"""Processes made by `os.fork`, as `multiprocessing` makes them: arrays live on there, XLA does not.

A child has its parent's memory, and only the thread that forked. A wait for another thread never
ends there: for a lock that it held, or for a program that a backend's threads were running. So

- a fork waits until no other thread cuts, computes, writes or looks for a program, nothing is
  compiled in the background, and no program is under way;
- the child of a process whose backend has threads starts no program and compiles none: what its
  parent has computed lies in its memory, and what it records is interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from lazytensor.core.buffers.cell import writing
from lazytensor.core.device import gil
from lazytensor.core.runtime.locking import forget_others, lock, wait_for_all, working
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.settings import settings


class Threads(NamedTuple):
    """What a backend that has threads does at a fork."""

    finish: Callable[[], None]
    """Returns when no program is under way. Before the fork."""
    forget: Callable[[], None]
    """Sees to it that nothing will wait for them. In the child."""


LOCKS: Final[tuple[Any, ...]] = (working, lock, writing, cache.lock)
"""In the order in which they are taken elsewhere."""
before: Final[list[Callable[[], None]]] = []
"""Called before a fork, with the lock held."""
in_child: Final[list[Callable[[], None]]] = []
"""Called in a child."""
_threads: Final[list[Threads]] = []
_taken: Final[list[Any]] = []


def announce(threads: Threads) -> None:
    """A backend has threads from now on."""
    _threads.append(threads)
    watch()


def _before() -> None:
    if _taken:  # it was asked to watch twice
        return
    with gil.without_rest():
        for each in LOCKS:
            each.acquire()
            _taken.append(each)
            if each is lock:
                wait_for_all()
                for call in before:
                    call()
    for threads in _threads:
        threads.finish()


def _after() -> None:
    while _taken:
        _taken.pop().release()


def _in_child() -> None:
    forget_others()  # a Ctrl-C may have ended the wait for them
    _after()
    for call in in_child:
        call()
    for threads in _threads:
        threads.forget()
        settings.tier = "interpret"


def watch() -> None:
    """From now on, be told of forks.

    The last watcher is told first. This order is needed: `logging`, which backends import, takes
    its lock before a fork, and a thread that is waited for here may be waiting for that lock.
    """
    if hasattr(os, "register_at_fork"):  # else there are none
        os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
