"""`lazytensor cache` says what is there, and needs nothing to be there."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lazytensor.cli.cache import size

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


def test_what_cannot_be_removed_is_told(tmp_path: Path, lazytensor: Run) -> None:
    for name in ("one.xla", "two.xla"):
        (tmp_path / "compiled" / name).mkdir(parents=True)
    done = lazytensor("cache", "clear", cwd=tmp_path)
    assert (done.returncode, done.stdout[:18]) == (1, "removed 0 programs")
    assert re.fullmatch(r"2 files cannot be removed: \w.*\n", done.stderr)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (5e12, "5000.0 GB")],
)
def test_sizes_for_people(count: int, text: str) -> None:
    assert size(count) == text
