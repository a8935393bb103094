"""Compositions of the core: its composite ops, and the public functions of `core/lib`.

A frontend uses one if its source names it, or if it names one that names it. Modules of `core/lib`
that a single frontend uses are shared by nobody: `alone` has their lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from lazytensor.reuse.components import PACKAGE
from lazytensor.reuse.source import parsed

LIB: Final = "lazytensor.core.lib"
FOLDER: Final = PACKAGE / "core" / "lib"
Name = tuple[str, str]
"""A module of `core/lib`, and a name in it; an empty one is the module as a whole."""


@cache
def public() -> frozenset[Name]:
    """The compositions that `core/lib` has, by module and name."""
    return frozenset(
        (path.stem, node.name)
        for path in FOLDER.glob("*.py")
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    )


def named(paths: Iterable[Path]) -> set[Name]:
    """What the files name of `core/lib`: its functions, and modules that they import."""
    return {name for path in paths for name in _named(parsed(path))}


def _named(tree: ast.Module) -> Iterator[Name]:
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == LIB:
            modules.update((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{LIB}."):
            module = str(node.module).removeprefix(f"{LIB}.")
            yield module, ""
            yield from ((module, alias.name) for alias in node.names)
    yield from ((module, "") for module in modules.values())
    for node in ast.walk(tree):
        owner = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Attribute) and isinstance(owner, ast.Name) and owner.id in modules:
            yield modules[owner.id], node.attr


@cache
def _within() -> dict[Name, set[Name]]:
    """For each composition, and each module as a whole, the names of `core/lib` in its source."""
    found: dict[Name, set[Name]] = {}
    for path in FOLDER.glob("*.py"):
        tree = parsed(path)
        outside = set(_named(tree))
        found[path.stem, ""] = {(module, "") for module, _ in outside}
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            said = {(m, name) for m, name in outside if name in names}
            found[path.stem, node.name] = said | {(path.stem, name) for name in names & own}
    return found


def used(paths: Iterable[Path]) -> set[Name]:
    """The compositions, and whole modules, that the files use, directly or through another."""
    todo, found = list(named(paths)), set[Name]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += _within().get(name, ())
    return found


def modules(names: Iterable[Name]) -> set[Path]:
    """The files of the modules among the names."""
    return {FOLDER / f"{module}.py" for module, name in names if not name}
