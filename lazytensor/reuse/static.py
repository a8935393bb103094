"""The static part: the shared code, by lines and by the core's ops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import Op
from lazytensor.reuse.components import FRONTENDS, SHARED, TOOLS, is_installed, paths
from lazytensor.reuse.source import count_lines, ops_used, python_files, texts
from lazytensor.reuse.supported import SUPPORTED


@dataclass(frozen=True)
class Frontend:
    """The counts of one frontend.

    `lines`: its own lines of code. `share`: the shared lines' share of these and its own lines.
    `supported`: operations of its framework that it records. `rows`: those of them that its source
    names; the others are composed of these. Both are None if the framework is not installed or not
    in `SUPPORTED`. `ops`, `composites`: names of the core's ops that its source uses.
    """

    name: str
    lines: int
    share: float
    supported: int | None
    rows: int | None
    ops: tuple[str, ...]
    composites: tuple[str, ...]


@dataclass(frozen=True)
class Static:
    """Lines of code of the shared parts and of the tools; the frontends."""

    shared: dict[str, int]
    tools: int
    frontends: tuple[Frontend, ...]
    declared: int
    """Ops that the core declares under a public name."""

    def ours(self) -> tuple[Frontend, ...]:
        """The frontends of the package."""
        return self.frontends[: len(FRONTENDS)]

    def in_all(self) -> tuple[str, ...]:
        """The ops that all frontends of the package use."""
        return _common(frontend.ops for frontend in self.ours())

    def composites_in_all(self) -> tuple[str, ...]:
        """The composites among them."""
        return _common(frontend.composites for frontend in self.ours())

    def composites_shared(self) -> tuple[str, ...]:
        """The composites that at least two frontends use."""
        used = [name for frontend in self.ours() for name in frontend.composites]
        return tuple(sorted({name for name in used if used.count(name) > 1}))


def _common(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    found = [set(some) for some in names]
    return tuple(sorted(set.intersection(*found))) if found else ()


def public_ops() -> dict[str, Op]:
    """The core's ops by the names under which frontends find them."""
    return {name: op for name, op in vars(ops).items() if isinstance(op, Op)}


def measure(others: Iterable[Path] = ()) -> Static:
    """Count the package, and the frontends in the folders `others`.

    Raises: SyntaxError for a file there that is not Python.
    """
    shared = {name: count_lines(paths(*folders)) for name, folders in SHARED.items()}
    total = sum(shared.values())
    known = public_ops()
    # Count these first, so that errors in them are raised before frameworks are imported.
    theirs = [_frontend(path.stem, python_files([path]), total, known) for path in others]
    ours = [_frontend(name, paths(*folders), total, known) for name, folders in FRONTENDS.items()]
    return Static(shared, count_lines(paths(*TOOLS)), (*ours, *theirs), len(known))


def _frontend(name: str, files: list[Path], shared: int, known: dict[str, Op]) -> Frontend:
    lines = count_lines(files)
    used = sorted(ops_used(files, known))
    supported = rows = None
    if name in SUPPORTED and is_installed(name):
        operations = SUPPORTED[name]()
        supported = len(operations)
        written = texts(files)
        rows = len(operations & written)
    composites = tuple(op for op in used if isinstance(known[op], Composite))
    return Frontend(
        name, lines, shared / (shared + lines), supported, rows, tuple(used), composites
    )
