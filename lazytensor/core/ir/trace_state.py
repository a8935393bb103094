"""What one thread has recorded and not yet computed."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, Protocol
from weakref import WeakSet, ref

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node
    from lazytensor.core.ir.source_location import Loop, Place


serials: Final = itertools.count()
"""Orders nodes by when they were recorded; `next` on it is atomic."""


def nodes_made() -> int:
    """How many nodes there have been."""
    # `itertools.count` shows its next value only in its repr; a counter of ours would be slower.
    return int(repr(serials)[len("count(") : -1])


class Pending(Protocol):
    """What a cut computes: a cell, or anything else that holds a pending node."""

    node: Node


def _no_cut() -> None:
    """Nothing cuts by itself until there is a policy."""


class Recorder:
    """The live pending cells, how much work is pending, where the last cut was made.

    `work` counts elements (see `types.NODE_WORK`); `fuses` says whether all that is pending is
    elementwise and no data has come in since the last cut. `serial` is the number of nodes that
    there were at the last cut, `stride` the work between the last two automatic ones. `loop` is
    where the last automatic cut was made, `loops` when each head was last seen (in nodes),
    `previous` the point of the user's program at the last record looked at, `repeats` how often in
    a row it was met; `passed` is where the program was when more than enough was pending last.
    `refused` are the pending nodes of a cut that failed: who asks for one sees it fail again.
    `asked` is the number of nodes when a value was last asked for, `span` how many there were
    between the last two times, `steady` the same where it was so twice. `busy` is in how many cuts,
    each within the last, the thread is. `tracing` says that what is recorded is the body of a
    composite. `several`: whether there was more than one thread. `overflow` is called before a cell
    takes a node while more than `ELEMENTS_BOUND` work is pending (see `trace/automatic_cut.py`).
    """

    __slots__ = (
        "asked", "busy", "cells", "fuses", "loop", "loops", "passed", "previous", "refused",
        "repeats", "rounds", "serial", "span", "steady", "stride", "tracing", "work",
    )  # fmt: skip
    several: ClassVar[bool] = False
    overflow: ClassVar[Callable[..., None]] = staticmethod(_no_cut)

    def __init__(self) -> None:
        self.cells: list[ref[Pending]] = []
        self.work = 0
        self.fuses = True
        self.serial = self.asked = nodes_made()
        self.span = 0
        self.steady = 0
        self.stride = 0
        self.rounds = 0
        self.repeats = 0
        self.loop: Loop | None = None
        self.loops: dict[Loop, int] = {}
        self.passed: Place | None = None
        self.previous: tuple[Place, ...] = ()
        self.busy = 0
        self.tracing = False
        self.refused: WeakSet[Node] | None = None


_recorders: Final = itertools.count()


class _Thread(threading.local):
    # One attribute only: looking one up here takes four times as long as in an object.
    def __init__(self) -> None:
        Recorder.several = next(_recorders) > 0
        self.recorder = Recorder()


thread: Final = _Thread()
"""`thread.recorder` is the calling thread's."""
