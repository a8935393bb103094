"""The text of `lazytensor.explain()`: cuts, compiles with what changed, hot spots, advice."""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.source_location import line_of
from lazytensor.core.observe.events import EVENTS_KEPT, Event, Fallback, changes, listeners
from lazytensor.core.observe.recompile_reason import FIRST_RUN, MEASURED, RUN_AGAIN, Change
from lazytensor.core.settings import settings
from lazytensor.inspection.advice import advice
from lazytensor.inspection.asking import asked
from lazytensor.inspection.exchanges import described
from lazytensor.inspection.finding import Finding
from lazytensor.inspection.ledger import Tally, own_frame
from lazytensor.inspection.source import Source, source

HOT: Final = 3
"""New programs from which a line is a hot spot."""
SHOWN: Final = 40
"""Largest number of compiles in the text; the record has all."""
Happened = tuple[Event | Fallback, Place | None]
"""An event, and the line of the user's code to which it counts."""


@contextmanager
def heard() -> Iterator[Collection[Happened]]:
    """The last `EVENTS_KEPT` events of the block, with the user's lines."""
    happened: deque[Happened] = deque(maxlen=EVENTS_KEPT)

    def hear(event: Event | Fallback) -> None:
        frame, _ = own_frame(sys._getframe(1))
        happened.append((event, None if frame is None else (frame.f_code, frame.f_lasti)))

    listeners.append(hear)
    try:
        yield happened
    finally:
        listeners.remove(hear)


class New(NamedTuple):
    """A program that was new: how it was run, its operations, and what had changed."""

    how: str
    size: int
    change: Change


@dataclass
class Line:
    """One of the user's lines: `cuts` by what asked for them, its new programs and fallbacks."""

    source: Source
    tally: Tally = field(default_factory=Tally)
    cuts: Counter[str] = field(default_factory=Counter)
    new: list[New] = field(default_factory=list)

    @property
    def changes(self) -> Counter[str]:
        """The kinds of change, first and repeated runs excluded."""
        kinds = (new.change.kind for new in self.new)
        return Counter(kind for kind in kinds if kind not in (FIRST_RUN, RUN_AGAIN, MEASURED))

    @property
    def is_hot(self) -> bool:
        """Whether the line repeatedly made new programs."""
        return self.changes.total() >= HOT

    @property
    def advice(self) -> dict[str, str]:
        """What to write instead, by the name of the row."""
        return advice(Finding(self.source, self.tally))

    def record(self) -> dict[str, Any]:
        """The same as plain data."""
        new = [
            {"how": n.how, "size": n.size, "kind": n.change.kind, "text": n.change.text}
            | dict(zip(("file", "line"), _where(n.change.place), strict=True))
            for n in self.new
        ]
        return {
            "file": self.source.file,
            "line": self.source.line,
            "text": self.source.text,
            "cuts": dict(self.cuts),
            "ways": dict(self.tally.ways),
            "new": new,
            "fallbacks": dict(self.tally.fallbacks),
            "hot": self.is_hot,
            "advice": self.advice,
        }


class Explanation:
    """Events by line of the user's code, in the order of each line's first event."""

    def __init__(self, happened: Iterable[Happened]) -> None:
        happened = list(happened)
        self.lines: dict[tuple[str, int], Line] = {}
        events = [(event, place) for event, place in happened if isinstance(event, Event)]
        self.meshes = Counter(event.program for event, _ in events if event.program.meshes)
        new = (change for _, change in changes(event for event, _ in events))
        for (event, place), change in zip(events, new, strict=True):
            self._cut(event, place, change)
        for fallback, place in happened:
            if isinstance(fallback, Fallback):
                tally = self._line(place).tally
                tally.fallbacks[fallback.name] += 1
                tally.seconds += fallback.seconds

    def _line(self, place: Place | None) -> Line:
        found = Source("", 0) if place is None else source(*place)
        return self.lines.setdefault((found.file, found.line), Line(found))

    def _cut(self, event: Event, place: Place | None, change: Change | None) -> None:
        line = self._line(place)
        here = line.source if place is None else source(*place)
        line.cuts[asked(event.cause, here)] += 1
        tally = line.tally
        tally.seconds += event.seconds
        tally.cuts[event.cause] += 1
        tally.ways[event.how] += 1
        if change is not None:
            line.new.append(New(event.how, event.size, change))
            into = tally.changes if event.how == "compiled" else tally.new
            into[change.kind] += 1
            if event.how == "compiled":
                tally.reasons[str(change)] += 1

    def record(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"lines": [line.record() for line in self.lines.values()]}

    def __str__(self) -> str:
        if not self.lines:
            small = f"; arrays of fewer than {settings.small} elements are not lazy"
            return f"nothing was cut yet{small if settings.small else ''}"
        return "\n".join(self._text())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from lazytensor.inspection.display import of_text

        return of_text(str(self))

    def _text(self) -> Iterator[str]:
        lines = list(self.lines.values())
        yield _summary(lines)
        yield from _section("Cuts, and what asked for them", _cuts(lines))
        yield from _section("Programs that were new, and what had changed", _news(lines))
        yield from _section("Recompilation hot spots", _hot_spots(lines))
        yield from _section("Fallbacks", _fallbacks(lines))
        yield from _section("Exchanges between devices", described(self.meshes))
        yield from _section("Advice", _advice(lines))


