"""The names of the ops for frontends, `lazytensor/core/ops/__init__.py`, made of the code.

`python -m benchmarks.op_names` writes the module; a test says when it is not current.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from lazytensor.core.ir.op import Op

FOLDER: Final = Path(__file__).parents[1] / "lazytensor" / "core" / "ops"
MODULE: Final = FOLDER / "__init__.py"
HEAD: Final = '''"""The ops: `ops.add(x, y)` records a node.

`python -m benchmarks.op_names` makes this module.
"""

import lazytensor.core.ops.memory_views  # fills `SHOWS`
from lazytensor.core.ir.op import element, leaf, scalar, starts
'''
GIVEN: Final = r"\b(Node|ViewStep)\b"
"""What a function gives that composes ops, or makes the step of a view."""
OWN: Final = "approximation"
"""The module with the names that ops are written in, which frontends do not need."""


def names(stem: str) -> list[str]:
    """What a module declares for frontends."""
    module = import_module(f"lazytensor.core.ops.{stem}")
    declared = [*_declared(ast.parse((FOLDER / f"{stem}.py").read_text(encoding="utf-8")))]
    public = [(name, gives) for name, gives in declared if not name.startswith("_")]
    ops = {name for name, _ in public if isinstance(getattr(module, name), Op)}
    functions = {name for name, gives in public if re.search(GIVEN, gives)}
    return sorted(ops | functions)


def _declared(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that a module assigns or defines, and what a function of that name gives."""
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name, returns=gives):
                yield name, "" if gives is None else ast.unparse(gives)
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, ""
            case ast.Assign(targets=[ast.Tuple(elts=targets)]):
                yield from ((x.id, "") for x in targets if isinstance(x, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, ""


def text() -> str:
    """The text of the module."""
    parts = [HEAD]
    for path in sorted(FOLDER.glob("[a-z]*.py")):
        found = names(path.stem) if path.stem != OWN else []
        if found:
            parts.append(f"from lazytensor.core.ops.{path.stem} import {', '.join(found)}\n")
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        run = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(MODULE), "-"]
        made = subprocess.run(run, input="".join(parts), capture_output=True, text=True, check=True)
        parts = [made.stdout]
    return parts[0]


if __name__ == "__main__":
    MODULE.write_text(text(), encoding="utf-8")
