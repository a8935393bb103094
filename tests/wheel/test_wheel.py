"""NumPy's own tests, from the wheel that is installed, pass over lazy NumPy.

`python -m tests.wheel` says how many; `exceptions.toml` says which do not, and why.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from tests.sweeps import WHOLE
from tests.wheel.outcomes import Outcomes
from tests.wheel.runner import run
from tests.wheel.selection import MODULES, SITE

KNOWN = ("2.4", (3, 11))
ENOUGH = 0.97

pytestmark = [
    pytest.mark.skipif(
        (np.__version__.rpartition(".")[0], sys.version_info[:2]) != KNOWN,
        reason=f"exceptions are known of NumPy and Python {KNOWN}",
    ),
    pytest.mark.timeout(900),  # a module waits for those before it
]

Results = dict[str, Future[Outcomes]]


@pytest.fixture(scope="module")
def results() -> Iterator[Results]:
    """All modules, run at the side, as many at a time as there are processors."""
    pool = ThreadPoolExecutor(os.cpu_count())
    largest_first = sorted(MODULES, key=lambda name: -(SITE / "numpy" / name).stat().st_size)
    yield {module: pool.submit(run, module, whole=WHOLE) for module in largest_first}
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("module", MODULES)
def test_numpys_own_tests_pass(module: str, results: Results) -> None:
    found = results[module].result()
    failures = [f"{test}: {' '.join(why.split())[:300]}" for test, why in found.reasons.items()]
    assert not failures, "\n".join(failures)
    assert found.counts["passed"], found.output


def test_exceptions_are_few(results: Results) -> None:
    found = [result.result().counts for result in results.values()]
    passed, expected = (sum(counts[name] for counts in found) for name in ("passed", "expected"))
    assert passed >= ENOUGH * (passed + expected), f"{passed} pass, {expected} do not"
