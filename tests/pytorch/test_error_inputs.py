"""Calls that torch's own tables say are refused: the device refuses each as the CPU does."""

from __future__ import annotations

import pytest

from lazytensor.core.settings import settings
from tests.pytorch.error_inputs import outcomes, sources
from tests.sweeps import one_in

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

SOURCES = sources()


@one_in(4)
@pytest.mark.parametrize("name", SOURCES)
def test_calls_are_refused_as_on_the_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    found = outcomes(SOURCES[name]())
    wrong = {call: said for call, said in found.items() if bool(said) != (call in GAPS)}
    assert not wrong, "a call of GAPS that is refused alike is to be taken off"
    assert found.keys() >= {call for call in GAPS if call.rpartition("-")[0] == name}


def test_gaps_are_of_entries_of_the_tables() -> None:
    assert {call.rpartition("-")[0] for call in GAPS} <= SOURCES.keys()
    assert len(SOURCES) > 100
