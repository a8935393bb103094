"""Calls that torch's own tables say are refused: the device refuses each as the CPU does."""

from __future__ import annotations

import pytest

from lazytensor.core.settings import settings
from tests.pytorch.error_inputs import Refused, outcome, refused

WORDS = "torch expects these words of the CPU only, and the device's of others"
WHICH = "a guard knows that an index is out of range, and not which"
GAPS: dict[str, str] = {
    "narrow_copy-1": WORDS,
    "narrow_copy-6": WORDS,
    "gather-4": WHICH,
    "scatter-3": WHICH,
    "scatter_add-3": WHICH,
}
"""Calls that the device refuses otherwise than the CPU, with the reason."""

CALLS = [one for one in refused() if not outcome(one, "cpu")]


@pytest.mark.parametrize("one", CALLS, ids=[one.name for one in CALLS])
def test_a_call_is_refused_as_on_the_cpu(one: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    said = outcome(one)
    if one.name in GAPS:
        assert said, f"{one.name} is refused: delete its line"
        pytest.xfail(GAPS[one.name])
    assert not said


def test_gaps_are_calls_of_the_tables() -> None:
    assert GAPS.keys() <= {one.name for one in CALLS}
    assert len(CALLS) > 700
