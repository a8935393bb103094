"""`LAZYTENSOR_LOG=cuts,compiles,fallbacks`: a line on standard error for each event."""

from __future__ import annotations

import sys
from collections.abc import Callable, Set
from typing import Final

from lazytensor.core.ir.source_location import describe
from lazytensor.core.observe.events import Event, Fallback, listeners


def _cut(event: Event | Fallback) -> str | None:
    if isinstance(event, Fallback):
        return None
    return f"{event.cause}: {_operations(event)}, {event.how}, {event.seconds * 1000:.1f} ms"


def _compile(event: Event | Fallback) -> str | None:
    if isinstance(event, Fallback) or event.how != "compiled":
        return None
    return f"{_operations(event)}: {event.reason}"


def _fallback(event: Event | Fallback) -> str | None:
    if isinstance(event, Event):
        return None
    return f"{event.name} is not lazy, {event.seconds * 1000:.1f} ms"


def _operations(event: Event) -> str:
    return f"{event.size} operation{'s' * (event.size != 1)}"


LINES: Final[dict[str, tuple[str, Callable[[Event | Fallback], str | None]]]] = {
    "compiles": ("compile", _compile),
    "cuts": ("cut", _cut),
    "fallbacks": ("fallback", _fallback),
}
"""Per name in the setting: the first word of its lines, and a function of an event to its text."""


def attach(names: Set[str]) -> None:
    """Print a line for each later event of these kinds."""
    rows = [row for name, row in LINES.items() if name in names]

    def listen(event: Event | Fallback) -> None:
        for word, line in rows:
            said = line(event)
            if said is not None:
                print(f"lazytensor {word} {describe(event.place)}: {said}", file=sys.stderr)

    listeners.append(listen)
