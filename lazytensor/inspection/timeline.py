"""A timeline of lazytensor's work, in the format of Chrome's tracing and of Perfetto."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from lazytensor.core.ir.recording import nodes_made
from lazytensor.core.ir.source_location import describe
from lazytensor.core.observe import events, metrics
from lazytensor.core.observe.events import Event, Fallback
from lazytensor.core.settings import settings

STEPS: Final = frozenset(["automatic cut", "sync()", "optimizer.step()", "optimizer.apply()"])
"""Causes of cuts that end a step of the user's loop."""
SHORTEST: Final = 1e-6
"""Seconds from which recording gets a slice."""


class Timeline:
    """Slices by thread: those of the metrics' timers, programs around them, and marks of steps.

    A thread's time between two programs is one slice: recording, and the user's own Python.
    """

    def __init__(self) -> None:
        """`_ends`: per thread the end of its last slice. `_begun`: the start of its program."""
        self.rows: list[dict[str, Any]] = []
        self._start = time.perf_counter()
        self._main = threading.get_native_id()
        self._ends: dict[int, float] = {self._main: self._start}
        self._begun: dict[int, float] = {}
        self._nodes = nodes_made()
        self._steps = 0

    @contextmanager
    def open(self) -> Iterator[Timeline]:
        """Record the block's events; each program is waited for where it is started."""
        waited, settings.wait = settings.wait, True
        metrics.tracers.append(self._span)
        events.listeners.append(self._event)
        try:
            yield self
        finally:
            metrics.tracers.remove(self._span)
            events.listeners.remove(self._event)
            settings.wait = waited

    def _span(self, name: str, start: float, end: float) -> None:
        thread = self._thread(start)
        if name == "cutting":
            self._begun[thread] = start
            self._recorded(thread, start)
        elif name == "interpreting":  # the host's share of a program that is run in parts
            self._begun.setdefault(thread, start)
        self._slice(name, "lazytensor", thread, start, end)
        self._ends[thread] = max(end, self._ends[thread])

    def _recorded(self, thread: int, until: float) -> None:
        """Add the slice of recording that a cut ends."""
        start, nodes = self._ends[thread], nodes_made()
        if until - start > SHORTEST and nodes > self._nodes:
            self._slice("recording", "python", thread, start, until, nodes=nodes - self._nodes)
        self._nodes = nodes

    def _event(self, event: Event | Fallback) -> None:
        end = time.perf_counter()
        thread = self._thread(end)
        # Use the timers' clock readings, so that the program's slice encloses theirs.
        start = self._begun.pop(thread, end - event.seconds)
        where = describe(event.place)
        if isinstance(event, Fallback):
            self._slice(event.name, "fallback", thread, start, end, line=where)
        else:
            said = {"line": where, "operations": event.size, "how": event.how}
            if event.reason:
                said["reason"] = event.reason
            self._slice(event.cause, "program", thread, start, end, **said)
            if event.cause in STEPS:
                self._mark(thread, end)
        self._ends[thread] = end

    def _mark(self, thread: int, at: float) -> None:
        self._steps += 1
        name = f"step {self._steps}"
        self._row(name, "step", thread, ph="i", ts=self._microseconds(at), s="t")

    def _thread(self, start: float) -> int:
        """The calling thread, named in the trace when it is first seen."""
        thread = threading.get_native_id()
        self._ends.setdefault(thread, start)
        return thread

    def _slice(
        self, name: str, kind: str, thread: int, start: float, end: float, **said: Any
    ) -> None:
        start = max(start, self._start)
        ts = self._microseconds(start)
        duration = self._microseconds(max(end, start)) - ts
        self._row(name, kind, thread, ph="X", ts=ts, dur=duration, args=said)

    def _row(self, name: str, kind: str, thread: int, **rest: Any) -> None:
        self.rows.append({"name": name, "cat": kind, "pid": os.getpid(), "tid": thread} | rest)

    def _microseconds(self, at: float) -> float:
        return round((at - self._start) * 1e6, 3)

    def text(self) -> str:
        """The trace, as JSON."""
        names = {thread.native_id: thread.name for thread in threading.enumerate()}
        pid = os.getpid()
        threads = [
            {
                "name": "thread_name", "ph": "M", "pid": pid, "tid": thread,
                "args": {"name": names.get(thread, f"thread {thread}")},
            }
            for thread in self._ends
        ]  # fmt: skip
        process = {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": "lazytensor"}}
        return json.dumps({"traceEvents": [process, *threads, *self.rows], "displayTimeUnit": "ms"})


@contextmanager
def profiled(path: str | os.PathLike[str]) -> Iterator[Timeline]:
    """Write the timeline of the block to a file, also if the block raises.

    Raises: OSError before the block if the file cannot be written.
    """
    path = Path(path).absolute()  # the block may change the folder
    path.open("a").close()
    timeline = Timeline()
    try:
        with timeline.open():
            yield timeline
    finally:
        path.write_text(timeline.text())
