"""Whether recording pays for arrays that are only just large: an account for each thread.

Recording usually pays from `settings.small` elements. A loop that does few operations on larger
arrays may lose by it: XLA has nothing to fuse, and recording takes longer than NumPy's operations.
A run of a program gains what XLA saves, and loses what recording costs. XLA saves nothing where
all arrays are small, where every program is new because sizes differ each time, and while a program
is compiled in the background. When a thread has lost `LOSS_SECONDS`, arrays of that size count as
small in that thread. It tries recording again at the end of such a compile, and else at doubling
intervals, which bounds the price of trying. Loops over elements of lazy arrays whose memory is lent
lose a little by each access. So does a result whose size a mask decides, as it is known only after
a cut.

An account counts only cuts that the NumPy frontend has asked for or has caused by recording.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Final

from lazytensor.core.device.backend import is_apart
from lazytensor.core.policy import LOOP_OPERATIONS, LOSS_SECONDS, TRIALS
from lazytensor.core.runtime import cost_model
from lazytensor.core.runtime.background import Job, is_under_way
from lazytensor.core.runtime.program_cache import Entry, ran
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.host.bound import is_raised, raise_to, setting

MOST_SECONDS: Final = LOSS_SECONDS / TRIALS
"""Cap on the loss of one run, so that a busy machine does not decide."""
FIRST_INTERVAL: Final = 1.0
"""Seconds of work after which recording is tried again for the first time."""
raising: Final[list[Callable[[], object]]] = []
"""Called when the bound is raised, as memos of calls on larger arrays may no longer hold."""


class Account:
    """What recording has gained in one thread, in seconds, for arrays just larger than the bound.

    `largest`: elements of the largest array that has lost. `interval`: seconds for which the bound
    was raised last. `settles`: whether pending operations are computed once. An automatic cut may
    leave the first operation of a round pending, on which all rounds depend.
    """

    __slots__ = ("interval", "largest", "seconds", "settles")

    def __init__(self) -> None:
        self.seconds, self.largest = 0.0, 0
        self.interval = FIRST_INTERVAL / 2.0
        self.settles = False

    def note(self, entry: Entry, is_observed: bool = True, room: float = 1.0) -> None:
        """Note a cut.

        is_observed: whether the results were waited for. room: the factor by which the program
        computes more than was recorded. What runs on a device that is not the host is not timed
        against NumPy, and loses nothing.
        """
        if entry.executable is not None and is_apart():
            return
        largest = entry.extent.largest
        is_small = largest < settings.small and entry.size >= LOOP_OPERATIONS and not is_raised()
        if not self._counts(max(largest, settings.small) if is_small else largest):
            return
        gain = -cost_model.recording_seconds(entry)
        if not is_small and not cost_model.comes_once(entry):
            saved = entry.trial.saved()
            if saved is not None:
                gain += saved / room
            elif not is_under_way(entry):  # the most that XLA may save
                gain = min(gain + cost_model.once(entry), 0.0)
        job = entry.job if is_under_way(entry) else None
        self._add(max(gain, -MOST_SECONDS), largest, not is_observed, job)

    def lost(self, seconds: float, size: int) -> None:
        """Note `seconds` lost in a loop over parts of a lazy array of `size` elements."""
        if self._counts(size):
            self._add(-seconds, size)

    def _counts(self, size: int) -> bool:
        """Whether arrays of this size may count as small by a raised bound."""
        small = settings.small
        if not small or settings.tier != "auto":
            return False
        return small <= size <= LOOP_OPERATIONS**2 * setting()

    def _add(self, gain: float, size: int, automatic: bool = False, job: Job | None = None) -> None:
        self.seconds += gain
        if gain < 0:
            self.largest = max(self.largest, size)
        if self.seconds > LOSS_SECONDS:  # a cap, so that old gains cannot hide new losses
            self.seconds, self.interval = LOSS_SECONDS, FIRST_INTERVAL / 2.0
        elif self.seconds < -LOSS_SECONDS:
            self._raise(job)
            self.settles = automatic

    def _raise(self, job: Job | None) -> None:
        if not (job or is_raised()):  # recording was tried again, and has lost again
            self.interval *= 2.0
        raise_to(max(self.largest, setting()) + 1, max(self.interval, FIRST_INTERVAL), job)
        self.seconds, self.largest = 0.0, 0
        for call in raising:
            call()


class _Thread(threading.local):
    def __init__(self) -> None:
        self.account = Account()


_thread: Final = _Thread()


def account() -> Account:
    """The calling thread's account."""
    return _thread.account


FRONTENDS: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
PROJECT: Final = os.path.dirname(FRONTENDS)
_owners: Final[dict[str, str]] = {__file__: "core"}
"""By file: its frontend, "core" for the rest of the project and for this file, "" outside."""


def _owner(file: str) -> str:
    if file.startswith(FRONTENDS):
        return file[len(FRONTENDS) + 1 :].replace("\\", "/").partition("/")[0]
    return "core" if file.startswith(PROJECT) else ""


def _asker() -> str:
    """The nearest frontend on the stack, which has asked for the cut or has recorded too much.

    Empty if the user's line has called the core.
    """
    frame: FrameType | None = _getframe()
    while frame is not None:
        file = frame.f_code.co_filename
        owner = _owners.get(file)
        if owner is None:
            owner = _owners[file] = _owner(file)
        if owner != "core":
            return owner
        frame = frame.f_back
    return ""


def _note(entry: Entry, is_observed: bool, room: float) -> None:
    """Note a cut of the NumPy frontend. Its compiled functions have no frames.

    An automatic cut right below the user's line is therefore its own: no other frontend has them.
    """
    asker = _asker()
    if asker == "numpy" or not (asker or is_observed):
        _thread.account.note(entry, is_observed, room)


ran.append(_note)
