"""Calls that the host framework answers: one account for every frontend."""

import warnings

import pytest

from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.observe import metrics
from lazytensor.core.observe.events import fallbacks
from lazytensor.core.observe.host_call import HostCall


def answer(name: str, warns: bool = True, times: int = 1) -> None:
    for _ in range(times):
        with HostCall(name, "test", "the host computes it", warns):
            pass


def test_each_call_counts_and_a_call_site_is_warned_of_once() -> None:
    metrics.reset()
    with pytest.warns(LazyTensorWarning, match=r"test\.f is not lazy yet") as said:
        answer("test.f", times=3)
    assert len(said) == 1
    assert metrics.counts["fallbacks"] == 3
    assert [event.name for event in fallbacks] == ["test.f"] * 3
    assert all(event.place is not None and event.seconds >= 0 for event in fallbacks)


def test_a_call_by_nature_of_its_own_counts_without_a_warning() -> None:
    metrics.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer("test.save", warns=False)
    assert metrics.counts["fallbacks"] == len(fallbacks) == 1


def test_a_call_that_the_host_refuses_is_no_fallback() -> None:
    metrics.reset()
    with pytest.raises(ValueError, match="refused"), HostCall("test.g", "test", "it computes"):
        raise ValueError("refused")
    assert metrics.counts["fallbacks"] == len(fallbacks) == 0
