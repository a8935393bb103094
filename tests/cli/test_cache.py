"""`lazytensor cache` and `lazytensor doctor` say what is there, and need nothing to be there."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lazytensor.cli.cache import size
from lazytensor.cli.doctor import within

Run = Callable[..., subprocess.CompletedProcess[str]]

SUM = "import numpy as np; print(float((np.ones(3_000) * 2.0 + 1.0).sum()))"


def test_a_folder_that_was_never_made(tmp_path: Path, lazytensor: Run) -> None:
    nowhere = str(tmp_path / "not" / "there")
    for word, said in (("ls", "no programs"), ("info", "programs  0"), ("clear", "removed 0")):
        done = lazytensor("cache", word, cwd=tmp_path, LAZYTENSOR_CACHE_DIR=nowhere)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
        assert not (tmp_path / "not").exists()


def test_a_compiled_program_is_listed_and_removed(tmp_path: Path, lazytensor: Run) -> None:
    (tmp_path / "sum.py").write_text(SUM)
    done = lazytensor("run", "sum.py", cwd=tmp_path, LAZYTENSOR_TIER="compile")
    assert (done.stdout, done.stderr) == ("9000.0\n", "")
    listed = lazytensor("cache", "ls", cwd=tmp_path).stdout.splitlines()
    assert "no programs" not in listed[0]
    assert f"programs  {len(listed)}" in lazytensor("cache", "info", cwd=tmp_path).stdout
    removed = lazytensor("cache", "clear", cwd=tmp_path).stdout
    assert removed.startswith(f"removed {len(listed)} programs")
    assert "programs  0" in lazytensor("cache", "info", cwd=tmp_path).stdout


def test_doctor_names_versions_cache_and_settings(tmp_path: Path, lazytensor: Run) -> None:
    done = lazytensor("doctor", cwd=tmp_path, LAZYTENSOR_PROBE="set by the test")
    assert (done.returncode, done.stderr) == (0, "")
    said = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert said["LAZYTENSOR_PROBE"] == "set by the test"
    assert str(tmp_path / "compiled") in said["cache"]
    assert {"python", "platform", "numpy", "jax", "jaxlib", "torch", "tensorflow"} <= said.keys()


@pytest.mark.parametrize(
    ("found", "bounds", "kept"),
    [
        ("2.4.6", "<2.6,>=2.0", True),
        ("2.10.1", "<2.6,>=2.0", False),
        ("2.6", "<2.6,>=2.0", False),
        ("2.0", ">=2.0", True),
        ("2", ">=2.0.0", True),
        ("1.26.4", "<2.6,>=2.0", False),
        ("2.13.0+cpu", "<2.14,>=2.10", True),
        ("3.0rc1", "<3", False),
    ],
)
def test_versions_within_bounds(found: str, bounds: str, kept: bool) -> None:
    assert within(found, bounds) is kept


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (5e12, "5000.0 GB")],
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert size(count) == text
