"""What one thread has recorded and not yet computed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

from lazytensor.core.ir.pending import PendingCells
from lazytensor.core.ir.recording import PendingWork, Place, complete, here, nodes_made
from lazytensor.core.policy import ELEMENTS_BOUND

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node
    from lazytensor.core.ir.source_location import Loop


policies: Final[list[Callable[[], None]]] = []
"""What may cut when more than `ELEMENTS_BOUND` work is pending (see `trace/automatic_cut.py`)."""


def with_room() -> Recorder:
    """The calling thread's recorder. If too much is pending, the policies were asked to cut.

    It is called before a node is anybody's, so that the node is the next graph's.
    """
    recorder = here()
    if recorder.work > recorder.bound:
        for policy in policies:
            policy()
    return recorder


class Recorder(PendingWork):
    """The live pending cells, how much work is pending, where the last cut was made.

    Nodes are counted by their serial numbers.

    work: pending elements (see `policy.NODE_WORK`). More than `bound` of it asks for a cut.
    fuses: all that is pending is elementwise, and no data has come in since the last cut.
    serial: number of nodes at the last cut.
    stride: work between the last two automatic cuts.
    loop: where the last automatic cut was made.
    looks: records left that are all looked at; `bound` is 0 meanwhile, and `usual` what it was.
    loops: number of nodes when each loop's head was last seen.
    previous: point of the user's program at the last record that was looked at.
    repeats: how often in a row that point was met.
    passed: where the program was when the work last exceeded its bound.
    watched: `serial`, if all that is recorded has been looked at since the work exceeded its bound.
    refused: pending nodes of a cut that failed. A request for one of them fails again.
    asked: number of nodes when a value was last requested.
    span: number of nodes between the last two requests.
    steady: `span`, if it was the same twice in a row.
    busy: depth of nested cuts.
    tracing: what is recorded is the body of a composite.
    """

    __slots__ = (
        "asked", "busy", "cells", "looks", "loop", "loops", "passed", "previous", "refused",
        "repeats", "rounds", "serial", "span", "steady", "stride", "tracing", "usual", "watched",
    )  # fmt: skip

    def __init__(self) -> None:
        self.cells = PendingCells()
        self.bound = ELEMENTS_BOUND
        self.work = 0
        self.fuses = True
        self.serial = self.asked = nodes_made()
        self.span = 0
        self.steady = 0
        self.stride = 0
        self.watched = -1
        self.usual = self.bound
        self.looks = 0
        self.rounds = 0
        self.repeats = 0
        self.loop: Loop | None = None
        self.loops: dict[Loop, int] = {}
        self.passed: Place | None = None
        self.previous: tuple[Place, ...] = ()
        self.busy = 0
        self.tracing = False
        self.refused: WeakSet[Node] | None = None


class ThreadCount:
    """`several` says whether more than one thread has recorded."""

    several = False


_threads: Final = itertools.count()


def _recorder() -> Recorder:
    ThreadCount.several = next(_threads) > 0
    return Recorder()


complete(recorder=_recorder)
