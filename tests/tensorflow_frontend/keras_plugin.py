"""Runs each test of Keras's own with a lazy TensorFlow; one that falls back does not pass."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

LAZY = os.environ.get("LAZYTENSOR_KERAS", "1") != "0"
counts = {"nodes": 0, "fallbacks": 0}


def pytest_configure(config: Any) -> None:
    """Know Keras's markers, and do not run twice what needs a GPU."""
    for name in ("requires_trainable_backend", "multi_device"):
        config.addinivalue_line("markers", f"{name}: Keras's own")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """The test itself, not its setting up, is lazy."""
    if not LAZY:
        yield
        return
    import lazytensor.tf
    from lazytensor import metrics
    from lazytensor.core import events

    warnings.simplefilter("ignore")
    before, nodes = metrics.counts["fallbacks"], metrics.snapshot()["nodes"]
    events.fallbacks.clear()
    lazytensor.tf.enable()
    outcome = yield
    lazytensor.tf.disable()
    counts["nodes"] += int(metrics.snapshot()["nodes"] - nodes)
    fell = metrics.counts["fallbacks"] - before
    counts["fallbacks"] += fell
    if fell and outcome.excinfo is None:
        names = sorted({event.name for event in events.fallbacks})
        item.user_properties.append(("fallbacks", " ".join(names)))


def pytest_runtest_logreport(report: Any) -> None:
    """Name what fell back."""
    for name, value in report.user_properties:
        if name == "fallbacks" and report.when == "call":
            print(f"FALLBACK {report.nodeid} {value}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How much was recorded: a pass in which nothing was proves nothing."""
    shown = f"nodes recorded {counts['nodes']}, fallbacks {counts['fallbacks']}"
    terminalreporter.write_line(shown)
