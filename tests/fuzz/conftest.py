"""The same fresh start as for the tests of the core, before every random program."""

import pytest

from lazytensor.core.runtime import scheduler
from lazytensor.core.trace import automatic_cut
from tests.core.conftest import fresh

__all__ = ["fresh"]


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back the bounds that random programs move."""
    for module, name in [
        (scheduler, "PROGRAM_NODES_BOUND"),
        (automatic_cut, "PENDING_NODES_BOUND"),
    ]:
        monkeypatch.setattr(module, name, getattr(module, name))
