"""How the share of code that the frontends have in common changed, from the repository's history.

    python -m benchmarks.reuse_history docs/reuse-history.svg

Each release (a tag) is counted, and as long as there are none the last commit of each day.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final, NamedTuple

from lazytensor.reuse.components import COMPARED, FRONTENDS, NAMES, SHARED
from lazytensor.reuse.source import code_lines

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = "lazytensor/"


class Count(NamedTuple):
    """Lines of code at one time: the shared ones, and each frontend's own."""

    when: str
    shared: int
    own: dict[str, int]

    def share(self, frontend: str) -> float:
        """The shared lines' part of these and a frontend's own."""
        return self.shared / (self.shared + self.own[frontend])


def _git(*command: str) -> bytes:
    return subprocess.run(["git", *command], cwd=ROOT, check=True, capture_output=True).stdout


def releases() -> dict[str, str]:
    """The commit of each release by its name, or of each day by its date, the oldest first."""
    tags = _git("tag", "--sort=creatordate", "--format=%(refname:short)").decode().split()
    if tags:
        return {tag: tag for tag in tags}
    lines = _git("log", "--reverse", "--format=%ad %h", "--date=short", "HEAD").decode().split("\n")
    return dict(line.split() for line in lines if line)


def counted(when: str, commit: str) -> Count | None:
    """The counts of a commit; None if it does not have all frontends."""
    found = dict.fromkeys((*SHARED, *COMPARED), 0)
    folders = {**SHARED, **{name: FRONTENDS[name] for name in COMPARED}}
    with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, PACKAGE))) as archive:
        for member in archive.getmembers():
            inside = member.name.removeprefix(PACKAGE)
            file = archive.extractfile(member) if inside.endswith(".py") else None
            for name, places in folders.items():
                if file and any(inside == p or inside.startswith(f"{p}/") for p in places):
                    found[name] += len(code_lines(file.read().decode(), member.name))
                    break
    if not all(found[name] for name in COMPARED):
        return None
    return Count(when, sum(found[name] for name in SHARED), {n: found[n] for n in COMPARED})


def draw(counts: list[Count], path: Path) -> None:
    """A line for each frontend: its share over time; the shared lines as bars below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    shares, lines = figure.subplots(2, sharex=True, height_ratios=(2, 1))
    for name in COMPARED:
        shares.plot([c.when for c in counts], [100 * c.share(name) for c in counts],
                    marker="o", label=NAMES[name])  # fmt: skip
    shares.set_ylabel("shared, % of lines")
    shares.legend()
    lines.bar([c.when for c in counts], [c.shared / 1000 for c in counts], color="0.6")
    lines.set_ylabel("shared lines, 1000s")
    lines.tick_params(axis="x", rotation=45)
    figure.savefig(path)


def main() -> None:
    """Count, print and draw."""
    every = [counted(when, commit) for when, commit in releases().items()]
    counts = [count for count in every if count is not None]
    for count in counts:
        shares = ", ".join(f"{NAMES[name]} {count.share(name):.0%}" for name in COMPARED)
        print(f"{count.when}  {count.shared:,} shared lines: {shares}")
    if len(sys.argv) > 1:
        draw(counts, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
