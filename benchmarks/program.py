"""The examples as modules whose `np` is the library under test, or its reference."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


def example(name: str, library: ModuleType) -> ModuleType:
    """A fresh copy of `examples/name.py` that computes with `library`."""
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_{library.__name__}", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module)["np"] = library
    return module
