"""What is run: a cut that somebody has requested, with all that belongs to this one run of it."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Cut, Program
from lazytensor.core.passes.specialize import Packed
from lazytensor.core.runtime.program_cache import Entry


class Request:
    """Why and how nodes are to be computed.

    `cause`: what asked for them, in words. `largest`: nodes of the largest program to make, 0 for
    the usual bound. `once`: compiling does not pay, whatever interpreting costs. `compiles`: the
    user waits for an executable. `runs`: a list that gets each run. `defers`: nobody waits for
    values.
    """

    __slots__ = ("cause", "compiles", "defers", "largest", "once", "runs")

    def __init__(
        self,
        cause: str,
        largest: int = 0,
        once: bool = False,
        compiles: bool = False,
        runs: list[Run] | None = None,
        defers: bool = False,
    ) -> None:
        self.cause = cause
        self.largest = largest
        self.once = once
        self.compiles = compiles
        self.runs = runs
        self.defers = defers


class Run(NamedTuple):
    """One cut to be run. `outputs` are the nodes of the program's outputs, in order.

    `recorded`: the program that was recorded, if a variant of it is run. `exact`: the run as it was
    recorded, if this is of a program with room for other sizes. `started`: when the cut began.
    `defers`: the nodes may be settled later, as nobody waits and nothing is left to compute.
    """

    entry: Entry
    found: Cut
    outputs: list[Node]
    packed: Packed
    owned: list[bool]
    request: Request
    started: float
    recorded: Program | None = None
    exact: Run | None = None
    defers: bool = False

    @property
    def room(self) -> float:
        """How many times as much the program computes as what was recorded; 1 if that is it."""
        if self.exact is None:
            return 1.0
        return self.entry.extent.elements / max(self.exact.entry.extent.elements, 1)
