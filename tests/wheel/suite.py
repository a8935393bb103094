"""What pytest plugins that run another package's tests have in common."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from tests.wheel.table import Table


class Suite:
    """Marks the tests that are to fail, and keeps what became of each.

    `lazily`: whether the tests run with our frontend, which is what exceptions are known of.
    """

    def __init__(self, report: Path, left_out: Table, exceptions: Table, *, lazily: bool) -> None:
        self.report = report
        self.left_out = left_out
        self.exceptions = exceptions
        self.lazily = lazily
        self.tests: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.recorded: dict[str, int] = {}
        self.expected: set[str] = set()

    @pytest.hookimpl(tryfirst=True)  # before those that `-m` leaves out are gone
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        tests = [item.nodeid for item in items]
        for stale in [*self.left_out.unused(tests), *self.exceptions.unused(tests)]:
            self.tests[stale] = "failed"
            self.reasons[stale] = "there is no such test: delete the line"
        items[:] = [item for item in items if self.left_out.find(item.nodeid) is None]
        if not self.lazily:
            return
        for item in items:
            name = self.exceptions.find(item.nodeid)
            if name is not None:
                self.expected.add(item.nodeid)
                reason = self.exceptions.groups[name].reason
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    def pytest_collection_finish(self) -> None:
        """Spare each full collection what is imported and collected, and there for good."""
        gc.collect()
        gc.freeze()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "passed" and report.when != "call":
            return
        outcome = str(report.outcome)
        if report.nodeid in self.expected and outcome == "skipped":
            outcome = "expected"
        if self.tests.get(report.nodeid) != "failed":
            self.tests[report.nodeid] = outcome
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            self.reasons[report.nodeid] = crash.message if crash else str(report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.tests[report.nodeid] = "failed"
            self.reasons[report.nodeid] = str(report.longrepr)

    def pytest_sessionfinish(self) -> None:
        told = {"tests": self.tests, "reasons": self.reasons, "recorded": self.recorded}
        self.report.write_text(json.dumps(told, indent=0))
