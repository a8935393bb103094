"""The parts of the package for which code is counted."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import lazytensor
from lazytensor.reuse.source import python_files

PACKAGE: Final = Path(lazytensor.__file__).parent
CORE: Final = "core"
BACKEND: Final = "backend"
SHARED: Final = {
    CORE: ("core", "api.py", "checkpoint.py", "distributed.py", "launched.py", "sharding.py"),
    BACKEND: ("backends", "environment.py"),
}
"""Folders of the package that every frontend uses, ours or another's."""
FRONTENDS: Final = {
    "numpy": ("frontends/numpy", "numpy"),
    "torch": ("frontends/torch", "frontends/autoload.py", "torch.py"),
    "tf": ("frontends/tf", "tf.py"),
    "array_api": ("frontends/array_api", "array_api.py"),
}
"""Per frontend: its folder, and other files that only it needs."""
TOOLS: Final = ("artifacts", "building", "cli", "inspection", "reuse", "swap")
"""Commands, pages, reports and exported programs: neither shared nor a frontend's."""
COMPARED: Final = ("numpy", "torch", "tf")
"""The frontends that the workloads are written for."""
NAMES: Final = {
    "numpy": "NumPy", "torch": "PyTorch", "tf": "TensorFlow", "array_api": "array API",
}  # fmt: skip
INSTALLED: Final = {
    "numpy": "numpy", "torch": "torch", "tf": "tensorflow", "array_api": "numpy",
}  # fmt: skip
"""Per frontend: its framework's package."""


def paths(*folders: str) -> list[Path]:
    """Python files in folders of the package."""
    return python_files(PACKAGE / folder for folder in folders)


def is_installed(frontend: str) -> bool:
    """Whether the framework of a frontend can be imported."""
    try:
        import_module(INSTALLED[frontend])
    except ImportError:
        return False
    return True


def component(filename: str) -> str | None:
    """The part of the package that a file belongs to; None for a file outside the package."""
    path = Path(filename)
    if PACKAGE not in path.parents:
        return None
    inside = path.relative_to(PACKAGE).as_posix()
    for name, folders in {**SHARED, **FRONTENDS}.items():
        if any(inside == folder or inside.startswith(f"{folder}/") for folder in folders):
            return name
    return "tools"
