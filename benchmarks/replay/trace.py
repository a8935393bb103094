"""A trace: the programs of a script, and its cuts in order, with the seconds of both tiers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

TRACES: Final = Path(__file__).parent / "traces"


class Traced(NamedTuple):
    """A program: operations, elements of all results, seconds of its compile."""

    size: int
    elements: int
    compile: float


class Trace(NamedTuple):
    """What a script did.

    `runs`: per cut the program's number, and microseconds: of the user's code before it, of the
    host's run and of XLA's.
    """

    name: str
    programs: tuple[Traced, ...]
    runs: tuple[tuple[int, int, int, int], ...]

    def write(self, path: Path) -> None:
        """Write the trace as JSON, one run a line."""
        runs = ",\n".join(json.dumps(run) for run in self.runs)
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{{"programs": {json.dumps(self.programs)},\n"runs": [\n{runs}\n]}}\n')


def read(path: Path) -> Trace:
    """The trace in a file."""
    found = json.loads(path.read_text())
    programs = tuple(Traced(*program) for program in found["programs"])
    return Trace(path.stem, programs, tuple(tuple(run) for run in found["runs"]))


def recorded() -> list[Trace]:
    """All traces that are kept, by name."""
    return [read(path) for path in sorted(TRACES.glob("*.json"))]
