"""`lazytensor run --compare`: a script with NumPy and with lazy NumPy, side by side."""

import json
import sys
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from lazytensor.cli.difference import difference
from lazytensor.cli.launch import Launch
from lazytensor.cli.process import Outcome, measure
from lazytensor.cli.table import ABSENT, ratio, seconds, table

COUNTS = ("cuts", "compiles", "cache_hits", "disk_hits", "interpreted", "fallbacks")


def compare_runs(launch: Launch) -> int:
    """Run the script both ways, print the table, and return the first exit status that is not 0."""
    numpy, lazy = (_measure(launch, plain=plain) for plain in (True, False))
    for name, side in (("NumPy", numpy), ("lazytensor", lazy)):
        if side.stderr:
            print(f"--- stderr with {name} ---\n{side.stderr}", end="", file=sys.stderr)
    apart = difference(numpy.stdout, lazy.stdout)
    if launch.json is not None:
        said = {"numpy": asdict(numpy), "lazytensor": asdict(lazy), "output": asdict(apart)}
        launch.json.write_text(json.dumps(said, indent=1))
    console = Console()
    console.print(_table(launch, numpy, lazy))
    console.print(f"printed output: {apart}")
    return lazy.status or numpy.status


def _measure(launch: Launch, *, plain: bool) -> Outcome:
    with Console(stderr=True).status("with NumPy …" if plain else "with lazytensor …"):
        return measure(
            launch.name,
            launch.arguments,
            plain=plain,
            module=launch.module,
            repeat=launch.repeat,
        )


def _table(launch: Launch, numpy: Outcome, lazy: Outcome) -> Table:
    title = " ".join([launch.name, *launch.arguments])
    shown = table(title, "NumPy", "lazytensor", "NumPy ÷ lazytensor")
    first = "script" if launch.repeat == 1 else "script, first run"
    rows = [(first, numpy.runs[:1], lazy.runs[:1])]
    if launch.repeat > 1:
        rows += [(f"script, best of {launch.repeat}", numpy.runs, lazy.runs)]
    rows += [("imports", [numpy.imports], [lazy.imports])]
    rows += [("whole process", [numpy.wall], [lazy.wall])]
    for label, left, right in rows:
        shown.add_row(label, *_times(min(left, default=None), min(right, default=None)))
    shown.add_section()
    if numpy.status or lazy.status:
        shown.add_row("exit status", str(numpy.status), str(lazy.status))
    for count in COUNTS:
        shown.add_row(count.replace("_", " "), "", str(lazy.metrics.get(count, ABSENT)))
    return shown


def _times(left: float | None, right: float | None) -> tuple[str, str, str]:
    """Return the time of each side and their ratio; a side that failed has none."""
    known = ratio(left, right) if left and right else ""
    return seconds(left or None), seconds(right or None), known
