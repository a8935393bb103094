"""What tests of lowerings share."""

import pytest

from lazytensor.core.settings import settings


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile everything, keep nothing on disk."""
    monkeypatch.setattr(settings, "tier", "compile")
    monkeypatch.setattr(settings, "disk", False)
