"""`lazytensor run --compare`: a script with NumPy and with lazy NumPy, side by side."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from lazytensor.cli.difference import difference
from lazytensor.cli.output import say, write
from lazytensor.cli.process import Outcome, import_seconds, measure
from lazytensor.cli.script_run import ScriptRun
from lazytensor.cli.table import ABSENT, ratio, seconds, table

COUNTS = ("cuts", "compiles", "cache_hits", "disk_hits", "interpreted", "fallbacks")


def compare_runs(launch: ScriptRun) -> int:
    """Run the script both ways, print the table, and return the first exit status that is not 0."""
    numpy, lazy = (_measure(launch, plain=plain) for plain in (True, False))
    for name, side in (("NumPy", numpy), ("lazytensor", lazy)):
        if side.stderr:
            print(f"--- stderr with {name} ---\n{side.stderr}", end="", file=sys.stderr)
    apart = difference(numpy.stdout, lazy.stdout)
    if launch.json is not None:
        said = {"numpy": asdict(numpy), "lazytensor": asdict(lazy), "output": asdict(apart)}
        write(launch.json, json.dumps(said, indent=1))
    console = Console()
    with console.capture() as shown:
        console.print(_table(launch, numpy, lazy))
        console.print(f"printed output: {apart}")
    say(shown.get().rstrip("\n"))
    return lazy.status or numpy.status


def _measure(launch: ScriptRun, *, plain: bool) -> Outcome:
    with Console(stderr=True).status("with NumPy …" if plain else "with lazytensor …"):
        return measure(
            launch.name,
            launch.arguments,
            plain=plain,
            module=launch.module,
            repeat=launch.repeat,
        )


def _table(launch: ScriptRun, numpy: Outcome, lazy: Outcome) -> Table:
    title = " ".join([launch.name, *launch.arguments])
    shown = table(title, "NumPy", "lazytensor", "NumPy ÷ lazytensor")
    done = numpy.runs and lazy.runs and not numpy.status and not lazy.status
    if not done:  # the times of a failed script are not comparable
        shown.add_row("exit status", str(numpy.status), str(lazy.status))
    else:
        for label, left, right in _times(launch, numpy.runs, lazy.runs):
            shown.add_row(label, seconds(left), seconds(right), ratio(left, right))
    shown.add_section()
    for count in COUNTS:
        shown.add_row(count.replace("_", " "), "", str(lazy.metrics.get(count, ABSENT)))
    return shown


def _times(
    launch: ScriptRun, numpy: list[float], lazy: list[float]
) -> Iterator[tuple[str, float, float]]:
    """Yield a label for each timing, with the seconds for NumPy and for lazytensor."""
    imports = import_seconds("numpy"), import_seconds("lazytensor.numpy")
    first = "script" if launch.repeat == 1 else "first run"
    yield f"{first}, with imports", numpy[0] + imports[0], lazy[0] + imports[1]
    yield f"{first}, without", numpy[0], lazy[0]
    if launch.repeat > 1:
        yield f"best of {launch.repeat} runs", min(numpy), min(lazy)
