"""Which tier runs a program faster, found by timing both.

Once a program has an executable, XLA is timed, and then the host, results waited for. What disturbs
a run only adds to it, so that the quickest counts. Both are timed again at doubling intervals, as
the machine may have been busy. Invariant: trying the tier that is not chosen has never cost more
than `TRYING_SHARE` of the seconds that the program has run. A trial that would is put off.
"""

from __future__ import annotations

from math import inf
from typing import Final

from lazytensor.core.policy import TRIALS, TRYING_SHARE

HOST, XLA = 0, 1
MARGIN: Final = 1.0 - TRYING_SHARE
"""What the host's time must be of XLA's, which runs while the user's code goes on."""
QUICKER: Final = 1.0 - TRYING_SHARE
"""What a run must be of the quickest one to show that a tier still warms up."""


class Trial:
    """Which tier runs a program faster: the least seconds of each, results waited for.

    Where sizes differ, seconds are what they would be at the largest size. A trial of a tier ends
    after `TRIALS` runs in a row that were not clearly quicker than those before: caches are cold at
    first, and branches that depend on data are learnt. An executable's first run does not count.
    """

    __slots__ = (
        "_best",
        "_cold",
        "_fresh",
        "_interval",
        "_lately",
        "_left",
        "_lost",
        "_may_open",
        "_runs",
        "_spent",
        "_tried",
    )

    def __init__(self) -> None:
        self._best = [inf, inf]  # per tier, found before the trial under way
        self._fresh = [inf, inf]  # and in it
        self._cold = True  # whether the executable has not run: memory and threads are not there
        self._tried: int | None = XLA  # the tier under trial
        self._left = TRIALS  # runs of it, unless one is quicker
        self._spent = self._lost = 0.0  # seconds in all, and those that a trial has cost
        self._may_open = False
        self._interval, self._runs = 4 * TRIALS, 0  # runs until both are timed again
        self._lately = inf  # the host's quickest run since it was chosen

    def interprets(self) -> bool:
        """Whether the next run is the host's, for the trial's sake or as the faster one."""
        if self.is_open():
            return False
        if self._seconds(XLA) == inf:  # an executable that may not be tried yet, if there is one
            return self._may_open
        return self._is_tried(HOST) or self._is_hosts()

    def is_open(self) -> bool:
        """Whether the next compiled run is to be timed."""
        return self._may_open and self._is_tried(XLA)

    def is_decided(self) -> bool:
        """Whether both were timed, or nothing is to be now."""
        return not self.is_open() and not self._is_tried(HOST)

    @property
    def by_host(self) -> float:
        """Seconds of the host's quickest run; infinite before one."""
        return self._seconds(HOST)

    @property
    def known(self) -> tuple[float, float]:
        """Seconds of the host and of XLA; infinite before a run."""
        return self._seconds(HOST), self._seconds(XLA)

    def inform(self, seconds: tuple[float, float]) -> None:
        """Begin with the seconds of the host and of XLA that another process has found."""
        self._best = [min(self._best[HOST], seconds[HOST]), seconds[XLA]]
        self._may_open = True
        if seconds[XLA] < inf:
            self._tried = None

    def saved(self) -> float | None:
        """Seconds by which the faster tier, if that is XLA, is faster; None where not both ran."""
        found = [b if b < inf else f for b, f in zip(self._best, self._fresh, strict=True)]
        return None if inf in found else max(found[HOST] - found[XLA], 0.0)

    def interpreted(self, seconds: float) -> None:
        """Take note of how long an interpreted run took."""
        self._may_open = True
        if self._tried == HOST:
            self._try(HOST, seconds)
        else:
            self._spent += seconds
            if self._tried == XLA:  # which is not there yet, or is too slow to be tried on
                self._best[HOST] = min(self._best[HOST], seconds)
            else:
                self._lately = min(self._lately, seconds)
                self._count()

    def compiled(self, seconds: float) -> None:
        """Take note of how long a compiled run took, that was to be timed."""
        if self._cold:
            self._cold = False
            self._spent += seconds
        else:
            self._try(XLA, seconds)

    def ran(self) -> None:
        """Take note of a compiled run that was not timed."""
        if self._seconds(XLA) < inf:
            self._spent += self._seconds(XLA)
            if self._tried is None:
                self._count()

    def renew(self) -> None:
        """Let both be timed again, as there is another executable."""
        self._best[XLA], self._cold = inf, True
        self._start(XLA)

    def _seconds(self, tier: int) -> float:
        """What a tier takes, as far as is known."""
        return self._fresh[tier] if self._fresh[tier] < inf else self._best[tier]

    def _is_hosts(self) -> bool:
        """Whether the host is the faster one. XLA runs while the user's code goes on."""
        return self._seconds(HOST) < MARGIN * self._seconds(XLA)

    def _is_tried(self, tier: int) -> bool:
        """Whether a tier is under trial, and may be: the one that was chosen costs nothing more."""
        if self._tried != tier:
            return False
        if tier == XLA and not self._best[HOST] < MARGIN * self._best[XLA]:
            return True
        mine, other = self._seconds(tier), self._seconds(1 - tier)
        loss = 0.0 if inf in (mine, other) else max(mine - other, 0.0) * self._left
        return self._lost + loss <= TRYING_SHARE * self._spent

    def _try(self, tier: int, seconds: float) -> None:
        self._spent += seconds
        other = self._seconds(1 - tier)
        self._lost += max(seconds - other, 0.0) if other < inf else 0.0
        is_quicker = seconds < QUICKER * self._fresh[tier]
        self._left = TRIALS if is_quicker else self._left - 1
        self._fresh[tier] = min(self._fresh[tier], seconds)
        if not self._left:
            self._end(tier)

    def _end(self, tier: int) -> None:
        """The trial of a tier is over."""
        is_first = self._best[XLA] == inf
        self._best[tier] = self._fresh[tier]
        is_hosts = self._best[HOST] < MARGIN * self._best[XLA]
        if tier == XLA and (is_first or not is_hosts):
            self._start(HOST)
        else:
            self._tried, self._runs, self._lately = None, 0, inf
            self._fresh = [inf, inf]

    def _start(self, tier: int) -> None:
        self._tried, self._left = tier, TRIALS
        self._fresh[tier] = inf

    def _count(self) -> None:
        """One more run of the tier that was chosen."""
        self._runs += 1
        if self._runs >= self._interval:
            self._interval *= 2
            if self._lately < inf:
                self._best[HOST] = self._lately
            self._start(XLA)


class Costs:
    """What running a program costs.

    `size`: its instructions. `operations`: those in bodies included. `elements`: of all its
    results. `spent`: seconds of runs by the host.
    `runs`: by either tier. `trial`: how the tiers compare.
    """

    __slots__ = ("elements", "operations", "runs", "size", "spent", "trial")

    def __init__(
        self, size: int, operations: int, elements: float, spent: float = 0.0, runs: int = 0
    ) -> None:
        self.size, self.operations, self.elements = size, operations, elements
        self.spent, self.runs = spent, runs
        self.trial = Trial()
