"""What came of the kernels, and the table of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.table import Table

from benchmarks.figures import Figures

SLOWEST, MEAN = 0.8, 2.6  # what a kernel, and the geometric mean of them, should reach
FIRST_FACTOR, FIRST_SECONDS = 2.0, 0.1  # a first call: this many times NumPy's, or that much more


@dataclass(frozen=True)
class Outcome:
    """A kernel's figures, or why there are none."""

    name: str
    figures: Figures = field(default_factory=dict)
    failure: str = ""

    @property
    def speed(self) -> float:
        """NumPy's time over ours; nothing for a kernel that failed."""
        return self.figures["speed"].median if self.figures else 0.0

    @property
    def starts_well(self) -> bool:
        """Whether the first call takes no longer than it may."""
        if not self.figures:
            return False
        theirs, ours = (self.figures[f"first {n}"].median for n in ("NumPy", "ours"))
        return ours <= max(FIRST_FACTOR * theirs, theirs + FIRST_SECONDS)


def geometric_mean(outcomes: Sequence[Outcome], of: str = "speed") -> float:
    """The geometric mean of the speeds of the kernels that were measured."""
    speeds = [outcome.figures[of].median for outcome in outcomes if of in outcome.figures]
    return math.exp(sum(map(math.log, speeds)) / len(speeds)) if speeds else 0.0


def reached(outcomes: Sequence[Outcome]) -> bool:
    """Whether every promise is kept."""
    return (
        geometric_mean(outcomes) >= MEAN
        and all(outcome.speed >= SLOWEST for outcome in outcomes)
        and all(outcome.starts_well for outcome in outcomes)
    )


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line: how many failed, the mean, how many miss what."""
    failed = sum(not outcome.figures for outcome in outcomes)
    slow = sum(0 < outcome.speed < SLOWEST for outcome in outcomes)
    late = sum(bool(outcome.figures) and not outcome.starts_well for outcome in outcomes)
    peers = [outcome for outcome in outcomes if "jax speed" in outcome.figures]
    by_hand = f"; by hand with JAX {geometric_mean(peers, 'jax speed'):.2f}×" if peers else ""
    return (
        f"{len(outcomes)} kernels, {failed} failed; geometric mean "
        f"{geometric_mean(outcomes):.2f}× NumPy (target {MEAN}×){by_hand}; "
        f"{slow} below {SLOWEST}×; {late} with too slow a first call"
    )


def table(outcomes: Sequence[Outcome], title: str) -> Table:
    """One line a kernel, the slowest first; counts are of one call."""
    drawn = Table(title=title, caption="counts are of one call when warm; ! marks a miss")
    headings = (
        "kernel speed by-hand NumPy ours first compiled compiles cuts interpreted nodes fallbacks"
    )
    for heading in headings.split():
        drawn.add_column(heading, justify="left" if heading == "kernel" else "right")
    for outcome in sorted(outcomes, key=lambda o: o.speed):
        drawn.add_row(outcome.name, *(_cells(outcome) if outcome.figures else [outcome.failure]))
    return drawn


def _cells(outcome: Outcome) -> list[str]:
    of = {name: figure.median for name, figure in outcome.figures.items()}
    first = f"{of['first ours'] * 1e3:.0f}/{of['first NumPy'] * 1e3:.0f}"
    counts = ("compiles before", "compiles", "cuts", "interpreted", "nodes", "fallbacks")
    return [
        f"{of['speed']:.2f}{'' if outcome.speed >= SLOWEST else '!'}",
        f"{of['jax speed']:.2f}" if "jax speed" in of else "",
        f"{of['NumPy'] * 1e3:.2f} ms",
        f"{of['ours'] * 1e3:.2f} ms",
        first if outcome.starts_well else f"{first}!",
        *(f"{of[name]:g}" for name in counts),
    ]
