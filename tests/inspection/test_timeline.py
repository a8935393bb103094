"""`lazytensor.profile` writes a trace that Chrome and Perfetto read."""

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import lazytensor
from lazytensor.core import ops
from lazytensor.core.ir.op import leaf
from lazytensor.core.observe import metrics
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings
from tests.core.arrays import array


def work(times: int = 3) -> None:
    for _ in range(times):
        x = array(np.ones(1000))
        for _ in range(20):
            x = x * 2.0 + 1.0
        lazytensor.sync()
        fetch(x.node)


def traced(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
    return rows


def slices(rows: list[dict[str, Any]], thread: int) -> list[dict[str, Any]]:
    found = [row for row in rows if row["ph"] == "X" and row["tid"] == thread]
    return sorted(found, key=lambda row: (row["ts"], -row["dur"]))


def test_everything_that_takes_time_is_a_slice(tmp_path: Path) -> None:
    start = time.perf_counter()
    with lazytensor.profile(tmp_path / "trace.json"):
        work()
        settings.tier = "interpret"
        fetch(ops.sin(leaf(np.ones(3))))
    elapsed = time.perf_counter() - start
    rows = slices(traced(tmp_path / "trace.json"), threading.get_native_id())
    assert {row["name"] for row in rows} == {
        "recording", "cutting", "lowering", "compiling", "running", "transferring",
        "interpreting", "sync()", "observation",
    }  # fmt: skip
    assert all(row["ts"] >= 0 and row["ts"] + row["dur"] <= elapsed * 1e6 for row in rows)
    programs = [row["args"] for row in rows if row["cat"] == "program"]
    assert [args["how"] for args in programs] == ["compiled", "cached", "cached", "interpreted"]
    assert "test_timeline.py" in programs[0]["line"]
    assert programs[0]["reason"] == "the first program of its kind"
    assert all(row["args"]["nodes"] > 0 for row in rows if row["name"] == "recording")


def test_slices_of_a_thread_are_nested(tmp_path: Path) -> None:
    """Chrome draws no two slices that overlap in part."""
    with lazytensor.profile(tmp_path / "trace.json"):
        work()
        x = leaf(np.random.default_rng(0).normal(size=(300, 40)))
        fetch(ops.sort(ops.sin(x), axis=1))
    ends: list[float] = []
    for row in slices(traced(tmp_path / "trace.json"), threading.get_native_id()):
        while ends and ends[-1] <= row["ts"] + 1e-3:
            ends.pop()
        end = row["ts"] + row["dur"]
        assert not ends or end <= ends[-1] + 1e-3, row
        ends.append(end)


def test_steps_are_marked(tmp_path: Path) -> None:
    with lazytensor.profile(tmp_path / "trace.json"):
        work(4)
    marks = [row for row in traced(tmp_path / "trace.json") if row["ph"] == "i"]
    assert [row["name"] for row in marks] == ["step 1", "step 2", "step 3", "step 4"]


def test_threads_have_rows_and_names_of_their_own(tmp_path: Path) -> None:
    natives: list[int] = []

    def other() -> None:
        natives.append(threading.get_native_id())
        work()

    with lazytensor.profile(tmp_path / "trace.json"):
        thread = threading.Thread(target=other, name="loader")
        thread.start()
        thread.join()  # a cut takes along what other threads have recorded
        work()
    rows = traced(tmp_path / "trace.json")
    for native in (natives[0], threading.get_native_id()):
        assert [r for r in slices(rows, native) if r["name"] == "recording"]
    names = {row["tid"]: row["args"]["name"] for row in rows if row["name"] == "thread_name"}
    assert set(names) == {natives[0], threading.get_native_id()}


def test_the_profile_is_written_whatever_ends_the_block(tmp_path: Path) -> None:
    waited = settings.wait

    def fails() -> None:
        with lazytensor.profile(tmp_path / "trace.json"):
            work(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert traced(tmp_path / "trace.json")
    assert settings.wait is waited
    assert metrics.tracers == []


def test_a_file_that_cannot_be_written_is_refused_ahead_of_the_block(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "no" / "trace.json", tmp_path / "file" / "trace.json"):
        ran = []
        with pytest.raises(OSError, match=re.escape(str(path))), lazytensor.profile(path):
            ran.append(path)
        assert not ran


def test_a_relative_path_is_that_of_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with lazytensor.profile("trace.json"):
        monkeypatch.chdir("/")
    assert (tmp_path / "trace.json").read_text()


def test_the_profiler_of_jax_may_be_on_as_well(tmp_path: Path) -> None:
    with jax.profiler.trace(str(tmp_path / "jax")), lazytensor.profile(tmp_path / "trace.json"):
        work()
    assert slices(traced(tmp_path / "trace.json"), threading.get_native_id())
    assert list((tmp_path / "jax").rglob("*.xplane.pb"))
