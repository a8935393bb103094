"""What happened: each cut, where it was caused and why it was compiled, and each fallback."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, NamedTuple

from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.observe.recompile_reason import DONATION, RUN_AGAIN, SCALAR, Change, change

EVENTS_KEPT: Final = 10_000
PROGRAMS_COMPARED: Final = 64
"""Programs that a new one is compared with."""


class Event(NamedTuple):
    """One program of a cut.

    `change` is why it was compiled; None if it was not. `seconds`: from the start of cutting it
    to its results, or until XLA had been told to run it (see `Settings.wait`). `runs`: how often
    the same program had run before.
    """

    place: Place | None
    cause: str
    program: Program
    how: str
    change: Change | None
    seconds: float
    runs: int

    @property
    def size(self) -> int:
        """Operations of the program."""
        return self.program.size

    @property
    def reason(self) -> str:
        """Why it was compiled, in words; empty if it was not."""
        if self.change is None:
            return ""
        again = self.runs and self.change.kind not in (SCALAR, DONATION)
        return f"{self.change}; interpreted {self.runs} times before" if again else str(self.change)


event_of: Final[Callable[[tuple[object, ...]], Event]] = partial(tuple.__new__, Event)
"""The event of a tuple of its fields, made in C: each cut makes one."""


class Fallback(NamedTuple):
    """One call that the host framework answered; `seconds` without the cut that it caused."""

    place: Place | None
    name: str
    seconds: float


events: Final[deque[Event]] = deque(maxlen=EVENTS_KEPT)
fallbacks: Final[deque[Fallback]] = deque(maxlen=EVENTS_KEPT)
listeners: Final[list[Callable[[Event | Fallback], None]]] = []
"""Called with each event as it happens, on the stack of the user's line that caused it."""


def record(event: Event | Fallback) -> None:
    """Keep an event, and tell the listeners."""
    if isinstance(event, Event):
        events.append(event)
    else:
        fallbacks.append(event)
    for listen in listeners:
        listen(event)


def clear() -> None:
    """Forget what happened."""
    events.clear()
    fallbacks.clear()


def changes(happened: Iterable[Event]) -> Iterator[tuple[Event, Change | None]]:
    """The events, each with what is new in its program if that was compiled, or was never seen.

    What was interpreted as new is compared here, and not where it happened: that takes time.
    """
    known: dict[Program, None] = {}
    for event in happened:
        program = event.program
        if event.change is not None:
            again = program in known and event.change.kind not in (SCALAR, DONATION)
            often = Change(RUN_AGAIN, f"interpreted {event.runs} times before") if again else None
            yield event, often or event.change
        elif program in known or event.runs or event.how not in ("interpreted", "loaded from disk"):
            yield event, None
        else:
            yield event, change(program, [*known][-PROGRAMS_COMPARED:])
        known[program] = None
