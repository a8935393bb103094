"""Keras's own tests, from the wheel that is installed, pass with a lazy TensorFlow.

`python -m tests.keras_wheel` says how many; `exceptions.toml` says which do not, and why. Every
commit runs a cross-section, the nightly run all.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest

from tests.keras_wheel.runner import run
from tests.keras_wheel.selection import GROUPS, files
from tests.sweeps import WHOLE
from tests.wheel.outcomes import Outcomes

KNOWN = "3.15"
ENOUGH = 0.98
SECTION = (
    "keras/src/layers/core/dense_test.py::DenseTest::test_dense_correctness",
    "keras/src/losses/losses_test.py::CategoricalCrossentropyTest",
    "keras/src/metrics/f_score_metrics_test.py::F1ScoreTest",
    "keras/src/optimizers/adam_test.py",
)
"""A layer, losses, a metric, an optimizer: seconds in all."""


def _installed() -> str:
    try:
        version("tensorflow-cpu")
        return version("keras").rpartition(".")[0]
    except PackageNotFoundError:
        return ""


pytestmark = pytest.mark.skipif(_installed() != KNOWN, reason=f"exceptions are Keras {KNOWN}'s")


def _check(found: Outcomes) -> None:
    """What fails with TensorFlow as it is may fail lazily, too."""
    passed = found.passed()
    assert passed, found.output
    failed = found.reasons
    excused = run("failed", list(failed), lazily=False).reasons if failed else {}
    lost = sorted(failed.keys() - excused.keys())
    failures = [f"{test}: {' '.join(failed[test].split())[:300]}" for test in lost]
    assert not failures, "\n".join(failures)
    assert any(found.recorded.get(test) for test in passed), "nothing was recorded"
    expected = found.counts["expected"]
    assert len(passed) >= ENOUGH * (len(passed) + expected), f"{expected} do not pass"


@pytest.mark.skipif(WHOLE, reason="all of them are run")
@pytest.mark.timeout(600)
def test_a_cross_section_of_kerass_own_tests_passes() -> None:
    _check(run("section", SECTION))


@pytest.mark.skipif(not WHOLE, reason="takes half an hour")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("group", GROUPS)
def test_kerass_own_tests_pass(group: str) -> None:
    _check(run(group, files(group)))
