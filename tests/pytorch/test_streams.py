"""Streams, events and `torch.accelerator`: programs that synchronize run as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import lazytensor.torch  # noqa: F401 -- registers the device
from lazytensor import metrics

there: Any = torch.lazytensor  # type: ignore[attr-defined]

WAITS: dict[str, Callable[[], Any]] = {
    "the accelerator": torch.accelerator.synchronize,
    "the accelerator, by index": lambda: torch.accelerator.synchronize(0),
    "the device": there.synchronize,
    "a stream": lambda: there.current_stream().synchronize(),
    "an event": lambda: there.Stream().record_event().synchronize(),
    "an event with times": lambda: there.Event(enable_timing=True).record(),
}


@pytest.mark.parametrize("name", WAITS)
def test_who_waits_has_everything_computed(name: str) -> None:
    x = torch.ones(3, device="lazytensor") * 2
    metrics.reset()
    WAITS[name]()
    assert metrics.snapshot()["cuts"] == 1
    assert x.tolist() == [2, 2, 2]
    assert metrics.snapshot()["cuts"] == 1


def test_streams_change_nothing() -> None:
    side = there.Stream()
    side.wait_stream(there.current_stream())
    with there.stream(side):
        x = torch.ones(3, device="lazytensor") * 2
    there.current_stream().wait_stream(side)
    event = side.record_event()
    event.wait()
    assert event.query()
    assert side.query()
    assert side == there.default_stream()
    assert x.tolist() == [2, 2, 2]


def test_events_measure_the_work_between_them() -> None:
    start, end = (there.Event(enable_timing=True) for _ in range(2))
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    x = torch.ones(3, device="lazytensor") * 2
    end.record()
    assert start.elapsed_time(end) > 0
    assert x.tolist() == [2, 2, 2]
    end = there.Event()
    end.record()
    with pytest.raises(ValueError, match="enable_timing"):
        start.elapsed_time(end)
