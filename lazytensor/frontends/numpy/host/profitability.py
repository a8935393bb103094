"""Whether recording pays for arrays that are only just large: an account for each thread.

Recording usually pays from `settings.small` elements. A loop that does few operations on larger
arrays may lose by it: XLA has nothing to fuse, and recording takes longer than NumPy's operations.
Three kinds of programs are known to lose: those that were timed both ways (`Trial`), those that
cost more to make than NumPy needs to run them, and those that run only once, as sizes differ each
time. When a thread has lost `LOSS` seconds, arrays of that size count as small in that thread. It
tries recording again at longer and longer intervals, which bounds the price of trying.
Loops over elements of lazy arrays whose memory is lent lose a little by each access. So does a
result whose size a mask decides, as it is known only after a cut.

An account counts only cuts that the NumPy frontend has asked for or has caused by recording.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from sys import _getframe
from time import perf_counter, process_time
from types import FrameType
from typing import Final

from lazytensor.core.device.processors import processors
from lazytensor.core.runtime import cost_model
from lazytensor.core.runtime.program_cache import Entry, ran
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.host.bound import is_raised, put_back, raise_to, setting

LOSS: Final = 0.03
"""Seconds lost on balance after which larger arrays count as small."""
PROFIT: Final = 0.1
"""Cap on banked profit, in seconds, so that old gains cannot hide new losses."""
SECONDS_PER_RECORD: Final = 1.2e-5
"""Upper bound on the seconds to record one node, in a frontend and the core: views, caches cold."""
OF_A_LOOP: Final = 32
"""Minimum size, in operations, at which an all-small program counts. Results of lazy operations
stay lazy, so a loop over them is recorded without end. Shorter programs (a print) are ignored."""
SPAN: Final = 32
"""How many times larger than the setting an array that counts as small may be."""
MEASURED_SPAN: Final = 1024
"""The same for measured losses: recording copies an array that NumPy writes to in place."""
MOST: Final = 0.002
"""Cap on the loss of one run, in seconds, so that a busy machine does not decide."""
FIRST: Final = 1.0
"""Seconds of work until recording is tried again; then twice as many, and so on."""
LONGEST: Final = 60.0
PROCESSORS: Final = processors()
raising: Final[list[Callable[[], object]]] = []
"""Called when the bound is raised, as memos of calls on larger arrays may no longer hold."""


class Account:
    """What recording has gained in one thread, in seconds, for arrays up to `SPAN` times the bound.

    `largest`: elements of the largest array that has lost. The bound is raised until `until`, and
    until the process has worked until `worked`: a process that mostly waits would spend most of its
    work on trials. `settles`: whether pending operations are computed once. An automatic cut may
    leave the first operation of a round pending, on which all rounds depend.
    """

    __slots__ = (
        "ended",
        "interval",
        "largest",
        "seconds",
        "settles",
        "until",
        "worked",
    )

    def __init__(self) -> None:
        self.seconds, self.largest = 0.0, 0
        self.interval, self.until, self.worked = FIRST, 0.0, 0.0
        self.ended = 0.0
        self.settles = False

    def note(
        self, entry: Entry, seconds: float, cutting: float | None = None, room: float = 1.0
    ) -> None:
        """Note a cut that took `seconds`, from the graph to its results.

        `cutting`: the part of `seconds` that made the program, if the results were waited for. If
        None, all of it overlapped with XLA's run of the last program on the other processors.
        `room`: the factor by which the program computes more than was recorded.
        """
        size, small, largest = entry.program.size, settings.small, entry.extent.largest
        is_open = not is_raised()
        began = perf_counter() - seconds
        since = began - self.ended
        self.ended = began + (seconds if cutting is None else entry.trial.taken(seconds, cutting))
        is_small = is_open and largest < small and size >= OF_A_LOOP
        counts = self._counts(max(largest, small) if is_small else largest)
        if not counts and not self._counts(largest, MEASURED_SPAN):
            return
        recording = min(size * SECONDS_PER_RECORD, max(since, 0.0))
        gain = cost_model.gain(
            entry, seconds, seconds / PROCESSORS if cutting is None else cutting, room
        )
        if gain is None:
            if counts:
                self._note_untried(entry, seconds, recording, is_small, cutting is None)
        elif counts or gain > recording:  # losses of larger arrays are counted where measured
            self._add(max(gain - recording, -MOST), largest, cutting is None)

    def _note_untried(
        self, entry: Entry, seconds: float, recording: float, is_small: bool, automatic: bool
    ) -> None:
        """Note a run of a program that XLA has not run, by its largest possible gain."""
        once = cost_model.comes_once(entry)
        most = (
            min(cost_model.estimate(entry) - seconds, 0.0)
            if once
            else cost_model.most_gain(entry, seconds, is_small)
        )
        if most is None:
            return
        if most < recording:
            self._add(max(most - recording, -MOST), entry.extent.largest, automatic)

    def lost(self, seconds: float, size: int, measured: bool = False) -> None:
        """Note `seconds` lost in a loop over parts of a lazy array of `size` elements.

        `measured`: the loss is measured, not estimated, so it counts for larger arrays too.
        """
        if self._counts(size, MEASURED_SPAN if measured else SPAN):
            self._add(-seconds, size)

    def _counts(self, size: int, span: int = SPAN) -> bool:
        """Whether arrays of this size may count as small by a raised bound."""
        small = settings.small
        if not small or settings.tier != "auto":
            return False
        return small <= size <= span * setting()

    def _add(self, gain: float, size: int, automatic: bool = False) -> None:
        self.seconds += gain
        if gain < 0:
            self.largest = max(self.largest, size)
        if self.seconds > PROFIT:
            self.seconds, self.interval = PROFIT, FIRST
        elif self.seconds < -LOSS:
            self._raise(self.interval)
            self.settles = automatic

    def _raise(self, seconds: float) -> None:
        raise_to(max(self.largest, setting()) + 1)
        self.seconds, self.largest = 0.0, 0
        self.until = perf_counter() + seconds
        self.worked = process_time() + seconds
        self.interval = min(2 * self.interval, LONGEST)
        for call in raising:
            call()

    def look(self) -> None:
        """Put the bound back if it is time to try again."""
        if is_raised() and perf_counter() > self.until:
            left = self.worked - process_time()
            if left > 0:
                self.until = perf_counter() + left
            else:
                put_back()


class _Thread(threading.local):
    def __init__(self) -> None:
        self.account = Account()


_thread: Final = _Thread()


def account() -> Account:
    """The calling thread's account."""
    return _thread.account


FRONTENDS: Final = str(Path(__file__).parents[2])
PROJECT: Final = str(Path(__file__).parents[3])
_owners: Final[dict[str, str]] = {}
"""By file: its frontend, "core" for the rest of the project, "" outside."""


def _owner(file: str) -> str:
    if file.startswith(FRONTENDS):
        return file[len(FRONTENDS) + 1 :].replace("\\", "/").partition("/")[0]
    return "core" if file.startswith(PROJECT) else ""


def _asker() -> str:
    """The nearest frontend on the stack, which has asked for the cut or has recorded too much.

    Empty if the user's line has called the core.
    """
    frame: FrameType | None = _getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        owner = _owners.get(file)
        if owner is None:
            owner = _owners[file] = _owner(file)
        if owner != "core":
            return owner
        frame = frame.f_back
    return ""


def _note(entry: Entry, seconds: float, cutting: float | None, room: float) -> None:
    """Note a cut of the NumPy frontend. Its compiled functions have no frames.

    An automatic cut right below the user's line is therefore its own: no other frontend has them.
    """
    asker = _asker()
    if asker == "numpy" or (not asker and cutting is None):
        _thread.account.note(entry, seconds, cutting, room)


ran.append(_note)
