"""Runs one of NumPy's test modules in a process of its own, and says what became of its tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.wheel.selection import HERE, SITE

LAZY: Final = "lazytensor.numpy"
PROJECT: Final = HERE.parents[1]


@dataclass(frozen=True)
class Outcomes:
    """What became of the tests of one module.

    `tests`: per id `passed`, `failed`, `skipped`, or `expected` for a failure that the table of
    exceptions has. `reasons`: per failed test its error. `output`: what pytest printed.
    """

    tests: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    output: str = ""

    @property
    def counts(self) -> Counter[str]:
        """How many tests came to which end."""
        return Counter(self.tests.values())

    def passed(self) -> set[str]:
        """The tests that passed."""
        return {test for test, outcome in self.tests.items() if outcome == "passed"}


def run(module: str, numpy: str = LAZY, *, slow: bool = True) -> Outcomes:
    """Run the tests of `module`, a path in NumPy's package, with the package `numpy` as NumPy."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "outcomes.json")
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", str(SITE / "numpy" / module)]
        command += [f"--config-file={HERE / 'settings.ini'}", f"--rootdir={SITE}"]
        command += [f"--in-place-of-numpy={numpy}", f"--outcomes={report}"]
        command += [] if slow else ["-m", "not slow"]
        done = subprocess.run(
            command,
            env=_environment(folder),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        output = done.stdout + done.stderr
        if not report.exists():  # it crashed
            return Outcomes({module: "failed"}, {module: f"exit status {done.returncode}"}, output)
        found = json.loads(report.read_text())
        return Outcomes(found["outcomes"], found["reasons"], output)


def _environment(folder: str) -> dict[str, str]:
    """The interpreter tier, as hardly a test does the same thing twice; no tests of big arrays."""
    paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "LAZYTENSOR_TIER": os.environ.get("LAZYTENSOR_TIER", "interpret"),
        "LAZYTENSOR_CACHE_DIR": folder,
        "LAZYTENSOR_SMALL": "0",
        "NPY_AVAILABLE_MEM": "1G",
        "OPENBLAS_NUM_THREADS": "1",
    }
