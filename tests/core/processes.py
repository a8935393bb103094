"""Programs run in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
"""

Done = subprocess.CompletedProcess[str]


def environment(**variables: str) -> dict[str, str]:
    """That of a process which finds the package and the tests, and keeps nothing on disk."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {
        "PYTHONPATH": os.pathsep.join(paths),
        "LAZYTENSOR_DISK": "0",
        "PYTHONDONTWRITEBYTECODE": "",  # as a user has it, whose imports are compiled once
    }
    return os.environ | found | variables


def run(program: str, *arguments: str, **variables: str) -> Done:
    """Run a program's text; it must end well."""
    done = attempt(program, *arguments, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def attempt(program: str, *arguments: str, **variables: str) -> Done:
    """Run a program's text to whatever end."""
    return subprocess.run(
        [sys.executable, "-c", dedent(program), *arguments],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )


def launch(
    program: str, size: int, devices: int, *arguments: str, folder: Path, **variables: str
) -> Done:
    """Run a program's text in processes that compute together, to whatever end.

    folder: for the program's file.
    """
    script = folder / "script.py"
    script.write_text(dedent(program))
    command = [sys.executable, "-m", "lazytensor", "launch", "-n", str(size)]
    return subprocess.run(
        [*command, "--devices", str(devices), str(script), *arguments],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def said_by(rank: int, text: str) -> list[str]:
    """The lines of `lazytensor launch` that one process has written."""
    head = f"[{rank}] "
    return [line.removeprefix(head) for line in text.splitlines() if line.startswith(head)]


def start(program: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start a program; to be interrupted with `signal.SIGINT`, or killed."""
    return subprocess.Popen(
        [sys.executable, "-u", "-c", INTERRUPTIBLE + dedent(program), *arguments],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
