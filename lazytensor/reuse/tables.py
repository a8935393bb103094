"""The report as tables in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from lazytensor.cli.table import ABSENT, table
from lazytensor.reuse.components import COMPARED, NAMES
from lazytensor.reuse.dynamic import Comparison, shares_of_steps
from lazytensor.reuse.report import Report
from lazytensor.reuse.static import Static


def show(found: Report) -> None:
    """Print the report."""
    console = Console()
    console.print(_lines(found.static))
    console.print(_ops(found.static))
    if found.dynamic:
        console.print(_runs(found.dynamic))
        console.print(_programs(found.dynamic))


def percent(share: float) -> str:
    """A share for people: `61 %`."""
    return f"{share:.0%}".replace("%", " %")


def _lines(found: Static) -> Table:
    heads = "own", "shared", "strictly", "of functions", "ops", "rows", "lines an op"
    shown = table("Lines of code", *heads)
    total = sum(found.shared.values())
    for name, lines in found.shared.items():
        shown.add_row(name, f"{lines:,}", *[""] * 6)
    shown.add_section()
    for f in found.frontends:
        figures = ["not installed" if f.name in NAMES else ABSENT, ABSENT, ABSENT]
        if f.supported is not None:
            figures = [f"{f.supported:,}", f"{f.rows:,}", f"{f.lines / f.supported:.1f}"]
        shares = map(percent, (f.share, f.strict_share, f.function_share))
        shown.add_row(NAMES.get(f.name, f.name), f"{f.lines:,}", *shares, *figures)
    shown.caption = (
        f"shared: of {total:,} lines and a frontend's own; strictly: without what a single "
        f"frontend uses of core/lib, which is its own. Tools: {found.tools:,} lines"
    )
    shown.caption_justify = "left"
    return shown


def _ops(found: Static) -> Table:
    shown = table("Of the core", "ops used", "compositions")
    for f in found.frontends:
        shown.add_row(NAMES.get(f.name, f.name), str(len(f.ops)), str(len(f.compositions)))
    shown.add_section()
    frameworks = len(COMPARED)
    shown.add_row("by all", str(len(found.in_all())), "")
    shown.add_row("by NumPy, torch and TF", "", str(len(found.used_by(frameworks))))
    shown.add_row("by two of these", "", str(len(found.used_by(2))))
    shown.add_row("declared", str(found.declared), str(len(found.compositions)))
    return shown


def _runs(found: tuple[Comparison, ...]) -> Table:
    shown = table("Lines run", "core", "backend", "own", "share", "of steps", "ops")
    for comparison in found:
        for run in comparison.runs:
            lines = (str(run.lines.get(name, 0)) for name in ("core", "backend", run.frontend))
            name = f"{comparison.workload.name}, {NAMES[run.frontend]}"
            shares = percent(run.share), percent(run.share_of_steps)
            shown.add_row(name, *lines, *shares, str(sum(run.ops.values())))
        shown.add_section()
    for name, share in shares_of_steps(found).items():
        shown.add_row(f"all, {NAMES[name]}", "", "", "", "", percent(share), "")
    return shown


def _programs(found: tuple[Comparison, ...]) -> Table:
    names = [NAMES[run.frontend] for run in found[0].runs]
    shown = table("Programs and compiles", "equal", *names)
    for comparison in found:
        compiles = (str(run.compiles) for run in comparison.runs)
        said = "yes" if comparison.equal else "no"
        shown.add_row(comparison.workload.name, said, *compiles)
    shown.caption = "equal: in the normal form. Compiles: of each frontend, run one after another"
    shown.caption_justify = "left"
    return shown
