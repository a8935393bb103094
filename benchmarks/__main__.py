"""Measure, print one table, and say by the exit code whether everything is reached."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.markup import escape

from benchmarks import machine, report
from benchmarks.figures import Figure, Figures
from benchmarks.process import Failed, python
from benchmarks.row import Effort, Row
from benchmarks.rows import TABLES

FILE_WIDTH = 120  # columns of the table when it goes to a file


def arguments() -> argparse.Namespace:
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--table", choices=TABLES, default="targets")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rows to measure (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to save all figures")
    parser.add_argument(
        "--quick", action="store_true", help="a rough look: few rounds, small sizes"
    )
    parser.add_argument("--peers", action="store_true", help="also jax.numpy, jitted by hand")
    parser.add_argument("--platform", help="steps on an accelerator, beside its frameworks")
    parser.add_argument("--inside", metavar="NAME", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.platform:
        return chosen
    names = [row.name for row in TABLES[chosen.table]]
    unknown = sorted(set(chosen.only or []) - set(names))
    if unknown:
        parser.error(f"no row named {', '.join(unknown)}; there are {', '.join(names)}")
    return chosen


def measure_here(row: Row, effort: Effort) -> None:
    """Be the row's own process: print its figures as JSON."""
    figures = row.measure(effort)
    print(json.dumps({name: asdict(figure) for name, figure in figures.items()}))


def measure(row: Row, table: str, effort: Effort) -> report.Outcome:
    """Measure a row in a process of its own, with a disk cache of its own."""
    flags = [f"--{name}" for name, given in asdict(effort).items() if given]
    command = ["-m", "benchmarks", "--table", table, "--inside", row.name, *flags]
    with TemporaryDirectory(prefix="lazytensor-benchmark-") as cache:
        try:
            answer = python(*command, cache=cache).answer
        except (Failed, TimeoutExpired) as error:
            return report.Outcome(row, failure=escape(str(error)))
    figures: Figures = {name: Figure(**numbers) for name, numbers in answer.items()}
    return report.Outcome(row, figures)


def main() -> int:
    """Run the chosen rows one after another."""
    chosen = arguments()
    if chosen.platform:
        from benchmarks.accelerators import steps

        steps.table(chosen.platform, chosen.only)
        return 0
    effort = Effort(quick=chosen.quick, peers=chosen.peers)
    rows = TABLES[chosen.table]
    if chosen.inside:
        measure_here(next(row for row in rows if row.name == chosen.inside), effort)
        return 0
    console = Console(width=None if sys.stdout.isatty() else FILE_WIDTH)
    described = machine.describe() | ({"effort": "quick, a rough look"} if chosen.quick else {})
    outcomes = []
    for row in rows:
        if chosen.only and row.name not in chosen.only:
            continue
        with console.status(f"measuring {row.name} …"):
            outcomes.append(measure(row, chosen.table, effort))
        console.print(f"{outcomes[-1].verdict:>16}  {row.name}")
    console.print(report.table(described, outcomes))
    for name, mean in report.means(outcomes).items():
        console.print(f"geometric mean, {name}: {mean}")
    if chosen.json:
        report.save(chosen.json, described, outcomes)
    return 0 if all(outcome.reached for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
