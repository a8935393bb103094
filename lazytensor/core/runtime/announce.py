"""A message while a compile takes long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.ir.source_location import describe
from lazytensor.core.settings import settings


@contextmanager
def announced(program: Program, place: Place | None) -> Iterator[None]:
    """Say on standard error that a compile is under way, once it has taken `slow_compile` s."""

    def say() -> None:
        print(
            f"lazytensor: compiling {program.size} operations for {describe(place)} …",
            file=sys.stderr,
            flush=True,
        )

    timer = threading.Timer(settings.slow_compile, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
