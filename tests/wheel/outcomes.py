"""Runs tests of another package in a process of its own, and says what became of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcomes:
    """What became of tests.

    `tests`: per id `passed`, `failed`, `skipped`, or `expected` for a failure that the table of
    exceptions has. `reasons`: per failed test its error. `recorded`: per test how many operations
    it recorded. `output`: what pytest printed.
    """

    tests: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, int] = field(default_factory=dict)
    output: str = ""

    @property
    def counts(self) -> Counter[str]:
        """How many tests came to which end."""
        return Counter(self.tests.values())

    def passed(self) -> set[str]:
        """The tests that passed."""
        return {test for test, outcome in self.tests.items() if outcome == "passed"}


def outcomes(name: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Outcomes:
    """Run pytest, whose plugin is a `Suite`; `name` is what fails if the process crashes.

    Hardly a test does the same thing twice, so programs are interpreted.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "outcomes.json")
        command = [sys.executable, "-m", "pytest", "-q", "--tb=native", *arguments]
        command += [f"--outcomes={report}"]
        paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
        usual = {
            "PYTHONPATH": os.pathsep.join(paths),
            "LAZYTENSOR_TIER": os.environ.get("LAZYTENSOR_TIER", "interpret"),
            "LAZYTENSOR_CACHE_DIR": folder,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        done = subprocess.run(
            command,
            env=os.environ | usual | environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        output = done.stdout + done.stderr
        if not report.exists():  # it crashed
            return Outcomes({name: "failed"}, {name: f"exit status {done.returncode}"}, {}, output)
        return Outcomes(**json.loads(report.read_text()), output=output)
