"""`lazytensor tune`: all that a script needs is compiled and measured, for the runs to come."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

import click
from rich.console import Console

from lazytensor.cli.output import say
from lazytensor.cli.process import Outcome, measure
from lazytensor.cli.table import seconds, table
from lazytensor.core.runtime import disk_cache

LOOKS_APART: Final = 0.5
"""Seconds between two looks at the folder while the script runs."""


@click.command(
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("-m", "module", is_flag=True, help="SCRIPT is the name of a module.")
@click.option("--plain", is_flag=True, help="SCRIPT imports lazytensor itself: keep its NumPy.")
@click.argument("script")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def tune(script: str, arguments: tuple[str, ...], module: bool, plain: bool) -> int:
    """Compile and measure all that SCRIPT needs, and say what it gained.

    SCRIPT runs three times: as it is; with each program compiled at its first run, and each choice
    between forms of an operation measured; and as it is again. Its output is not shown.
    """
    if script == "-" and not module:
        raise click.UsageError("tune runs the script three times: give a file instead of `-`")
    console = Console(stderr=True)

    def timed(title: str, tier: str) -> Outcome:
        with _progress(console, title):
            environment = {"LAZYTENSOR_TIER": tier, "LAZYTENSOR_DISK": "1"}
            return measure(script, arguments, plain=plain, module=module, environment=environment)

    runs: dict[str, Outcome] = {}
    for title, tier in (("before", "auto"), ("tuning", "compile"), ("after", "auto")):
        runs[title] = timed(title, tier)
        if runs[title].status:
            print(runs[title].stderr, end="", file=sys.stderr)
            print(f"lazytensor: the script failed ({title}): nothing is said", file=sys.stderr)
            return runs[title].status
    shown = table(" ".join([script, *arguments]), "script", "compiled", "loaded from disk")
    for title, run in runs.items():
        counts = [str(run.metrics.get(name, 0)) for name in ("compiles", "disk_hits")]
        shown.add_row(title, seconds(run.runs[0]), *counts)
    with console.capture() as text:
        console.print(shown)
    say(text.get().rstrip("\n"))
    before, after = (runs[title].runs[0] for title in ("before", "after"))
    say(f"{seconds(abs(before - after))} {'gained' if after < before else 'lost'}; {_kept()}")
    return 0


def _kept() -> str:
    return f"programs kept in {disk_cache.folder()}: {len(disk_cache.entries())}"


@contextmanager
def _progress(console: Console, title: str) -> Iterator[None]:
    """Show a title, and how many programs are kept, until the block ends."""
    ended = Event()
    with console.status(f"{title} …") as status:

        def look() -> None:
            while not ended.wait(LOOKS_APART):
                status.update(f"{title}: {_kept()} …")

        thread = Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
