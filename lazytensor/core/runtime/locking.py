"""Threads take turns to cut, and do at the same time what takes long.

A thread that cuts holds `lock`. It lets go of the lock while NumPy computes, XLA compiles, or
results are waited for (`outside`), if there are other threads. Invariants:

- Nodes that a thread computes outside are `_under_way`. That thread settles them or gives them up,
  with the lock held. A thread that needs one of them waits (`wait`), and looks again.
- A program may take the memory of its leaves. No other thread finds these leaves: every node that
  leads to them, and that anything but the graph refers to, is under way.
- A thread that waits holds nothing but the lock, once. So no thread waits for one that waits.
- A Ctrl-C may come anywhere, also between the end of a block and the next line. So a thread that
  took the lock calls `resume` after any failure, which restores the lock's state.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Final

from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.trace_state import ThreadCount

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node

lock: Final = threading.RLock()
working: Final = threading.Lock()
"""Held while a program is compiled in the background."""
OUTSIDE_ELEMENTS: Final = 2**14
"""Elements of the largest array of a program from which NumPy computes it outside: about 10 µs."""
_ended: Final = threading.Condition(lock)
_under_way: Final[dict[int, frozenset[Node]]] = {}
"""By thread: what it computes outside."""
_closing: Final[set[int]] = set()
"""Threads that wait until nobody computes anything: as long as there are, nobody begins to."""


class Elsewhere(Exception):
    """The run has to wait for another thread. It is raised before anything has changed."""


def outside(
    nodes: Iterable[Node] = (), size: int = OUTSIDE_ELEMENTS
) -> AbstractContextManager[None]:
    """Let other threads cut during the block, which computes what `nodes` will be settled with.

    Not if that is short, as are programs whose largest array has less than `OUTSIDE_ELEMENTS`
    elements. Not in a cut within a cut either, as finalizers make them: the outer one is half done.
    """
    if size < OUTSIDE_ELEMENTS or not ThreadCount.several or _closing or thread.recorder.busy > 1:
        return _locked
    return _outside(nodes)


class _Locked:
    """A block in which no other thread cuts: `nullcontext`, compiled, as each small run has one."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_locked: Final = _Locked()


@contextmanager
def _outside(nodes: Iterable[Node]) -> Iterator[None]:
    _under_way[get_ident()] = frozenset(nodes)
    lock.release()
    try:
        yield
    finally:
        resume()


def resume() -> None:
    """Hold the lock again, and wake the threads that wait for this thread's nodes."""
    if thread.recorder.busy > 1:  # what the outer cut let go is its own business
        return
    while not is_held():
        lock.acquire()
    _under_way.pop(get_ident(), None)
    _ended.notify_all()  # a Ctrl-C may have come since they ought to have been


def is_held() -> bool:
    """Whether this thread has the lock."""
    try:
        _ended.notify(0)
    except RuntimeError:  # which says that it has not
        return False
    return True


def are_elsewhere(nodes: Iterable[Node]) -> bool:
    """Whether another thread computes one of these."""
    if not _under_way:
        return False
    mine = get_ident()
    return any(not theirs.isdisjoint(nodes) for by, theirs in _under_way.items() if by != mine)


def wait() -> None:
    """Wait until a thread has ended what it did outside. The lock is let go meanwhile."""
    _ended.wait()


def forget_others() -> None:
    """No other thread computes anything: in a forked process there are none."""
    for by in _under_way.keys() - {get_ident()}:
        del _under_way[by]


def wait_for_all() -> None:
    """Wait until no other thread computes anything."""
    mine = get_ident()
    _closing.add(mine)
    try:
        while not _under_way.keys() <= {mine}:
            wait()
    finally:
        _closing.discard(mine)
