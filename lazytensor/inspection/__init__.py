"""Views of the core's work for users: explanations, graphs, timelines, logs, notebooks."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lazytensor.inspection.explanation import Explanation
    from lazytensor.inspection.timeline import Timeline


def explain() -> Explanation:
    """What happened since the start or the last `metrics.reset`, to be printed.

    Each cut with the line that asked for it; each new program with its change against the nearest
    known one, and the line that changed it; lines that compile again and again; what to write
    instead. `.record()` gives the same as plain data.
    """
    # Imported here, so that `import lazytensor` stays cheap.
    from lazytensor.core.observe.events import Event, Fallback, events, fallbacks
    from lazytensor.inspection.explanation import Explanation

    happened: list[Event | Fallback] = [*events, *fallbacks]
    return Explanation((event, event.place) for event in happened)


def profile(path: str | os.PathLike[str]) -> AbstractContextManager[Timeline]:
    """Write a timeline of a block to `path`, for chrome://tracing or https://ui.perfetto.dev.

    It has recording, cutting, lowering, compiling, running and transfers, by thread, with the lines
    that caused them, and a mark at the end of each step. Each program is waited for where it is
    started. `jax.profiler` may be on at the same time.
    """
    from lazytensor.inspection.timeline import profiled

    return profiled(path)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext lazytensor`: the magic `%%lazy`, and rich display."""
    from lazytensor.inspection.notebook import load

    load(shell)
