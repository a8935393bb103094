"""The cuts, compiles, fallbacks and seconds that a script's lines cause."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Final

from lazytensor.core.ir.library_files import is_hidden
from lazytensor.core.observe import events, metrics
from lazytensor.core.observe.events import Event, Fallback
from lazytensor.core.observe.recompile_reason import change
from lazytensor.core.runtime import program_cache
from lazytensor.core.settings import settings
from lazytensor.swap.ownership import is_users_file

NEAREST: Final = 8
"""Number of known programs with which a new one is compared, to say what is new in it."""

PARTS: Final = {
    "cutting": "cutting",
    "lowering": "compiling",
    "compiling": "compiling",
    "loading": "compiling",
    "running": "running",
    "transferring": "running",
    "interpreting": "running",
}
"""Per timer of the metrics: the part of a line's seconds to which it counts."""


@dataclass
class Tally:
    """The effects of one line.

    `cuts`: by cause. `ways`: how their programs were run. `reasons`, `changes`: of compiles, as
    texts and as kinds of change. `new`: programs interpreted for the first time, by kind of change.
    `foreign`: files of installed packages that the line called and that asked for values. `parts`:
    `seconds` by what they were spent on; `other` has no timer, and is mostly jax's import.
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
        """Add the effects of another place of the same line."""
        self.seconds += other.seconds
        for part, seconds in other.parts.items():
            self.parts[part] += seconds
        for name in ("cuts", "ways", "reasons", "changes", "new", "fallbacks", "foreign"):
            getattr(self, name).update(getattr(other, name))


Site = tuple[CodeType, int]
"""A code object, and the offset of an instruction in it."""


class Ledger:
    """Listens to the core's events, and counts each for the innermost line of the user's code."""

    def __init__(self) -> None:
        self.sites: dict[Site | None, Tally] = {}
        self._timers: dict[str, float] = {}

    @contextmanager
    def open(self) -> Iterator[None]:
        """Count a block's events; each program is waited for, so that its line gets its time."""
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
    """The innermost frame of the user's files, and the file of the innermost foreign frame."""
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
    """The kind of change that separates a program from the known ones."""
    known = [entry.program for entry in program_cache.cache.entries()[-NEAREST - 1 :]]
    return change(event.program, known).kind
