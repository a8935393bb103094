"""PyTorch's own tests, from a checkout, pass on the device but for those in `exceptions`.

PYTORCH_SOURCE=<checkout> python -m pytest tests/torch_suite
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.torch_suite.runner import run
from tests.torch_suite.selection import FILES, HERE, cpus
from tests.wheel.table import read

CHECKOUT = os.environ.get("PYTORCH_SOURCE", "")
ENOUGH = 0.98
TABLES = sorted(HERE.glob("*/*.toml"))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.parent.name}-{table.stem}")
def test_tables_name_tests_of_the_files_with_reasons(table: Path) -> None:
    groups = read(table, "").groups
    assert groups
    assert {test.partition("::")[0] for test in groups} <= set(FILES)
    assert all(len(group.reason) > 20 for group in groups.values())


@pytest.mark.skipif(not CHECKOUT, reason="PYTORCH_SOURCE names no checkout of PyTorch")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("file", FILES)
def test_pytorchs_own_tests_pass(file: str) -> None:
    """What fails on the CPU may fail on the device, too."""
    ours, theirs = run(Path(CHECKOUT), [file]), run(Path(CHECKOUT), [file], lazily=False)
    passed = theirs.passed()
    lost = {test: why for test, why in ours.reasons.items() if cpus(test) in passed}
    assert not lost, "\n".join(
        f"{test}: {' '.join(why.split())[:300]}" for test, why in lost.items()
    )
    expected = [test for test, end in ours.tests.items() if end == "expected"]
    assert len(ours.passed()) >= ENOUGH * (len(ours.passed()) + len(expected)), expected
