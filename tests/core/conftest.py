"""Every test of the core starts with an empty cache, in memory only."""

from collections.abc import Iterator

import pytest

from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.trace_state import Recorder
from lazytensor.core.observe import metrics
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.settings import settings


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile everything, keep nothing on disk; whatever a test sets is put back."""
    for name, value in {"tier": "compile", "disk": False, "programs": settings.programs}.items():
        monkeypatch.setattr(settings, name, value)
    forget()
    yield
    forget()


def forget() -> None:
    """As in a new process: no programs, nothing pending, no anchor, no counts."""
    cache.clear()
    thread.recorder = Recorder()
    metrics.reset()
