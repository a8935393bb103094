"""A pytest plugin that runs each of Keras's own tests with a lazy TensorFlow, or without.

A test that falls back to TensorFlow fails. How many operations each recorded is kept: one that
recorded none proves nothing.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.keras_wheel.selection import HERE
from tests.wheel.suite import Suite
from tests.wheel.table import read


class Kerass(Suite):
    """Records what happens in the body of each test."""

    def __init__(self, report: Path, *, lazily: bool) -> None:
        tables = (read(HERE / f"{name}.toml", "keras/src") for name in ("left_out", "exceptions"))
        super().__init__(report, *tables, lazily=lazily)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Iterator[None]:
        """Tests are lazy, their collection is not. Turning it off and on for each costs seconds."""
        if not self.lazily:
            return (yield)
        import lazytensor.tf

        with lazytensor.tf.enabled():
            return (yield)

    def pytest_runtest_setup(self) -> None:
        """Draw the same random numbers in every run: an exception is strict, so it always fails."""
        import keras

        keras.utils.set_random_seed(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Computes what a test has left pending, and fails it for a fallback."""
        if not self.lazily:
            return (yield)
        from lazytensor import metrics, sync
        from lazytensor.core.ir.recording import nodes_made
        from lazytensor.core.observe import events

        events.fallbacks.clear()
        before, made = metrics.counts["fallbacks"], nodes_made()
        try:
            result = yield
            sync()
        finally:
            self.recorded[item.nodeid] = nodes_made() - made
        names = sorted({event.name for event in events.fallbacks})
        assert metrics.counts["fallbacks"] == before, f"falls back to TensorFlow for {names}"
        return result


def _settings() -> ModuleType:
    """What Keras's tests import of the settings in its repository, which its wheel has not."""
    module = ModuleType("conftest")

    def skip_if_backend(name: str, reason: str) -> Any:
        return pytest.mark.skipif(name == "tensorflow", reason=reason)

    vars(module)["skip_if_backend"] = skip_if_backend
    return module


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--eagerly", action="store_true", help="with TensorFlow as it is")
    parser.addoption("--outcomes", default=os.devnull, metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    warnings.simplefilter("ignore")
    sys.modules["conftest"] = _settings()
    suite = Kerass(Path(config.getoption("--outcomes")), lazily=not config.getoption("--eagerly"))
    config.pluginmanager.register(suite, "keras-wheel")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "multi_device" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="needs more than one device"))
