"""`numpy.fft`: what NumPy gives, or raises."""

from __future__ import annotations

import pytest

from lazytensor.core.settings import settings
from tests.numpy.expressions import assert_equal, table


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "interpret")


@pytest.mark.parametrize("line", table("fft"))
def test_as_numpy(line: str) -> None:
    assert_equal(line)
