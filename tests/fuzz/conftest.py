"""The same fresh start as for the tests of the core, before every random program."""

import pytest

from lazytensor.core import alignment, cell, runtime
from tests.core.conftest import fresh

__all__ = ["fresh"]


@pytest.fixture(autouse=True)
def bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back the bounds that random programs move."""
    for module, name in [
        (runtime, "LARGEST"),
        (cell, "ELEMENTS_BOUND"),
        (alignment, "MOST_NODES"),
    ]:
        monkeypatch.setattr(module, name, getattr(module, name))
