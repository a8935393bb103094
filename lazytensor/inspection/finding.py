"""Findings: the effects of each line of the user's code, the slowest line first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from lazytensor.inspection.ledger import Site, Tally
from lazytensor.inspection.source import Source, source

SILENT = {
    "automatic cut",
    "sync()",
    "optimizer.step()",
    "optimizer.apply()",
    "initial values of variables",
    "initial values of parameters",
}
"""Causes of cuts that are not observations of a value."""


@dataclass(frozen=True)
class Finding:
    """A line, and its effects."""

    source: Source
    tally: Tally

    @property
    def seconds(self) -> float:
        """Its time without recording."""
        return self.tally.seconds

    @property
    def cuts(self) -> int:
        """Programs that were run for it."""
        return self.tally.cuts.total()

    @property
    def observations(self) -> int:
        """Cuts because a value was asked for."""
        return self.observed.total()

    @property
    def observed(self) -> Counter[str]:
        """Observations by cause."""
        causes = self.tally.cuts.items()
        return Counter({cause: n for cause, n in causes if cause not in SILENT})

    @property
    def computed(self) -> list[str]:
        """The functions that NumPy must compute from values, and that caused cuts for them."""
        causes = self.tally.cuts
        return [c for c in causes if c.startswith("numpy.") and c not in self.tally.fallbacks]

    @property
    def compiles(self) -> int:
        """Programs that were compiled for it."""
        return self.tally.ways["compiled"]

    @property
    def where(self) -> tuple[str, int]:
        """File and line."""
        return self.source.file, self.source.line

    def record(self) -> dict[str, Any]:
        """The same as plain data."""
        tally = self.tally
        return {
            "file": self.source.file,
            "line": self.source.line,
            "text": self.source.text,
            "seconds": self.seconds,
            "parts": dict(tally.parts),
            "cuts": dict(tally.cuts),
            "ways": dict(tally.ways),
            "compiles": dict(tally.reasons),
            "fallbacks": dict(tally.fallbacks),
        }


def findings(sites: dict[Site | None, Tally]) -> list[Finding]:
    """The tallies by line; the slowest site of a line gives its syntax."""
    lines: dict[tuple[str, int], Finding] = {}
    for site, tally in sorted(sites.items(), key=lambda item: -item[1].seconds):
        place = Source("", 0) if site is None else source(*site)
        found = lines.setdefault((place.file, place.line), Finding(place, Tally()))
        found.tally.add(tally)
    return sorted(lines.values(), key=lambda finding: -finding.seconds)
