"""What a run of a script did behind its lines: cuts, compiles, fallbacks, and their seconds."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Final

from lazytensor.core.ir.source_location import is_hidden
from lazytensor.core.observe import events, metrics
from lazytensor.core.observe.events import Event, Fallback
from lazytensor.core.observe.recompile_reason import change
from lazytensor.core.runtime import program_cache
from lazytensor.core.settings import settings
from lazytensor.swap.ownership import is_users_file

NEAREST: Final = 8
"""Programs that a new one is compared with, to say what is new in it."""

PARTS: Final = {
    "cutting": "cutting",
    "lowering": "compiling",
    "compiling": "compiling",
    "loading": "compiling",
    "running": "running",
    "transferring": "running",
    "interpreting": "running",
}
"""Per timer of the metrics: the part of a line's seconds that it is."""


@dataclass
class Tally:
    """What one line caused.

    `cuts` by cause, `ways` in which their programs were run, `reasons` for compiles and kinds of
    `changes` behind them, `new`: programs interpreted for the first time, by the kind of what is
    new in them. `foreign`: files of installed
    packages that the line called and that asked for values. `parts`: `seconds` by what they were
    spent on; `other` is what no timer has: the import of jax, nearly all of it.
    """

    seconds: float = 0.0
    parts: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    cuts: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    foreign: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Add what another place of the same line caused."""
        self.seconds += other.seconds
        for part, seconds in other.parts.items():
            self.parts[part] += seconds
        for name in ("cuts", "ways", "reasons", "changes", "new", "fallbacks", "foreign"):
            getattr(self, name).update(getattr(other, name))


Site = tuple[CodeType, int]
"""A code object, and the offset of an instruction in it."""


class Ledger:
    """Listens to the core's events, and books each on the innermost line of the user's own."""

    def __init__(self) -> None:
        self.sites: dict[Site | None, Tally] = {}
        self._timers: dict[str, float] = {}

    @contextmanager
    def open(self) -> Iterator[None]:
        """Book what happens in a block; every program is waited for, as it is somebody's time."""
        waited, settings.wait = settings.wait, True
        self._timers = dict(metrics.seconds)
        events.listeners.append(self._hear)
        try:
            yield
        finally:
            events.listeners.remove(self._hear)
            settings.wait = waited

    def _hear(self, event: Event | Fallback) -> None:
        frame, foreign = own_frame(sys._getframe(2))
        site = None if frame is None else (frame.f_code, frame.f_lasti)
        tally = self.sites.get(site)
        if tally is None:
            tally = self.sites[site] = Tally()
        tally.seconds += event.seconds
        if foreign is not None:
            tally.foreign[foreign] += 1
        if isinstance(event, Fallback):
            tally.fallbacks[event.name] += 1
            tally.parts["fallbacks"] += event.seconds
            return
        self._book(tally, event)

    def _book(self, tally: Tally, event: Event) -> None:
        tally.cuts[event.cause] += 1
        tally.ways[event.how] += 1
        if event.change is not None:
            tally.reasons[event.reason] += 1
            tally.changes[event.change.kind] += 1
        elif event.how == "interpreted" and not event.runs:
            tally.new[_novelty(event)] += 1
        timed = 0.0
        for timer, part in PARTS.items():
            spent = metrics.seconds[timer] - self._timers.get(timer, 0.0)
            self._timers[timer] = metrics.seconds[timer]
            tally.parts[part] += spent
            timed += spent
        tally.parts["other"] += max(0.0, event.seconds - timed)


def own_frame(frame: FrameType | None) -> tuple[FrameType | None, str | None]:
    """The innermost frame of the user's own files, and the file of one inside it that is not."""
    first = foreign = None
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_hidden(file) and not file.startswith("<frozen"):
            if is_users_file(file):
                return frame, foreign
            first, foreign = first or frame, foreign or file
        frame = frame.f_back
    return first, None


def _novelty(event: Event) -> str:
    """The kind of what sets a program apart from those that were found before it."""
    known = [entry.program for entry in program_cache.cache.entries()[-NEAREST - 1 :]]
    return change(event.program, known).kind
