"""`python -m benchmarks.replay`: seconds by the policy in use, and the least that are possible."""

from __future__ import annotations

import statistics

from rich.console import Console
from rich.table import Table

from benchmarks.replay.policies import InUse
from benchmarks.replay.simulate import bound, seconds_of
from benchmarks.replay.trace import recorded


def main() -> None:
    """Print a row for each trace."""
    table = Table("trace", "programs", "runs", "bound, s", "policy, s", "ratio")
    ratios = []
    for trace in recorded():
        least, taken = bound(trace), seconds_of(trace, InUse(trace))
        ratios.append(taken / least)
        counts = str(len(trace.programs)), str(len(trace.runs))
        table.add_row(trace.name, *counts, f"{least:.3f}", f"{taken:.3f}", f"{taken / least:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"geometric mean {statistics.geometric_mean(ratios):.3f}, worst {max(ratios):.3f}"
    )


if __name__ == "__main__":
    main()
