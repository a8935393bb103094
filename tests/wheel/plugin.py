"""A pytest plugin under which NumPy's own test modules import another NumPy.

It is loaded by `runner.py` in a process of its own: NumPy's tests keep their own settings there.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import numpy
import pytest

import lazytensor.numpy
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.swap import swap
from tests.wheel.selection import SITE, table


def is_numpys_test(namespace: Mapping[str, Any], frame: FrameType) -> bool:
    """Whether code with these globals is one of NumPy's test modules."""
    file = namespace.get("__file__")
    return (
        isinstance(file, str)
        and file.startswith(str(SITE / "numpy"))
        and os.path.basename(os.path.dirname(file)) == "tests"
    )


class Suite:
    """Swaps NumPy for the modules of NumPy's tests, and keeps what became of each test."""

    def __init__(self, replacement: str, report: Path) -> None:
        self.replacement = replacement
        self.report = report
        self.outcomes: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.exceptions: set[str] = set()

    def pytest_configure(self, config: pytest.Config) -> None:
        if self.replacement == "numpy":
            return
        warnings.simplefilter("ignore", LazyTensorWarning)
        config.addinivalue_line(
            "filterwarnings", "ignore::lazytensor.core.errors.LazyTensorWarning"
        )
        config.add_cleanup(swap(replacement=self.replacement, owned=is_numpys_test))

    @pytest.hookimpl(tryfirst=True)  # before those that `-m` leaves out are gone
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        left_out, exceptions = table("left_out"), table("exceptions")
        tests = [item.nodeid for item in items]
        for stale in [*left_out.unused(tests), *exceptions.unused(tests)]:
            self.outcomes[stale] = "failed"
            self.reasons[stale] = "NumPy has no such test: delete the line"
        items[:] = [item for item in items if left_out.find(item.nodeid) is None]
        if self.replacement == "numpy":
            return
        for item in items:
            name = exceptions.find(item.nodeid)
            if name is not None:
                self.exceptions.add(item.nodeid)
                reason = exceptions.groups[name].reason
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    def pytest_runtest_setup(self) -> None:
        """Draw the same random numbers in every run: an exception is strict, so it always fails."""
        numpy.random.seed(0)
        lazytensor.numpy.random.seed(0)

    def pytest_runtest_teardown(self) -> None:
        """Compute what a test has left over, as no other test is to hear of its errors."""
        if self.replacement != "numpy":
            with contextlib.suppress(Exception):
                lazytensor.sync()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "passed" and report.when != "call":
            return
        outcome = report.outcome
        if report.nodeid in self.exceptions and outcome == "skipped":
            outcome = "expected"
        if self.outcomes.get(report.nodeid) != "failed":
            self.outcomes[report.nodeid] = outcome
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            self.reasons[report.nodeid] = crash.message if crash else str(report.longrepr)

    def pytest_sessionfinish(self) -> None:
        told = {"outcomes": self.outcomes, "reasons": self.reasons}
        self.report.write_text(json.dumps(told, indent=0))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--in-place-of-numpy", default="lazytensor.numpy", metavar="MODULE")
    parser.addoption("--outcomes", default=os.devnull, metavar="FILE")


def pytest_configure(config: pytest.Config) -> None:
    suite = Suite(config.getoption("--in-place-of-numpy"), Path(config.getoption("--outcomes")))
    config.pluginmanager.register(suite, "wheel")
