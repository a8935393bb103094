"""Several processes that run the same programs: that they do is checked, and waits are watched.

Data flow: a program over a mesh is new → its text's hash, its line and a checksum of the values it
is given go to the coordinator → the first of the mesh's processes compares all with its own, the
others theirs with the first's → all run it. While a run is waited for, the heartbeats of the others
are looked at. Invariants:

- The processes of a mesh run the programs over it in the same order. What clocks decide (tiers,
  NumPy's account of recording) is off: `join` sets the tier to `compile`.
- A wait ends: with the result, or with an error that names the process that did not come.
- A process that has met such an error does not wait for what it has under way when it exits.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from lazytensor.core.device import processes
from lazytensor.core.device.backend import backend
from lazytensor.core.device.processes import Cluster, Messages
from lazytensor.core.errors import ProcessError
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.sharding import Mesh
from lazytensor.core.ir.source_location import describe
from lazytensor.core.runtime.heartbeats import (
    BEATS_APART,
    COMPILING,
    LEAVING,
    RUNNING,
    SILENCE,
    Beat,
    Heartbeats,
)
from lazytensor.core.settings import settings

CHECKS: Final = "programs"
HISTORIES: Final = "histories"
MEETINGS: Final = "meetings"
"""Folders of messages: what each process is about to run, what it has run last, and where it waits
for all others."""
SAME: Final = "all must run the same ones, and ask for the same values in the same order"
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


class Claim(NamedTuple):
    """What a process says of a program that it is about to run.

    digest: a hash of the program. at: the user's line. values: a checksum of the program's inputs.
    placed: a checksum of all values that were split over the mesh before.
    """

    digest: str
    at: str
    values: int
    placed: int


class Circle:
    """The processes of a mesh, and what this one has run with them.

    checks: counts the programs that were compared. history: the last runs, each with the number of
    its program's check and the user's line.
    """

    def __init__(self, ranks: tuple[int, ...], own: int) -> None:
        self.ranks = ranks
        self.others = [rank for rank in ranks if rank != own]
        self.name = _digest(repr(ranks), 8)
        self.checks = count()
        self.runs = 0
        self.placed = 0
        self.history: deque[tuple[int, int, str]] = deque(maxlen=REMEMBERED_RUNS)


class Member:
    """This process among the others.

    circle: the processes of the last program that it was about to run. at: the user's line of that.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.has_failed = False
        self.runs = 0
        self.at = ""
        self.circle = self._circle(tuple(range(cluster.size)))
        self.messages: Messages
        self.heartbeats: Heartbeats
        self._meetings = count()
        self._noted = 0.0

    @cache  # noqa: B019  there is one member in a process
    def _circle(self, ranks: tuple[int, ...]) -> Circle:
        return Circle(ranks, self.cluster.rank)

    @cache  # noqa: B019
    def circle_of(self, mesh: Mesh) -> Circle:
        """The processes whose devices a mesh has."""
        return self._circle(tuple(sorted({i // self.cluster.devices for i in mesh.devices})))

    def connect(self, messages: Messages) -> None:
        """Begin to listen to the others, and to speak."""
        self.messages = messages
        self.heartbeats = Heartbeats(messages, self.cluster.rank)
        self.now(RUNNING)

    def now(self, doing: str) -> None:
        """Say what this process does."""
        self.heartbeats.doing = doing
        self.heartbeats.beat(self.runs, self.at)

    def runs_now(self, circle: Circle, program: int, place: str) -> None:
        """Take note of a run. program: the number of the check that it passed."""
        self.circle, self.at = circle, place
        self.runs += 1
        circle.runs += 1
        circle.history.append((circle.runs, program, place))

    def agree(self, circle: Circle, text: str, place: str, values: int) -> int:
        """Compare a new program with the other processes'; the number of the check.

        Raises: ProcessError if one differs.
        """
        self.circle, self.at = circle, place
        number = next(circle.checks)
        circle.history.append((circle.runs + 1, number, place))
        mine = Claim(_digest(text, 16), place, values, circle.placed)
        folder = f"{CHECKS}/{circle.name}/{number}"
        self.messages.tell(f"{folder}/{self.cluster.rank}", json.dumps(mine))
        first = circle.ranks[0]
        for rank in circle.others if self.cluster.rank == first else [first]:
            theirs = Claim(*json.loads(self._awaited(f"{folder}/{rank}")))
            if theirs != mine:
                raise self._differs(f"{folder}.texts", rank, theirs, mine, text)
        return number

    def meet(self) -> None:
        """Return when all processes have called this. Raises: ProcessError if one does not come."""
        self.circle = self._circle(tuple(range(self.cluster.size)))
        folder = f"{MEETINGS}/{next(self._meetings)}"
        self.messages.tell(f"{folder}/{self.cluster.rank}", "")
        for rank in self.circle.others:
            self._awaited(f"{folder}/{rank}")

    def _differs(
        self, folder: str, rank: int, theirs: Claim, mine: Claim, text: str
    ) -> ProcessError:
        """The error for a program that is not that of another process."""
        self.has_failed = True
        if theirs.digest == mine.digest:
            said = f"process {rank} has other values for the program of {mine.at}"
            cure = "each process must give a program the same: seed what is random, or give each "
            return ProcessError(f"{said}: {cure}its own part by lazytensor.from_local")
        self.messages.tell(f"{folder}/{self.cluster.rank}", text)
        other = self.messages.heard(f"{folder}/{rank}", ANSWER_SECONDS)
        found = "" if other is None else _first_difference(text, other)
        return self._other_program(mine.at, rank, theirs.at, found)

    def _other_program(self, here: str, rank: int, there: str, shown: str = "") -> ProcessError:
        self.has_failed = True
        where = f"process {self.cluster.rank} runs the program of {here}, {rank} that of {there}"
        return ProcessError(f"{where}: {SAME}{shown}")

    def _awaited(self, name: str) -> str:
        """A message of another process, waited for like a run."""
        start = time.monotonic()
        while (found := self.messages.heard(name, BEFORE_A_LOOK)) is None:
            self.waiting(time.monotonic() - start)
        return found

    def waiting(self, seconds: float) -> None:
        """Raises: ProcessError if a wait, so long by now, is in vain."""
        if seconds < BEFORE_A_LOOK:
            return
        beats = self.heartbeats.heard()
        if (lost := self._lost(beats)) is not None:
            raise lost
        if seconds > BEFORE_A_COMPARISON:
            self._compare_histories()
        there = [rank for rank in self.circle.others if rank in beats]
        if not there:
            return
        slowest = min(there, key=lambda rank: beats[rank].runs)
        self._note(seconds, slowest, beats[slowest])
        is_compiling = beats[slowest].doing == COMPILING
        if seconds > (LONGEST_COMPILE if is_compiling else settings.peer_timeout):
            raise self._absent(slowest, beats[slowest], f"has not come for {seconds:.0f} s")

    def _note(self, seconds: float, slowest: int, beat: Beat) -> None:
        """Say on standard error what is waited for, once in a while."""
        if seconds > BEFORE_A_NOTE and time.monotonic() - self._noted > NOTES_APART:
            self._noted = time.monotonic()
            text = f"waits for process {slowest}, which is {beat.doing} {beat.at or 'nothing yet'}"
            print(f"lazytensor: {self.at}: {text}", file=sys.stderr, flush=True)

    def _compare_histories(self) -> None:
        """Raises: ProcessError if a process that waits, too, has run another program than this."""
        folder = f"{HISTORIES}/{self.circle.name}"
        self.messages.tell(f"{folder}/{self.cluster.rank}", json.dumps(list(self.circle.history)))
        mine = {run: (program, at) for run, program, at in self.circle.history}
        for rank, text in self.messages.told(folder).items():
            for run, program, at in json.loads(text):
                if run in mine and mine[run][0] != program:
                    raise self._other_program(mine[run][1], int(rank), at)

    def _lost(self, beats: dict[int, Beat]) -> ProcessError | None:
        """The error for a process that has ended, if one has that this one needs."""
        for rank in self.circle.others:
            reason = self.heartbeats.end_of(rank)
            beat = beats.get(rank)
            is_one = len(self.circle.ranks) == self.cluster.size
            if is_one and beat is not None and beat.doing == LEAVING and beat.runs < self.runs:
                reason = reason or "is leaving"
            if reason:
                return self._absent(rank, beat, reason)
        return None

    def _absent(self, rank: int, beat: Beat | None, reason: str) -> ProcessError:
        self.has_failed = True
        who, last = f"process {rank}", ""
        if beat is not None:
            who = f"{who} ({beat})"
            last = f"; its last line was {beat.at}" if beat.at else "; it has run nothing yet"
        return ProcessError(f"{who} {reason}{last}; this process waits at {self.at}")

    def failed(self, error: Exception) -> Exception:
        """The error to raise in place of XLA's."""
        self.has_failed = True
        end = time.monotonic() + SILENCE + BEATS_APART
        is_cut = any(word in str(error) for word in ("closed", "reset", "refused", "imed out"))
        while time.monotonic() < end:
            if (lost := self._lost(self.heartbeats.heard())) is not None:
                return lost
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
        member.connect(backend().join(cluster, seconds, member))
    except BaseException:
        processes.joined.clear()
        raise
    if settings.tier == "auto":
        settings.tier = "compile"
    members.append(member)
    threading.Thread(target=_beat, args=(member,), daemon=True, name="heartbeats").start()
    atexit.register(_leave, member)


def _beat(member: Member) -> None:
    with suppress(ProcessError):  # the coordinator has gone: whoever waits hears of it
        while member.heartbeats.doing != LEAVING:
            member.heartbeats.beat(member.runs, member.at)
            time.sleep(BEATS_APART)


def agree(mesh: Mesh, text: str, place: Place | None, values: Iterable[np.ndarray]) -> int:
    """Check that a mesh's processes run this program next, with these values. The check's number.

    Raises: ProcessError.
    """
    checksum = 0
    for value in values:
        checksum = _checksum(value, checksum)
    member = members[0]
    return member.agree(member.circle_of(mesh), text, describe(place), checksum)


def meet() -> None:
    """Return when all processes have called this. Raises: ProcessError if one does not come."""
    for member in members:
        member.meet()


def placed(value: np.ndarray, mesh: Mesh) -> None:
    """Take note of a value that each process has split over a mesh: it is to be the same."""
    for member in members:
        circle = member.circle_of(mesh)
        circle.placed = _checksum(value, circle.placed)


def _digest(text: str, size: int) -> str:
    """A hash of a text, of `size` bytes."""
    from hashlib import blake2b  # here, so that `import lazytensor` stays cheap

    return blake2b(text.encode(), digest_size=size).hexdigest()


def _checksum(value: np.ndarray, start: int) -> int:
    said = zlib.crc32(f"{value.dtype} {value.shape}".encode(), start)
    most = max(1, CHECKED_BYTES // value.dtype.itemsize)
    return zlib.crc32(value.reshape(-1)[:most].tobytes(), said)


def runs(mesh: Mesh, program: int, place: Place | None) -> None:
    """Take note of a program over a mesh that starts to run. program: the number of its check."""
    for member in members:
        member.runs_now(member.circle_of(mesh), program, describe(place))


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


def _leave(member: Member) -> None:
    """Wait for the runs under way, and say goodbye. A process that has failed waits for nothing."""
    from lazytensor.core.runtime import attendance

    try:
        member.now(LEAVING)
        if not member.has_failed:
            attendance.wait_for_all()
        member.heartbeats.finish()
    except Exception as error:  # noqa: BLE001  it is the last thing that this process says
        print(f"lazytensor: {error}", file=sys.stderr)
        member.has_failed = True
    if member.has_failed:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # XLA would wait for runs that never end
