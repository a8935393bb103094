"""Threads take turns to cut; what takes long they do at the same time.

Who cuts holds `lock`. Where NumPy computes, XLA compiles, or results are waited for, it is let go
for so long (`outside`), if there are other threads. Invariants:

- What a thread computes outside is `_under_way`: it is settled, or given up, by that thread, with
  the lock held. Who needs some of it waits for that (`wait`), and looks again.
- So nobody else finds the leaves under it, whose memory it may take: what leads to them is under
  way, as everything is that somebody else than its own graph refers to.
- Who waits holds nothing but the lock, once: so nobody waits for one who waits.
- A Ctrl-C may come anywhere, between the end of a block and what is to follow it too. So who took
  the lock calls `resume` after whatever has failed, which puts right what was left.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import get_ident
from typing import TYPE_CHECKING, Final

from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.trace_state import ThreadCount

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node

lock: Final = threading.RLock()
OUTSIDE_ELEMENTS: Final = 2**14
"""Elements of the largest array of a program from which NumPy computes it outside: about 10 µs."""
_ended: Final = threading.Condition(lock)
_under_way: Final[dict[int, frozenset[Node]]] = {}
"""By thread: what it computes outside."""
_closing: Final[set[int]] = set()
"""Threads that wait until nobody computes anything: as long as there are, nobody begins to."""


class Elsewhere(Exception):
    """What is to be run has to wait for another thread. Raised by who has changed nothing yet."""


def outside(
    nodes: Iterable[Node] = (), size: int = OUTSIDE_ELEMENTS
) -> AbstractContextManager[None]:
    """Let other threads cut during the block, which computes what `nodes` will be settled with.

    Not if that is short, as are programs whose largest array has less than `OUTSIDE_ELEMENTS`
    elements. Not in a cut within a cut either, as finalizers make them: the outer one is half done.
    """
    if size < OUTSIDE_ELEMENTS or not ThreadCount.several or _closing or thread.recorder.busy > 1:
        return _inside
    return _outside(nodes)


_inside: Final = nullcontext()


@contextmanager
def _outside(nodes: Iterable[Node]) -> Iterator[None]:
    _under_way[get_ident()] = frozenset(nodes)
    lock.release()
    try:
        yield
    finally:
        resume()


def resume() -> None:
    """Hold the lock again, and let those go on who wait for what this thread has computed."""
    if thread.recorder.busy > 1:  # what the outer cut let go is its own business
        return
    while not _is_held():
        lock.acquire()
    _under_way.pop(get_ident(), None)
    _ended.notify_all()  # a Ctrl-C may have come since they ought to have been


def _is_held() -> bool:
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
