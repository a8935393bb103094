"""What each of several processes says of itself, now and then, so that the others can tell why one
does not come."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from itertools import count
from typing import Final, NamedTuple

from lazytensor.core.device.processes import Messages

BEATS: Final = "beats"
FINISHED: Final = "finished"
"""Folders of messages: of each process what it does now, and that it has ended."""
RUNNING, COMPILING, LEAVING = "running", "compiling", "leaving"
"""What a process does."""
BEATS_APART: Final = 1.0
"""Seconds between two heartbeats."""
SILENCE: Final = 30.0
"""Seconds without a heartbeat after which a process of another machine is taken for dead."""


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

    def __str__(self) -> str:
        return f"{self.home.split()[0]}, pid {self.pid}"


def _home() -> str:
    """This machine and its set of process numbers, as a container may have its own."""
    import socket  # here, so that `import lazytensor` stays cheap

    with suppress(OSError):
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()


def _born(pid: int) -> str:
    """When the process of this number was started, in clock ticks; "" if it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


class Heartbeats:
    """This process's heartbeats, and those that it has heard. rank: this process's number."""

    def __init__(self, messages: Messages, rank: int) -> None:
        self.doing = RUNNING
        self._messages, self._rank = messages, rank
        self._numbers = count()
        self._heard: dict[int, tuple[Beat, float]] = {}

    def beat(self, runs: int, at: str) -> None:
        """Say what this process does."""
        pid = os.getpid()
        said = Beat(next(self._numbers), _home(), pid, _born(pid), self.doing, runs, at)
        self._messages.tell(f"{BEATS}/{self._rank}", json.dumps(said))

    def finish(self) -> None:
        """Say that this process has ended, and with what exception if there is an uncaught one."""
        error = getattr(sys, "last_value", None)
        words = "" if error is None else f"with {type(error).__name__}: {error}"
        self._messages.tell(f"{FINISHED}/{self._rank}", words.partition("\n")[0])

    def heard(self) -> dict[int, Beat]:
        """The last heartbeat of each process that has said anything, this one included."""
        now = time.monotonic()
        for rank, text in self._messages.told(BEATS).items():
            beat = Beat(*json.loads(text))
            last = self._heard.get(int(rank))
            if last is None or last[0] != beat:
                self._heard[int(rank)] = beat, now
        return {rank: beat for rank, (beat, _) in self._heard.items()}

    def end_of(self, rank: int) -> str:
        """In words, that a process has ended, and how; "" if it may live."""
        if rank not in self._heard:
            return ""
        finished = self._messages.told(FINISHED)
        if str(rank) in finished:
            return f"has ended {finished[str(rank)]}".rstrip()
        beat, when = self._heard[rank]
        if beat.is_gone():
            return "has died"
        if time.monotonic() - when > SILENCE:
            return f"has said nothing for {SILENCE:.0f} s"
        return ""
