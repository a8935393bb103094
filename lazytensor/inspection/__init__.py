"""What a user sees of the core's work: explanations, graphs, timelines, logs, notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lazytensor.inspection.explanation import Explanation


def explain() -> Explanation:
    """What happened since the start, or `metrics.reset`; print it.

    Each cut with the line that asked for it; each new program with what changed against the nearest
    known one, and the line that changed it; lines that compile again and again; what to write
    instead. `.record()` gives the same as plain data.
    """
    # Imported where they are used: `import lazytensor` should cost little.
    from lazytensor.core.events import Event, Fallback, events, fallbacks
    from lazytensor.inspection.explanation import Explanation

    happened: list[Event | Fallback] = [*events, *fallbacks]
    return Explanation((event, event.place) for event in happened)
