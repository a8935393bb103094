"""The command line's output: reports on standard output, records in files."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TextIO

import click

PLAIN: Final = {"×": "x", "÷": "/", "→": "->", "–": "-", "…": "...", "Δ": "d"}
"""Replacements for signs that an encoding lacks."""
ERRORS: Final = "lazytensor.plain"


class Target(click.Path):
    """A file or folder to be written at the end; at the start it is checked that it can be."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder, writable=True, path_type=Path)
        self.folder = folder

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Path:
        """The absolute path, which does not depend on a later `chdir` of the script."""
        path = Path(os.fsdecode(super().convert(value, param, ctx))).absolute()
        within = path.parent
        while self.folder and not within.exists():  # missing parents are made with it
            within = within.parent
        if not path.exists() and not within.is_dir():
            self.fail(f"{value} cannot be written: there is no folder {within}", param, ctx)
        if not path.exists() and not os.access(within, os.W_OK):
            self.fail(f"{value} cannot be written: {within} is read-only", param, ctx)
        return path


def write(path: Path, text: str) -> bool:
    """Write a file, or print why not; it does not raise, so the script's exit status stays."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"lazytensor: {path} cannot be written: {error.strerror}", file=sys.stderr)
        return False
    return True


def say(text: str) -> None:
    """Print a report after a script: on standard error if it has closed standard output."""
    with suppress(OSError, ValueError, AttributeError):  # it is closed, or the script replaced it
        sys.stdout.flush()
    stream = terminal()
    if stream is None:
        return
    try:
        with lenient(stream):
            print(text, file=stream, flush=True)
    except BrokenPipeError:  # nobody reads on; nor is Python to say so when it closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def terminal() -> TextIO | None:
    """The stream of `say`, from which rich takes width and colours."""
    streams = (sys.__stdout__, sys.__stderr__)
    return next((s for s in streams if s is not None and not s.closed), None)


@contextmanager
def lenient(stream: TextIO | None) -> Iterator[None]:
    """Replace signs that the stream's encoding lacks, instead of failing."""
    errors, reconfigure = getattr(stream, "errors", None), getattr(stream, "reconfigure", None)
    if reconfigure is None:
        yield
        return
    reconfigure(errors=ERRORS)
    try:
        yield
    finally:
        reconfigure(errors=errors)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(PLAIN.get(sign, "?") for sign in signs), error.end


codecs.register_error(ERRORS, _plain)
