"""Reuse by methods, as PyTorch counted it for its Lazy Tensor Core.

There, a backend subclasses the tensor and the executor, and reuses or overrides each of their
methods. Here a frontend holds the core's types and calls them, so that little can be overridden. So
methods and functions that a frontend has for a tensor's or an executor's work are counted too, as
its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lazytensor.reuse.components import FRONTENDS, PACKAGE, paths
from lazytensor.reuse.source import parsed

TENSOR: Final = "tensor"
EXECUTOR: Final = "executor"
CORE: Final = {
    TENSOR: ("ir/node", "buffers/cell", "buffers/array_base", "ir/module_scope"),
    EXECUTOR: (
        *("ir/trace_state", "trace/automatic_cut", "runtime/scheduler", "ir/program"),
        *("runtime/executor", "runtime/program_cache", "passes/specialize", "passes/donation"),
        *("interpreter/interpreter", "runtime/guards"),
    ),
}
"""Per kind of type: the core's modules for it."""
OWN: Final = {
    "numpy": {
        TENSOR: (
            *("arrays/array", "arrays/scalar", "arrays/methods", "arrays/operators"),
            *("arrays/conversion", "arrays/protocols", "host/alias", "host/parts"),
        ),
        EXECUTOR: ("ufuncs/delivery", "ufuncs/checks"),
    },
    "torch": {
        TENSOR: ("tensors/tensor", "tensors/storages", "tensors/strides", "tensors/views"),
        EXECUTOR: ("optim/steps",),
    },
    "tf": {TENSOR: ("tensors/tensor", "tensors/variables"), EXECUTOR: ("dispatch/steps",)},
}
"""Per frontend and kind: the frontend's own modules for that work."""
PUBLISHED: Final = (0.56, 0.61)
"""Share of methods reused as they are, as PyTorch published it for its Lazy Tensor Core."""
BY_LINES: Final = (0.66, 0.73)
"""Share of lines that the two code bases of the paper (arXiv 2102.13267) share, as measured."""


@dataclass(frozen=True)
class Methods:
    """The methods of one kind of type that a frontend works with.

    `reused`: methods of the core, used as they are. `overridden`: methods of the core that a
    subclass in the frontend replaces. `own`: the frontend's other methods.
    """

    frontend: str
    kind: str
    reused: int
    overridden: int
    own: int

    @property
    def share(self) -> float:
        """The reused share of reused and overridden methods, as PyTorch counted."""
        return self.reused / (self.reused + self.overridden)

    @property
    def share_of_all(self) -> float:
        """The reused share of all methods."""
        return self.reused / (self.reused + self.overridden + self.own)


def measure() -> tuple[Methods, ...]:
    """Count the methods of each frontend, by kind."""
    return tuple(_methods(name, kind) for name in FRONTENDS for kind in (TENSOR, EXECUTOR))


def _methods(frontend: str, kind: str) -> Methods:
    core = [PACKAGE / "core" / f"{module}.py" for module in CORE[kind]]
    declared = {name for path in core for name in functions(path)}
    folder = PACKAGE / FRONTENDS[frontend][0]
    mine = {n for module in OWN[frontend][kind] for n in functions(folder / f"{module}.py")}
    replaced = {name for path in paths(FRONTENDS[frontend][0]) for name in _redefined(path)}
    overridden = declared & replaced
    return Methods(frontend, kind, len(declared - overridden), len(overridden), len(mine))


def functions(path: Path) -> set[str]:
    """The functions and methods of a module: `name`, or `Class.name`."""
    return set(_functions(parsed(path), ""))


def _functions(node: ast.Module | ast.ClassDef, inside: str) -> Iterator[str]:
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            yield inside + item.name
        elif isinstance(item, ast.ClassDef):
            yield from _functions(item, f"{item.name}.")


def _redefined(path: Path) -> Iterator[str]:
    """`Base.name` of each method that a class of this file defines, for each of its bases."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                for item in node.body:
                    if isinstance(item, ast.FunctionDef):
                        yield f"{ast.unparse(base).split('.')[-1]}.{item.name}"
