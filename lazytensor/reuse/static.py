"""The static part: the shared code, by lines and by the core's ops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import Op
from lazytensor.reuse import compositions
from lazytensor.reuse.components import COMPARED, FRONTENDS, SHARED, TOOLS, is_installed, paths
from lazytensor.reuse.source import count_functions, count_lines, ops_used, python_files, texts
from lazytensor.reuse.supported import SUPPORTED


@dataclass(frozen=True)
class Frontend:
    """The counts of one frontend.

    `lines`, `functions`: its own lines of code, functions and methods. `share`, `function_share`:
    those that it shares, of these and its own. `alone`: lines of `core/lib` that no other frontend
    of the package uses; `strict_share` counts them as its own, and leaves out those of others.
    `supported`: operations of its framework that it records. `rows`: those of them that its source
    names; the others are composed of these. Both are None if the framework is not installed or not
    in `SUPPORTED`. `ops`, `compositions`: names in the core that its source uses.
    """

    name: str
    lines: int
    functions: int
    alone: int
    share: float
    strict_share: float
    function_share: float
    supported: int | None
    rows: int | None
    ops: tuple[str, ...]
    compositions: tuple[str, ...]


@dataclass(frozen=True)
class Static:
    """Lines of code of the shared parts and of the tools; the frontends."""

    shared: dict[str, int]
    tools: int
    frontends: tuple[Frontend, ...]
    declared: int
    """Ops that the core declares under a public name."""
    compositions: dict[str, tuple[str, ...]]
    """The core's compositions, and the frontends of the package that use each."""

    def ours(self) -> tuple[Frontend, ...]:
        """The frontends of the package."""
        return self.frontends[: len(FRONTENDS)]

    def in_all(self) -> tuple[str, ...]:
        """The ops that all frontends of the package use."""
        found = [set(frontend.ops) for frontend in self.ours()]
        return tuple(sorted(set.intersection(*found)))

    def used_by(self, least: int) -> tuple[str, ...]:
        """The compositions that at least this many of the frameworks' frontends use.

        The array API's namespace is left out: it lifts whole modules of the core.
        """
        found = {name: set(users) & set(COMPARED) for name, users in self.compositions.items()}
        return tuple(name for name, users in found.items() if len(users) >= least)


def public_ops() -> dict[str, Op]:
    """The core's ops by the names under which frontends find them."""
    return {name: op for name, op in vars(ops).items() if isinstance(op, Op)}


def measure(others: Iterable[Path] = ()) -> Static:
    """Count the package, and the frontends in the folders `others`.

    Raises: SyntaxError for a file there that is not Python.
    """
    known = public_ops()
    # Count these first, so that errors in them are raised at once.
    given = {path.stem: _sources(path.stem, python_files([path]), known) for path in others}
    files = {name: paths(*folders) for name, folders in SHARED.items()}
    shared = {name: count_lines(found) for name, found in files.items()}
    own = {name: _sources(name, paths(*folders), known) for name, folders in FRONTENDS.items()}
    alone = _alone({name: sources.files for name, sources in own.items()})
    functions = sum(map(count_functions, files.values()))
    totals = _Totals(sum(shared.values()), functions, sum(alone.values()))
    frontends = [_frontend(s, alone.get(n, 0), totals) for n, s in (own | given).items()]
    users = {
        name: tuple(f.name for f in frontends[: len(FRONTENDS)] if name in f.compositions)
        for name in _compositions(known)
    }
    return Static(shared, count_lines(paths(*TOOLS)), tuple(frontends), len(known), users)


class _Totals(NamedTuple):
    """Of the shared parts: lines, functions, lines that a single frontend uses."""

    lines: int
    functions: int
    alone: int


class _Sources(NamedTuple):
    """A frontend's files, and what they say."""

    name: str
    files: list[Path]
    lines: int
    functions: int
    ops: tuple[str, ...]
    compositions: tuple[str, ...]


def _compositions(known: dict[str, Op]) -> tuple[str, ...]:
    """The names of all compositions: `softmax` of an op, `pooling.mean_pool` of `core/lib`."""
    composites = {name for name, op in known.items() if isinstance(op, Composite)}
    return tuple(sorted(composites | {".".join(name) for name in compositions.public()}))


def _sources(name: str, files: list[Path], known: dict[str, Op]) -> _Sources:
    ops_ = tuple(sorted(ops_used(files, known)))
    within = compositions.used(files)
    used = {".".join(pair) for pair in within} | compositions.ops_within(within) | set(ops_)
    found = tuple(name for name in _compositions(known) if name in used)
    return _Sources(name, files, count_lines(files), count_functions(files), ops_, found)


def _alone(files: dict[str, list[Path]]) -> dict[str, int]:
    """The lines of modules of `core/lib` that a single frontend uses, by frontend."""
    modules = {name: compositions.modules(compositions.used(some)) for name, some in files.items()}
    return {
        name: count_lines(own - set[Path]().union(*(m for n, m in modules.items() if n != name)))
        for name, own in modules.items()
    }


def _frontend(found: _Sources, alone: int, totals: _Totals) -> Frontend:
    supported = rows = None
    if found.name in SUPPORTED and is_installed(found.name):
        operations = SUPPORTED[found.name]()
        supported = len(operations)
        rows = len(operations & texts(found.files))
    strict = totals.lines - totals.alone
    return Frontend(
        found.name, found.lines, found.functions, alone,
        totals.lines / (totals.lines + found.lines), strict / (strict + found.lines + alone),
        totals.functions / (totals.functions + found.functions),
        supported, rows, found.ops, found.compositions,
    )  # fmt: skip
