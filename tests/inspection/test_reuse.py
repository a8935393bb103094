"""The workloads give one program in every frontend; the report's record and its page."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lazytensor.core.binaries import COMPILED, mode
from lazytensor.reuse import dynamic, page, report, source
from lazytensor.reuse.components import COMPARED, FRONTENDS, is_installed
from lazytensor.reuse.workloads import WORKLOADS

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
THINNEST = 0.28
"""Bound of a frontend's share of the lines that a workload runs, each once or each time.

NumPy's frontend has the most, 0.270 of the convolution's: the policy of small arrays, the lending
of memory and the question how NumPy lays out a result belong to it.
"""


@pytest.fixture(scope="module")
def found() -> report.Report:
    return report.make()


@pytest.fixture(scope="module")
def record(found: report.Report) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(found.record()))
    return made


DIFFERENT = {"k-means": "TensorFlow's argmin passes over NaN; NumPy's and torch's do not"}
"""Workloads whose programs are not equal, with the reason."""


def test_the_programs_are_equal_and_compiled_once(found: report.Report) -> None:
    installed = [name for name in COMPARED if is_installed(name)]
    assert [comparison.workload for comparison in found.dynamic] == list(WORKLOADS)
    for comparison in found.dynamic:
        differs = comparison.workload.name in DIFFERENT
        assert comparison.equal is not differs, comparison.workload.name
        first, *others = comparison.runs
        assert [run.frontend for run in comparison.runs] == installed
        assert first.compiles == 1, comparison.workload.name
        for run in [] if differs else others:
            assert (run.compiles, run.hits) == (0, run.cuts), (run.workload, run.frontend)


def test_results_agree_and_nothing_falls_back(found: report.Report) -> None:
    for comparison in found.dynamic:
        for run in comparison.runs:
            assert run.fallbacks == 0
            assert run.apart < 1e-5, (run.workload, run.frontend)  # sums of f32 in any order


@pytest.mark.skipif(
    mode == COMPILED, reason="lines of compiled code are not counted; `make test` runs it pure too"
)
def test_frontends_run_little_code_of_their_own(found: report.Report) -> None:
    totals = dynamic.shares_of_steps(found.dynamic)
    assert list(totals) == [run.frontend for run in found.dynamic[0].runs]
    for run in (run for comparison in found.dynamic for run in comparison.runs):
        shares = run.share, run.share_of_steps
        assert max(shares) <= THINNEST, (run.workload, run.frontend, shares)


def test_the_record(found: report.Report, record: dict[str, Any]) -> None:
    assert list(record) == ["schema", "version", "static", "dynamic"]
    assert record["schema"] == report.SCHEMA == 2
    for name, frontend in record["static"]["frontends"].items():
        assert set(frontend["compositions"]) <= set(record["static"]["compositions"])
        assert frontend["strict_share"] <= frontend["share"] < 1
        assert (frontend["supported"] is not None) is is_installed(name)
        assert set(record["static"]["ops_in_all"]) <= set(frontend["ops"])
    for workload in record["dynamic"]["workloads"]:
        for name, run in workload["runs"].items():
            assert run["lines"].keys() <= {"core", "backend", "tools", *FRONTENDS}, name
            assert run["lines"]["core"] > 100
            assert run["lines"][name] > 0


def test_each_composition_names_its_users(found: report.Report) -> None:
    users = found.static.compositions
    assert users["softmax"] == ("torch", "tf")
    assert users["einsum.einsum"] == ("numpy", "tf")
    assert users["arranging.rolled"] == ("numpy", "torch", "tf", "array_api")
    unused = [name for name, by in users.items() if not by and "." in name]
    assert not unused, "a function of core/lib that no frontend uses"


def test_only_lines_of_code_that_ran_are_counted() -> None:
    with dynamic.executed() as lines:
        source.count_lines([Path(__file__)])
    (files,) = ({file for file, _ in lines["tools"]},)
    assert {Path(file).name for file in files} == {"source.py"}
    assert not lines["core"]


def test_the_page_needs_nothing_else(record: dict[str, Any], tmp_path: Path) -> None:
    text = page.page(record)
    assert not re.search(r'(?:src|href)="|https?://|@import|<script', text)
    bars = len(record["static"]["frontends"])
    bars += sum(len(workload["runs"]) for workload in record["dynamic"]["workloads"])
    assert text.count("class=bar") == bars
    if CHROMIUM is None:
        pytest.skip("no Chromium here")
    path = tmp_path / "reuse.html"
    path.write_text(text)
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run(
        [*command, path.as_uri()], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.count('class="bar"') == bars
    assert "{body}" not in done.stdout
