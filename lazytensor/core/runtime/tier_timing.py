"""Which tier runs a program faster, found by timing both.

XLA is faster as a rule, and NumPy where there is nothing to fuse. Both are timed once a program has
been compiled, results waited for; what disturbs a run only adds to it, so that the quickest counts.
Where the machine was busy meanwhile, what was found may be wrong: the one that was not chosen is
tried again, at longer and longer intervals.
"""

from __future__ import annotations

from collections import deque
from math import inf, sqrt
from typing import Final

TRIALS: Final = 5
"""Runs of each tier that are timed, of which the quickest counts."""
WARMING: Final = 3
"""Runs before those: memory, caches and threads are still cold."""
QUICKER: Final = 0.95
"""What an interpreted run must be of the quickest one to show that they still warm up: branches
that depend on data are learnt by the processor."""
STILL_WARMING: Final = 3
"""Runs that are timed at the least after one like that."""
NEAR_SHORT: Final = 10.0
"""How many times XLA's time the interpreter's best may be for it to be tried when warm: cold runs
take up to four times as long."""
LONG_RUN_SECONDS: Final = 0.002
"""Seconds of a run from which `NEAR_LONG` counts: trying it costs more, and cold shows less."""
NEAR_LONG: Final = 4.0
LONGEST: Final = 0.02
NEAR_LONGEST: Final = 2.0
RUNS_UNTIL_RETIMED: Final = 20
"""Runs of the tier that was chosen after which both are timed again; then `AGAIN_AFTER` times as
many, and so on."""
AGAIN_AFTER: Final = 4
WARMING_AGAIN: Final = 1
TIMED_AGAIN: Final = 2
"""Runs by XLA that are timed then. If it is still slower, nothing else is tried."""
XLA_RUNS_PER_TRIAL: Final = 40
"""Runs by XLA for each run by the interpreter in a trial. Where a loop's time depends on its data,
fewer runs would cover a part of the loop only."""
MARGIN: Final = 0.95
"""What the interpreter's time must be of XLA's, which runs while the user's code goes on."""


class Trial:
    """Which tier runs a program faster: the least seconds of each, results waited for.

    Once a program is compiled, some runs by XLA are timed, then as many by the interpreter, if that
    was not far slower before. So are a few of each after a while, XLA first.
    Where sizes differ, seconds are what they would be at the largest: of each tier those count that
    did the most in a second.
    """

    __slots__ = (
        "_again",
        "_compiled",
        "_interpreted",
        "_interprets",
        "_least",
        "_runs",
        "_saved",
        "_theirs",
        "_xlas",
    )

    def __init__(self) -> None:
        self._interpreted: deque[float] = deque(maxlen=TRIALS)
        self._compiled: deque[float] = deque(maxlen=TRIALS)
        self._least = inf  # of what the interpreter took, lately or in the last trial
        self._xlas = WARMING + TRIALS  # runs by XLA that are still to be timed
        self._theirs = 0  # and by the interpreter, after those
        self._again, self._runs = RUNS_UNTIL_RETIMED, 0
        self._interprets = False
        self._saved: float | None = None

    def interprets(self) -> bool:
        """Whether the next run is the interpreter's, for the trial's sake or as the faster one."""
        return not self._xlas and (self._interprets or self._theirs > 0)

    def is_open(self) -> bool:
        """Whether the next compiled run is to be timed."""
        return self._xlas > 0 and len(self._interpreted) > 0

    def is_decided(self) -> bool:
        """Whether both were timed, or nothing is to be."""
        return not self._theirs and not self.is_open()

    def gain(self, seconds: float, cutting: float) -> float | None:
        """How much longer NumPy takes than a run of these seconds; None while it is not known.

        `cutting`: the part of them in which no program was run.
        """
        if self._xlas or self._theirs:
            return None
        return self._least - self.taken(seconds, cutting)

    def taken(self, seconds: float, cutting: float) -> float:
        """How long a run of these seconds takes. XLA may only have started it."""
        if self._interprets or not self._compiled:
            return seconds
        return max(seconds, cutting + min(self._compiled))

    def saved(self) -> float | None:
        """Seconds by which the faster tier, if that is XLA, is faster; None where not both ran."""
        if not self._compiled or self._least == inf:
            return self._saved  # what was found before: both are being timed again
        return max(self._least - min(self._compiled), 0.0)

    def least(self) -> tuple[float, float] | None:
        """What interpreted runs took at the least, and what the last one took."""
        return (self._least, self._interpreted[-1]) if self._interpreted else None

    def interpreted(self, seconds: float) -> None:
        """Take note of how long an interpreted run took."""
        self._interpreted.append(seconds)
        if self._theirs:
            self._try_interpreted(seconds)
            return
        self._least = min(self._interpreted)
        if self.interprets():
            self._runs += 1
            if self._runs == self._again:
                self._reopen()

    def _try_interpreted(self, seconds: float) -> None:
        self._theirs -= 1
        if seconds < QUICKER * self._least:
            self._theirs = max(self._theirs, STILL_WARMING)
        self._least = min(self._least, seconds)
        if not self._theirs:
            self._interprets = self._least < MARGIN * min(self._compiled)
            self._runs = 0

    def compiled(self, seconds: float) -> None:
        """Take note of how long a compiled run took, that was to be timed."""
        is_again = self._again > RUNS_UNTIL_RETIMED
        if self._xlas <= (TIMED_AGAIN if is_again else TRIALS):
            self._compiled.append(seconds)
        self._xlas -= 1
        if self._xlas:
            return
        if self._interprets and self._least < MARGIN * min(self._compiled):
            return  # it was found before to be the faster one, and still is
        if is_again and not self._interprets:
            self._theirs = max(1, self._again // AGAIN_AFTER // XLA_RUNS_PER_TRIAL)
        else:
            self._theirs = WARMING + TRIALS if self._is_near() else 0
        self._interprets = False
        if self._theirs:  # of which the first is the quickest so far: some follow
            self._saved = self.saved()
            self._least = inf

    def ran(self) -> None:
        """Take note of a compiled run that was not timed."""
        self._runs += 1
        if self._runs == self._again and not self._xlas and self._is_near(True):
            self._reopen()

    def renew(self) -> None:
        """Let both be timed again, as there is another executable."""
        self._saved = self.saved()
        self._compiled.clear()
        self._xlas, self._theirs, self._interprets = WARMING + TRIALS, 0, False

    def _reopen(self) -> None:
        """Let both be timed again."""
        self._saved = self.saved()
        self._again *= AGAIN_AFTER
        self._runs = 0
        self._compiled.clear()
        self._xlas = WARMING_AGAIN + TIMED_AGAIN

    def _is_near(self, warm: bool = False) -> bool:
        """Whether the interpreter may be the faster one; `warm`: it was timed when it was."""
        best = self._least
        near = (
            NEAR_SHORT if best < LONG_RUN_SECONDS else NEAR_LONG if best < LONGEST else NEAR_LONGEST
        )
        return best < (sqrt(near) if warm else near) * min(self._compiled)
