"""Several processes that run the same programs: that they do is checked, and waits are watched.

Data flow: a program over a mesh is new → its text's hash, its line and a checksum of the values it
is given go to the coordinator → rank 0 compares all with its own, the others theirs with rank 0's →
all run it. While a run is waited for, the heartbeats of the others are looked at. Invariants:

- Every process runs the programs over meshes in the same order. What clocks decide (tiers, NumPy's
  account of what recording gains) is off: initialize sets the tier to `compile`.
- A wait ends: with the result, or with an error that names the process that did not come.
- A process that has met such an error does not wait for what it has under way when it exits.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.device import processes
from lazytensor.core.device.backend import backend
from lazytensor.core.device.processes import Cluster, Messages
from lazytensor.core.errors import ProcessError
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.source_location import describe
from lazytensor.core.settings import settings

BEATS: Final = "beats"
FINISHED: Final = "finished"
CHECKS: Final = "programs"
HISTORIES: Final = "histories"
MEETINGS: Final = "meetings"
"""Folders of messages: of each process what it does now, whether it has ended, what it is about to
run, what it has run last, and where it waits for all others."""
RUNNING, COMPILING, LEAVING = "running", "compiling", "leaving"
"""What a process does."""
SAME: Final = "all must run the same ones, and ask for the same values in the same order"
BEATS_APART: Final = 1.0
"""Seconds between two heartbeats."""
SILENCE: Final = 30.0
"""Seconds without a heartbeat after which a process of another machine is taken for dead."""
BEFORE_A_LOOK: Final = 1.0
"""Seconds that a result is waited for before the other processes are looked at."""
BEFORE_A_COMPARISON: Final = 5.0
"""Seconds after which what the processes have run is compared."""
BEFORE_A_NOTE: Final = 10.0
NOTES_APART: Final = 60.0
"""Seconds after which standard error says what is waited for, and then again."""
REMEMBERED_RUNS: Final = 64
"""The last runs that a process can compare with the others'."""
LONGEST_COMPILE: Final = 3600.0
"""How long another process may compile."""
ANSWER_SECONDS: Final = 10.0
"""How long a process that runs another program may take to show it."""
CHECKED_BYTES: Final = 2**20
"""How much of each value the processes compare."""


class Beat(NamedTuple):
    """What a process says of itself.

    number: counts its heartbeats. home: its machine and its set of process numbers. pid, born: its
    number there, and when it was started. doing: `RUNNING`, `COMPILING` or `LEAVING`. runs: how
    many programs over meshes it has started. at: the user's line of the last.
    """

    number: int
    home: str
    pid: int
    born: str
    doing: str
    runs: int
    at: str

    def is_gone(self) -> bool:
        """Whether it was a process of this machine that has ended."""
        return self.home == _home() and _born(self.pid) != self.born


def _home() -> str:
    """This machine and its set of process numbers, as a container may have its own."""
    with suppress(OSError):
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()


