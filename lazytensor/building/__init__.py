"""Builds: what is compiled on the user's machine, and what all builds have in common."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path


class BuildError(Exception):
    """Something was not compiled. The message says what and why, and what to do."""


def check_tools(what: str) -> None:
    """Raise a BuildError if a build's own packages are missing. what: what would be compiled."""
    try:
        import Cython  # noqa: F401
        import setuptools  # noqa: F401
    except ImportError as error:
        raise BuildError(
            f"{error.name} is not installed, so {what} is not compiled and runs as Python;"
            " `pip install 'lazytensor[build]'` installs what a build needs"
        ) from None


def log(name: str) -> Path:
    """The file that gets what a build's compilers say."""
    return Path(tempfile.gettempdir(), f"lazytensor-{name}.log")


def ran(command: list[str], output_to: Path, **variables: str) -> bool:
    """Run a command with these environment variables; say whether it succeeded."""
    with output_to.open("wb") as output:
        done = subprocess.run(
            command,
            env={**os.environ, **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.returncode == 0
