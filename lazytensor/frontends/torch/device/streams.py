"""Streams and events for portable programs: the device has one order of work.

Operations run in the order in which they are recorded. So nothing waits for a stream, and to
synchronize is to compute everything pending.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Final

from lazytensor.core.runtime import scheduler


class Stream:
    """The order in which work is done: all are the same one."""

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None: ...

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return hash(Stream)

    def synchronize(self) -> None:
        """Compute everything that this thread has pending, and wait for it."""
        scheduler.sync(cause="torch.lazytensor.Stream.synchronize()")

    def query(self) -> bool:
        """Always true: pending work is done once its result is asked for."""
        return True

    def wait_event(self, event: Any) -> None:
        """Do nothing: what was recorded before comes before."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: there is one order."""

    def record_event(self, event: Event | None = None) -> Event:
        """The event, or a new one, recorded here."""
        made = Event() if event is None else event
        made.record(self)
        return made


class Event:
    """A place in the order of work. With `enable_timing` the work before it is done at once."""

    def __init__(self, enable_timing: bool = False, *_: Any, **options: Any) -> None:
        self.timed = enable_timing
        self.time: float | None = None

    def record(self, stream: Any = None) -> None:
        """Place the event here in the order of work."""
        if self.timed:
            self.synchronize()
        self.time = perf_counter()

    def synchronize(self) -> None:
        """Compute everything that this thread has pending, and wait for it."""
        scheduler.sync(cause="torch.lazytensor.Event.synchronize()")

    def query(self) -> bool:
        """Always true: pending work is done once its result is asked for."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Do nothing: what was recorded before comes before."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this one to the other. Raises: ValueError without times."""
        if self.time is None or end_event.time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not self.timed or not end_event.timed:
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        return (end_event.time - self.time) * 1e3


_only: Final = Stream()


def current_stream(device: Any = None) -> Stream:
    """The only one."""
    return _only


default_stream: Final = current_stream


def set_stream(stream: Any) -> None:
    """Do nothing: there is one order."""


def stream(stream: Any) -> Stream:
    """`with torch.lazytensor.stream(s):`, which changes nothing."""
    return _only
