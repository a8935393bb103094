"""Writes small projects to a folder, and runs them with Python and with lazytensor."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

PACKAGE = Path(__file__).parents[2]  # so that a checkout that is not installed is tested too

Done = subprocess.CompletedProcess[str]


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes files, given as `{name: text}`, and returns their folder."""

    def write(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text))
        return tmp_path

    return write


ENDINGS = {
    "an error": ("1 / 0", 1),
    "an exit": ("raise SystemExit(3)", 3),
    "an interrupt": ("raise KeyboardInterrupt", -2),
}


@pytest.fixture(params=ENDINGS.values(), ids=ENDINGS)
def ending(request: pytest.FixtureRequest) -> tuple[str, int]:
    """How a script may end: its last line, and the status of its process."""
    found: tuple[str, int] = request.param
    return found


def call(*command: str, cwd: Path, stdin: str | None = None, **variables: str) -> Done:
    """Run a command with the package importable and with a cache of its own."""
    paths = [str(PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths),
        "LAZYTENSOR_CACHE_DIR": str(cwd / "compiled"),
        "COLUMNS": "120",
    }
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment | variables,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def python() -> Callable[..., Done]:
    """A function that runs `python …`."""
    return lambda *words, **settings: call(sys.executable, *words, **settings)


@pytest.fixture
def lazytensor() -> Callable[..., Done]:
    """A function that runs `lazytensor …`."""
    return lambda *words, **settings: call(sys.executable, "-m", "lazytensor", *words, **settings)