def _born(pid: int) -> str:
    """When the process of this number was started, in clock ticks; "" if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


class Member:
    """This process among the others."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.messages: Messages | None = None
        self.checks = count()
        self.runs = 0
        self.at = ""
        self.doing = RUNNING
        self.placed = 0
        self.history: deque[tuple[int, int, str]] = deque(maxlen=REMEMBERED_RUNS)
        self.has_failed = False
        self._beats, self._meetings = count(), count()
        self._heard: dict[int, tuple[Beat, float]] = {}
        self._noted = 0.0

    def beat(self) -> None:
        """Say what this process does."""
        if self.messages is None:
            return
        pid = os.getpid()
        said = Beat(next(self._beats), _home(), pid, _born(pid), self.doing, self.runs, self.at)
        self.messages.tell(f"{BEATS}/{self.cluster.rank}", json.dumps(said))

    def now(self, doing: str) -> None:
        """Say that this process does something else."""
        self.doing = doing
        self.beat()

    def runs_now(self, program: int, place: str) -> None:
        """Take note of a run. program: the number of the check that it passed."""
        self.runs += 1
        self.at = place
        self.history.append((self.runs, program, place))

    def agree(self, text: str, place: str, values: int) -> int:
        """Compare a new program with the other processes'; the number of the check.

        Raises: ProcessError if one differs.
        """
        assert self.messages is not None
        number = next(self.checks)
        self.history.append((self.runs + 1, number, place))
        digest = blake2b(text.encode(), digest_size=16).hexdigest()
        mine = [digest, place, values, self.placed]
        self.at = place
        folder = f"{CHECKS}/{number}"
        self.messages.tell(f"{folder}/{self.cluster.rank}", json.dumps(mine))
        for rank in self.cluster.others if self.cluster.rank == 0 else [0]:
            theirs = json.loads(self._awaited(f"{folder}/{rank}"))
            if theirs != mine:
                raise self._differs(f"{folder}.texts", rank, theirs, mine, text)
        return number

    def meet(self) -> None:
        """See the function `meet`."""
        assert self.messages is not None
        folder = f"{MEETINGS}/{next(self._meetings)}"
        self.messages.tell(f"{folder}/{self.cluster.rank}", "")
        for rank in self.cluster.others:
            self._awaited(f"{folder}/{rank}")

    def _differs(
        self, folder: str, rank: int, theirs: list[Any], mine: list[Any], text: str
    ) -> ProcessError:
        """The error for a program that is not that of another process."""
        self.has_failed = True
        if theirs[0] == mine[0]:
            said = f"process {rank} has other values for the program of {mine[1]}"
            cure = "each process must give a program the same: seed what is random, or give each "
            return ProcessError(f"{said}: {cure}its own part by lazytensor.from_local")
        assert self.messages is not None
        self.messages.tell(f"{folder}/{self.cluster.rank}", text)
        other = self.messages.heard(f"{folder}/{rank}", ANSWER_SECONDS)
        found = "" if other is None else _first_difference(text, other)
        return self._other_program(mine[1], rank, theirs[1], found)

    def _other_program(self, here: str, rank: int, there: str, shown: str = "") -> ProcessError:
        self.has_failed = True
        where = f"process {self.cluster.rank} runs the program of {here}, {rank} that of {there}"
        return ProcessError(f"{where}: {SAME}{shown}")

    def _awaited(self, name: str) -> str:
        """A message of another process, waited for like a run."""
        assert self.messages is not None
        start = time.monotonic()
        while (found := self.messages.heard(name, BEFORE_A_LOOK)) is None:
            self.waiting(time.monotonic() - start)
        return found

    def waiting(self, seconds: float) -> None:
        """Raises: ProcessError if a wait, so long by now, is in vain."""
        if seconds < BEFORE_A_LOOK:
            return
        beats = self._listen()
        for rank in self.cluster.others:
            if reason := self._reason(rank, beats.get(rank)):
                raise self._lost(rank, beats.get(rank), reason)
        if seconds > BEFORE_A_COMPARISON:
            self._compare_histories()
        slowest = min(beats, key=lambda rank: beats[rank].runs, default=None)
        if slowest is None:
            return
        beat = beats[slowest]
        if seconds > BEFORE_A_NOTE and time.monotonic() - self._noted > NOTES_APART:
            self._noted = time.monotonic()
            text = f"waits for process {slowest}, which is {beat.doing} {beat.at or 'nothing yet'}"
            print(f"lazytensor: {self.at}: {text}", file=sys.stderr, flush=True)
        if seconds > (LONGEST_COMPILE if beat.doing == COMPILING else settings.peer_timeout):
            raise self._lost(slowest, beat, f"has not come for {seconds:.0f} s")

    def _compare_histories(self) -> None:
        """Raises: ProcessError if a process that waits, too, has run another program than this."""
        assert self.messages is not None
        self.messages.tell(f"{HISTORIES}/{self.cluster.rank}", json.dumps(list(self.history)))
        mine = {run: (program, at) for run, program, at in self.history}
        for rank, text in self.messages.told(HISTORIES).items():
            for run, program, at in json.loads(text):
                if run in mine and mine[run][0] != program:
                    raise self._other_program(mine[run][1], int(rank), at)

    def _listen(self) -> dict[int, Beat]:
        """The last heartbeat of each other process that has said anything."""
        assert self.messages is not None
        now = time.monotonic()
        for rank, text in self.messages.told(BEATS).items():
            beat = Beat(*json.loads(text))
            last = self._heard.get(int(rank))
            if last is None or last[0] != beat:
                self._heard[int(rank)] = beat, now
        mine = self.cluster.rank
        return {rank: beat for rank, (beat, _) in self._heard.items() if rank != mine}

    def _reason(self, rank: int, beat: Beat | None) -> str:
        """Why a process will not come; "" if it may."""
        if beat is None:
            return ""
        assert self.messages is not None
        finished = self.messages.told(FINISHED)
        if str(rank) in finished:
            return f"has ended {finished[str(rank)]}".rstrip()
        if beat.is_gone():
            return "has died"
        if time.monotonic() - self._heard[rank][1] > SILENCE:
            return f"has said nothing for {SILENCE:.0f} s"
        return "is leaving" if beat.doing == LEAVING and beat.runs < self.runs else ""

    def _lost(self, rank: int, beat: Beat | None, reason: str) -> ProcessError:
        self.has_failed = True
        who = f"process {rank}"
        last = ""
        if beat is not None:
            who += f" ({beat.home.split()[0]}, pid {beat.pid})"
            last = f"; its last line was {beat.at}" if beat.at else "; it has run nothing yet"
        return ProcessError(f"{who} {reason}{last}; this process waits at {self.at}")

    def failed(self, error: Exception) -> Exception:
        """The error to raise in place of XLA's."""
        self.has_failed = True
        end = time.monotonic() + SILENCE + BEATS_APART
        is_cut = any(word in str(error) for word in ("closed", "reset", "refused", "imed out"))
        while time.monotonic() < end:
            beats = self._listen()
            for rank in self.cluster.others:
                if reason := self._reason(rank, beats.get(rank)):
                    return self._lost(rank, beats.get(rank), reason)
            if not is_cut:
                break
            time.sleep(BEATS_APART / 5)
        return ProcessError(f"the exchange between processes of {self.at} failed: {error}")


