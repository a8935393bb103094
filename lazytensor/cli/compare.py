"""`lazytensor run --compare`: a script with NumPy and with lazy NumPy, side by side."""

import json
import sys
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from lazytensor.cli.difference import Difference, difference
from lazytensor.cli.launch import Launch
from lazytensor.cli.process import Outcome, measure

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
    Console().print(_table(launch, numpy, lazy, apart))
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


def _table(launch: Launch, numpy: Outcome, lazy: Outcome, apart: Difference) -> Table:
    title = " ".join([launch.name, *launch.arguments])
    table = Table("", "NumPy", "lazytensor", "NumPy ÷ lazytensor", title=title)
    for column in table.columns[1:]:
        column.justify = "right"
    rows = [("script", numpy.runs[:1], lazy.runs[:1])]
    if launch.repeat > 1:
        rows = [("script, first run", numpy.runs[:1], lazy.runs[:1])]
        rows += [(f"script, best of {launch.repeat}", numpy.runs, lazy.runs)]
    rows += [("imports", _said(numpy.imports), _said(lazy.imports))]
    rows += [("whole process", [numpy.wall], [lazy.wall])]
    for label, left, right in rows:
        table.add_row(label, *_times(left, right))
    table.add_section()
    if numpy.status or lazy.status:
        table.add_row("exit status", str(numpy.status), str(lazy.status))
    table.add_row("printed output", "", str(apart))
    for count in COUNTS:
        table.add_row(count.replace("_", " "), "", str(lazy.metrics.get(count, "–")))
    return table


def _said(time: float) -> list[float]:
    return [time] if time else []


def _times(left: list[float], right: list[float]) -> tuple[str, str, str]:
    """Return the shortest time of each side and their ratio; a side that failed has none."""
    if not left or not right:
        return seconds(min(left, default=None)), seconds(min(right, default=None)), ""
    return seconds(min(left)), seconds(min(right)), f"{min(left) / min(right):.2f}×"


def seconds(time: float | None) -> str:
    """Return a time for people: `1.23 s`, `45.6 ms`."""
    if time is None:
        return "–"
    return f"{time:.2f} s" if time >= 1 else f"{time * 1000:.1f} ms"
