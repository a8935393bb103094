"""Compositions of the core: its composite ops, and the public functions of `core/lib`.

A frontend uses one if its source names it, passes its module on as a whole, or names another that
names it. Modules of `core/lib` that a single frontend uses are not shared; `Frontend.alone` counts
their lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

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
    return set[Name]().union(*map(_named_in, paths))


@cache
def _named_in(path: Path) -> frozenset[Name]:
    return frozenset(_named(parsed(path)))


class _Imports(NamedTuple):
    """What a file imports of `core/lib`: modules by their names there, and functions."""

    modules: dict[str, str]
    functions: dict[str, Name]

    @classmethod
    def of(cls, tree: ast.Module) -> _Imports:
        made = cls({}, {})
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(LIB):
                continue
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            module = str(node.module).removeprefix(LIB).removeprefix(".")
            if module:
                made.functions.update((own, (module, name)) for own, name in names.items())
            else:
                made.modules.update(names)
        return made

    def used(self, tree: ast.AST) -> Iterator[Name]:
        """The functions that a part of the file names."""
        owners = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        for node in ast.walk(tree):
            owner = node.value if isinstance(node, ast.Attribute) else None
            if isinstance(node, ast.Attribute) and isinstance(owner, ast.Name):
                if owner.id in self.modules:
                    yield self.modules[owner.id], node.attr
            elif isinstance(node, ast.Name) and node.id in self.functions:
                yield self.functions[node.id]
            elif isinstance(node, ast.Name) and node.id in self.modules and id(node) not in owners:
                yield from (name for name in public() if name[0] == self.modules[node.id])


def _named(tree: ast.Module) -> Iterator[Name]:
    imports = _Imports.of(tree)
    for module in (*imports.modules.values(), *(m for m, _ in imports.functions.values())):
        yield module, ""
    yield from imports.functions.values()
    yield from imports.used(tree)


@cache
def _within() -> dict[Name, set[Name]]:
    """For each composition, and each module as a whole, the names of `core/lib` in its source."""
    found: dict[Name, set[Name]] = {}
    for path in FOLDER.glob("*.py"):
        tree = parsed(path)
        imports = _Imports.of(tree)
        found[path.stem, ""] = {(module, "") for module, _ in _named(tree)}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                own = {(path.stem, n.name) for n in tree.body
                       if isinstance(n, ast.FunctionDef) and n.name in names}  # fmt: skip
                found[path.stem, node.name] = {*imports.used(node), *own}
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


def ops_within(names: Iterable[Name]) -> set[str]:
    """The names of the core's ops in the source of these compositions."""
    wanted = set(names)
    return {
        attribute.attr
        for path in FOLDER.glob("*.py")
        for node in parsed(path).body
        if isinstance(node, ast.FunctionDef) and (path.stem, node.name) in wanted
        for attribute in ast.walk(node)
        if isinstance(attribute, ast.Attribute) and ast.unparse(attribute.value) == "ops"
    }


def modules(names: Iterable[Name]) -> set[Path]:
    """The files of the modules among the names."""
    return {FOLDER / f"{module}.py" for module, name in names if not name}
