"""Child processes: whole runs of the interpreter, timed from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.program import ROOT

TIMEOUT = 900.0


class Failed(RuntimeError):
    """A child process did not end well; the message is the end of its output."""


@dataclass(frozen=True)
class Ended:
    """What a child process took and said; `answer` is the JSON on its last line, if any."""

    seconds: float
    answer: dict[str, Any] = field(default_factory=dict)


def python(*arguments: str, cache: str | Path | None = None, timeout: float = TIMEOUT) -> Ended:
    """Run this interpreter in the repository's root, with the disk cache in `cache`."""
    # Unfiltered, so that the last line of a traceback is the error and not a remark of jax's; with
    # bytecode kept, as it is for an installed package, NumPy's included.
    environment = os.environ | {
        "JAX_TRACEBACK_FILTERING": "off",
        "PYTHONDONTWRITEBYTECODE": "",
        "OMP_WAIT_POLICY": "passive",  # torch's threads spin, beside whoever is measured with them
    }
    if cache is not None:
        environment["LAZYTENSOR_CACHE_DIR"] = str(cache)
    command = [sys.executable, *arguments]
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise Failed(_last_line(done.stderr) or f"exit code {done.returncode}")
    last = _last_line(done.stdout)
    return Ended(seconds, json.loads(last) if last.startswith("{") else {})


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
