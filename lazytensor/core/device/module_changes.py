"""Changes to modules of other libraries, made at once or when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Change = Callable[[ModuleType], object]


def when_imported(changes: Mapping[str, Change]) -> Callable[[], None]:
    """Change modules by name: those imported at once, the others when they are imported.

    Returns: a function after which no further module is changed.
    """
    for name, change in changes.items():
        if name in sys.modules:
            change(sys.modules[name])
    finder: Any = _Finder(changes)
    sys.meta_path.insert(0, finder)
    return lambda: sys.meta_path.remove(finder)


class _Finder:
    """Finds no module itself, but changes those of a table that other finders find."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self.changes = changes

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        change = self.changes.get(name)
        if change is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    _change_after(spec.loader, change)
                return spec
        return None


def _change_after(loader: Any, change: Change) -> None:
    run = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        run(module)
        change(module)

    loader.exec_module = exec_module
