"""The house: no circle of modules in the core and the NumPy frontend, one meaning for each name."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import lazytensor

PACKAGE = Path(lazytensor.__file__).parent
RECORDING = {
    f"lazytensor.core.ir.{name}" for name in ("node", "op", "pending", "recording", "trace_state")
}
"""The one circle: a node has an op, an op makes nodes, a recorder counts and lists them."""
AREAS = ["core", "frontends/numpy", "frontends/torch", "frontends/tf", "backends/xla"]
TABLES = {
    "ALONE", "CHECKED", "COMPOSED", "FOLLOWING", "HOST", "IN_PLACE", "KERNELS", "LAZY", "METHODS",
    "MODULES", "NAMES", "OBJECTS", "OWN", "PLAIN", "ROWS",
}  # fmt: skip
"""Names of a module's own rows, which a table of its package collects."""


def files(area: str) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted((PACKAGE / area).rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(path.read_text())


@pytest.mark.parametrize(("area", "circle"), [("core", RECORDING), ("frontends/numpy", set())])
def test_no_circle_of_modules_but_one(area: str, circle: set[str]) -> None:
    """Neither by imports at the top of files, nor in functions, nor for the type checker."""
    trees = dict(files(area))
    graph: dict[str, set[str]] = {name: set() for name in trees}
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    target = full if full in trees else node.module
                    if target in trees and not {name, target} <= circle:
                        graph[name].add(target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(reversed(error.args[1])))


@pytest.mark.parametrize("area", AREAS)
def test_a_class_or_a_constant_has_one_meaning(area: str) -> None:
    """Of constants of one name all but one are other modules' own, under the same name."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for module, tree in files(area):
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                meanings[node.name].add(f"{module}: class")
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                value = ast.unparse(node.value)
                if isinstance(target, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", target.id):
                    name = target.id.removeprefix("_")
                    if name not in TABLES and not value.endswith(f".{name}"):
                        meanings[name].add(value)
    twice = {name: found for name, found in meanings.items() if len(found) > 1}
    assert not twice
