"""Runs a script in a process of its own, and measures it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

UNTOUCHED: Final = {"LAZYTENSOR_MALLOC": "0"}
"""The variables of a process with plain NumPy. It imports lazytensor, which measures, and which
would tell malloc to keep what NumPy frees."""


@dataclass(frozen=True)
class Outcome:
    """The output, counts and times of a script in its own process."""

    status: int
    wall: float  # the whole process: interpreter, command line, imports, all runs
    runs: list[float]  # each run of the script, its array module imported before
    metrics: dict[str, Any]
    stdout: str
    stderr: str


def measure(
    script: str,
    arguments: tuple[str, ...],
    *,
    plain: bool,
    module: bool = False,
    repeat: int = 1,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Run `script` in a fresh process, with NumPy where `plain`, else with lazy NumPy.

    environment: variables beside those of this process; `UNTOUCHED` if it is missing and `plain`.
    """
    if environment is None:
        environment = UNTOUCHED if plain else {}
    with tempfile.TemporaryDirectory(prefix="lazytensor-") as folder:
        report = Path(folder) / "record.json"
        command = [sys.executable, "-m", "lazytensor", "run"]
        command += ["--json", str(report), "--repeat", str(repeat)]
        command += ["--plain"] * plain + ["-m"] * module + [script, *arguments]
        start = time.perf_counter()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,  # the script runs twice, but the input could be read once
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | environment,
            check=False,
        )
        wall = time.perf_counter() - start
        # A script that ends by `os._exit`, or is killed, leaves no record.
        said = json.loads(report.read_text()) if report.exists() else {}
    return Outcome(
        # For a process ended by a signal, a shell's exit status.
        done.returncode if done.returncode >= 0 else 128 - done.returncode,
        wall,
        said.get("runs", []),
        said.get("metrics", {}),
        done.stdout,
        done.stderr,
    )


def import_seconds(module: str) -> float:
    """Return how long a fresh interpreter takes to import `module`."""
    text = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", text]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