members: Final[list[Member]] = []
"""This process among others, if it is one of several."""


def join(cluster: Cluster, seconds: float) -> None:
    """Become one of several processes. See `distributed.initialize`."""
    member = Member(cluster)
    processes.joined.append(cluster)
    try:
        member.messages = backend().join(cluster, seconds, member)
    except BaseException:
        processes.joined.clear()
        raise
    if settings.tier == "auto":
        settings.tier = "compile"
    member.beat()
    members.append(member)
    threading.Thread(target=_beat, args=(member,), daemon=True, name="heartbeats").start()
    atexit.register(_leave, member)


def _beat(member: Member) -> None:
    with suppress(Exception):  # the coordinator has gone: whoever waits hears of it
        while member.doing != LEAVING:
            member.beat()
            time.sleep(BEATS_APART)


def agree(text: str, place: Place | None, values: Iterable[np.ndarray]) -> int:
    """Check that all processes run this program next, with these values. The check's number."""
    checksum = 0
    for value in values:
        checksum = _checksum(value, checksum)
    return members[0].agree(text, describe(place), checksum)


def meet() -> None:
    """Return when all processes have called this. Raises: ProcessError if one does not come."""
    for member in members:
        member.meet()


def placed(value: np.ndarray) -> None:
    """Take note of a value that each process has split over a mesh: it is to be the same."""
    for member in members:
        member.placed = _checksum(value, member.placed)


def _checksum(value: np.ndarray, start: int) -> int:
    said = zlib.crc32(f"{value.dtype} {value.shape}".encode(), start)
    most = max(1, CHECKED_BYTES // value.dtype.itemsize)
    return zlib.crc32(value.reshape(-1)[:most].tobytes(), said)


def runs(program: int, place: Place | None) -> None:
    """Take note of a program over a mesh that starts to run. program: the number of its check."""
    for member in members:
        member.runs_now(program, describe(place))


@contextmanager
def compiling() -> Iterator[None]:
    """A block in which this process compiles, which the others are patient with."""
    for member in members:
        member.now(COMPILING)
    try:
        yield
    finally:
        for member in members:
            member.now(RUNNING)


def _first_difference(mine: str, theirs: str) -> str:
    """The first lines in which two programs differ, here and there."""
    pairs = zip(mine.splitlines(), theirs.splitlines(), strict=False)
    different = next(((a.strip(), b.strip()) for a, b in pairs if a != b), None)
    return "" if different is None else f"\n  here:  {different[0]}\n  there: {different[1]}"


def _last_words() -> str:
    """The uncaught exception that ends this process, in words; "" if there is none."""
    error = getattr(sys, "last_value", None)
    if error is None:
        return ""
    return f"with {type(error).__name__}: {error}".partition("\n")[0]


def _leave(member: Member) -> None:
    """Wait for the runs under way, and say goodbye. A process that has failed waits for nothing."""
    from lazytensor.core.runtime import attendance

    try:
        member.now(LEAVING)
        if not member.has_failed:
            attendance.wait_for_all()
        assert member.messages is not None
        member.messages.tell(f"{FINISHED}/{member.cluster.rank}", _last_words())
    except Exception as error:  # noqa: BLE001  it is the last thing that this process says
        print(f"lazytensor: {error}", file=sys.stderr)
        member.has_failed = True
    if member.has_failed:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # XLA would wait for runs that never end
