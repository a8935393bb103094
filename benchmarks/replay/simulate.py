"""A trace, run by a policy on a simulated clock: one worker compiles beside the user's thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from benchmarks.replay.trace import Trace

CONTENTION: Final = 1.25
"""How much longer a run and a compile take, on two processors, while both are under way."""
IMPORT_SECONDS: Final = 0.3
"""Seconds of the worker before its first compile."""


class Policy(Protocol):
    """What decides, for the programs of one trace by number."""

    def is_due(self, program: int) -> bool:
        """Whether to compile a program now, before a run by the host."""

    def urgency(self, program: int) -> float:
        """How urgent a waiting program is. The worker compiles the most urgent one first."""

    def interprets(self, program: int) -> bool:
        """Whether the host runs a program that has an executable."""

    def interpreted(self, program: int, seconds: float) -> None:
        """Note the seconds of a run by the host."""

    def compiled(self, program: int, seconds: float) -> None:
        """Note the seconds of a run by XLA."""


@dataclass
class Worker:
    """The compiler's thread. `left`: processor seconds of the job under way."""

    compile: Callable[[int], float]
    urgency: Callable[[int], float]
    queue: list[int] = field(default_factory=list)
    ready: set[int] = field(default_factory=set)
    job: int | None = None
    left: float = 0.0
    is_imported: bool = False

    def want(self, program: int) -> None:
        """Queue a program, unless it is queued or ready."""
        if program not in self.queue and program != self.job and program not in self.ready:
            self.queue.append(program)
            self._take()

    def _take(self) -> None:
        if self.job is None and self.queue:
            self.job = max(self.queue, key=self.urgency)
            self.queue.remove(self.job)
            self.left = self.compile(self.job)
            if not self.is_imported:
                self.is_imported, self.left = True, self.left + IMPORT_SECONDS

    def work(self, seconds: float, pace: float = 1.0) -> float:
        """Go on for these seconds, or until a job ends; the seconds that this took."""
        if self.job is None:
            return seconds
        taken = min(self.left * pace, seconds)
        self.left -= taken / pace
        if self.left <= 0.0:
            self.ready.add(self.job)
            self.job = None
            self._take()
        return taken


def seconds_of(trace: Trace, policy: Policy) -> float:
    """Seconds of all runs of a trace by a policy; the user's own code is not counted."""
    worker = Worker(lambda p: trace.programs[p].compile, policy.urgency)
    total = 0.0
    for program, between, host, xla in trace.runs:
        _pass(worker, between / 1e6)
        by_xla = program in worker.ready and not policy.interprets(program)
        if not by_xla and program not in worker.ready and policy.is_due(program):
            worker.want(program)
        taken = _run(worker, (xla if by_xla else host) / 1e6)
        (policy.compiled if by_xla else policy.interpreted)(program, taken)
        total += taken
    return total


def _pass(worker: Worker, seconds: float) -> None:
    while seconds > 0.0:
        seconds -= worker.work(seconds)


def _run(worker: Worker, seconds: float) -> float:
    """How long a run takes that would take these seconds if nothing was compiled meanwhile."""
    total = 0.0
    while seconds > 1e-12:  # rounding leaves less
        if worker.job is None:
            return total + seconds
        taken = worker.work(seconds * CONTENTION, CONTENTION)
        seconds -= taken / CONTENTION
        total += taken
    return total


class Clairvoyant:
    """The bound: knows all runs to come. A program is compiled where that gains more than it costs.

    From then on the tier with the smaller sum runs it. The most gain for a second of compiling is
    compiled first. `none`: nothing is compiled.
    """

    def __init__(self, trace: Trace, none: bool = False) -> None:
        host, xla = ([0.0] * len(trace.programs) for _ in range(2))
        for program, _, by_host, by_xla in trace.runs:
            host[program] += by_host / 1e6
            xla[program] += by_xla / 1e6
        self._gain = [
            0.0 if none else (h - x) / max(made.compile, 1e-3)
            for h, x, made in zip(host, xla, trace.programs, strict=True)
        ]

    def is_due(self, program: int) -> bool:
        """Whether XLA is faster in sum."""
        return self._gain[program] > 0.0

    def urgency(self, program: int) -> float:
        """Seconds gained for each of compiling."""
        return self._gain[program]

    def interprets(self, program: int) -> bool:
        """Never: then it was not compiled."""
        return False

    def interpreted(self, program: int, seconds: float) -> None:
        """Nothing is to be learnt."""

    def compiled(self, program: int, seconds: float) -> None:
        """Nothing is to be learnt."""


def bound(trace: Trace) -> float:
    """The least seconds in which the runs of a trace could have been made."""
    ways = [Clairvoyant(trace), Clairvoyant(trace, none=True)]
    return min(seconds_of(trace, way) for way in ways)
