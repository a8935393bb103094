"""The report of `lazytensor doctor script.py`."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from lazytensor.cli.output import say, terminal, write
from lazytensor.cli.table import seconds
from lazytensor.inspection.advice import advice
from lazytensor.inspection.asking import asked
from lazytensor.inspection.finding import Finding, findings
from lazytensor.inspection.ledger import Ledger

SLOWEST: Final = 10
SHOWN: Final = 20
"""Largest number of lines in a section; the record has all."""
PARTS: Final = ("cutting", "compiling", "running", "fallbacks", "other")


def _asked(finding: Finding) -> Counter[str]:
    """The observations by reason, in words."""
    made: Counter[str] = Counter()
    for cause, times in finding.observed.items():
        made[asked(cause, finding.source)] += times
    return made


SECTIONS: Final[dict[str, Callable[[Finding], Counter[str]]]] = {
    "Fallbacks": lambda finding: finding.tally.fallbacks,
    "Cuts because a value was asked for": _asked,
    "Compiles, and why": lambda finding: finding.tally.reasons,
}


@contextmanager
def examined(record: Path | None) -> Iterator[None]:
    """Watch the block and show the findings, also if it raises."""
    ledger = Ledger()
    start = time.perf_counter()
    try:
        with ledger.open():
            yield
    finally:
        elapsed = time.perf_counter() - start
        found = findings(ledger.sites)
        console = Console(file=terminal(), highlight=False)
        with console.capture() as shown:
            _show(console, found, elapsed)
        say(shown.get().rstrip("\n"))
        if record is not None:
            write(record, json.dumps(_record(found, elapsed), indent=1))


def _record(found: list[Finding], elapsed: float) -> dict[str, Any]:
    lines = [finding.record() | {"advice": advice(finding)} for finding in found]
    return {"seconds": elapsed, "lines": lines}


def _show(console: Console, found: list[Finding], elapsed: float) -> None:
    console.rule("lazytensor doctor", align="left")
    if not found:
        console.print(f"{seconds(elapsed)}: nothing was computed lazily.")
        return
    console.print(_summary(found, elapsed))
    advised: set[tuple[str, int]] = set()
    console.print("\n[bold]Slowest lines[/bold]", _slowest(found[:SLOWEST], advised), sep="\n")
    for title, of in SECTIONS.items():
        _section(console, title, [(finding, of(finding)) for finding in found], advised)


def _summary(found: list[Finding], elapsed: float) -> str:
    spent = sum(finding.seconds for finding in found)
    parts = {part: sum(f.tally.parts[part] for f in found) for part in PARTS}
    shares = [f"{part} {seconds(value)}" for part, value in parts.items() if value > 0]
    loaded = sum(f.tally.ways["loaded from disk"] for f in found)
    said = _counted(
        cut=sum(f.cuts for f in found),
        compile=sum(f.compiles for f in found),
        fallback=sum(f.tally.fallbacks.total() for f in found),
    )
    said += f", {loaded} loaded from disk" if loaded else ""
    return f"{seconds(elapsed)}, of them {seconds(spent)} in programs: {', '.join(shares)}\n{said}"


def _counted(**numbers: int) -> str:
    """The numbers that are not 0, with their names: `3 cuts, 1 compile`."""
    return ", ".join(f"{n} {name}{'s' * (n > 1)}" for name, n in numbers.items() if n)


def _slowest(found: list[Finding], advised: set[tuple[str, int]]) -> Table:
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column(justify="right", no_wrap=True)
    shown.add_column()
    for finding in found:
        fallbacks = finding.tally.fallbacks.total()
        said = _counted(cut=finding.cuts, compile=finding.compiles, fallback=fallbacks)
        shown.add_row(seconds(finding.seconds), f"[bold]{_where(finding)}[/bold]  {said}")
        if finding.source.text:
            shown.add_row("", f"[cyan]{escape(finding.source.text)}[/cyan]")
        for text in _advice(finding, advised):
            shown.add_row("", text)
    return shown


def _section(
    console: Console,
    title: str,
    rows: list[tuple[Finding, Counter[str]]],
    advised: set[tuple[str, int]],
) -> None:
    """One line for each of the user's lines with counts, and its most frequent entry."""
    rows = [(finding, counts) for finding, counts in rows if counts]
    if not rows:
        return
    console.print(f"\n[bold]{title}[/bold]")
    for finding, counts in rows[:SHOWN]:
        (first, _), *others = counts.most_common()
        more = f"; and {len(others)} more" if others else ""
        console.print(f"  {counts.total()} × {_where(finding)}: {escape(first)}{more}")
        for text in _advice(finding, advised):
            console.print(Padding(text, (0, 0, 0, 4)))
    if len(rows) > SHOWN:
        console.print(f"  and {len(rows) - SHOWN} more lines (--json FILE has them)")


def _advice(finding: Finding, advised: set[tuple[str, int]]) -> list[str]:
    """What to write instead; nothing if the line was already advised."""
    if finding.where in advised:
        return []
    advised.add(finding.where)
    return [escape(f"→ {text}") for text in advice(finding).values()]


def _where(finding: Finding) -> str:
    file, line = finding.where
    if not file:
        return "outside of your files"
    near = os.path.relpath(file)
    return escape(f"{file if near.startswith('..') else near}:{line}")