def _section(title: str, rows: Iterator[str]) -> Iterator[str]:
    rows_found = list(rows)
    if rows_found:
        yield f"\n{title}"
        yield from rows_found


def _summary(lines: list[Line]) -> str:
    ways: Counter[str] = Counter()
    for line in lines:
        ways.update(line.tally.ways)
    fallbacks = sum(line.tally.fallbacks.total() for line in lines)
    said = [f"{ways.total()} program{'s' * (ways.total() != 1)} run"]
    said += [f"{n} {way}" for way, n in ways.most_common()]
    said += [f"{fallbacks} call{'s' * (fallbacks != 1)} not lazy"] if fallbacks else []
    return ", ".join(said)


def _cuts(lines: list[Line]) -> Iterator[str]:
    for line in lines:
        for text, times in line.cuts.items():
            yield f"{times:>6} × {where(line.source)}: {text}"
        if line.cuts and line.source.text:
            yield f"           {line.source.text}"


def _news(lines: list[Line]) -> Iterator[str]:
    left = SHOWN
    for line in lines:
        numbers = Counter((n.how, n.size, n.change) for n in line.new)
        for (how, size, change), times in numbers.items():
            if left > 0:
                operations = f"{size} operation{'s' * (size != 1)}"
                yield f"{times:>6} × {where(line.source)}: {operations}, {how}"
                yield f"           {change.text}{_at(change.place)}"
            left -= 1
    if left < 0:
        yield f"       and {-left} more (`lazytensor explain --json FILE` has them)"


def _at(place: Place | None) -> str:
    if place is None:
        return ""
    found = source(*place)
    return f", {where(found)}: {found.text}" if found.text else f", {where(found)}"


def _hot_spots(lines: list[Line]) -> Iterator[str]:
    for line in sorted(lines, key=lambda line: -len(line.new)):
        if line.is_hot:
            kinds = ", ".join(f"{n} × {kind}" for kind, n in line.changes.most_common())
            yield f"  {where(line.source)}: {len(line.new)} programs: {kinds}"
            last = next(new for new in reversed(line.new) if new.change.kind in line.changes)
            yield f"           the last: {last.change.text}{_at(last.change.place)}"


def _fallbacks(lines: list[Line]) -> Iterator[str]:
    for line in lines:
        for name, times in line.tally.fallbacks.items():
            yield f"{times:>6} × {where(line.source)}: {name} is not lazy"


def _advice(lines: list[Line]) -> Iterator[str]:
    """Each advice once, with the lines that it is for."""
    wanted: dict[str, list[str]] = {}
    for line in lines:
        for name, text in line.advice.items():
            if name not in ("work", "first"):
                wanted.setdefault(text, []).append(where(line.source))
    for text, places in wanted.items():
        more = f" and {len(places) - 3} more lines" if len(places) > 3 else ""
        yield f"  {', '.join(places[:3])}{more}: {text}"


def where(found: Source) -> str:
    """`file.py:12`, as a relative path below the current folder."""
    if not found.file:
        return "outside of your files"
    near = os.path.relpath(found.file) if os.path.isabs(found.file) else found.file
    return f"{found.file if near.startswith('..') else near}:{found.line}"


def _where(place: Place | None) -> tuple[str, int]:
    return ("", 0) if place is None else (place[0].co_filename, line_of(place))
