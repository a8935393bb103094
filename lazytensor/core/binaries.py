"""Whether the hot path runs compiled: the modules that have a `.pxd` file beside them.

Each of them is one source that also runs as Python. `building.py` compiles them beside their
sources, and Python prefers a binary to the source of the same name. This module is imported before
them. If every binary is there and was made from today's sources, it changes nothing. Otherwise it
makes Python import all the sources, because compiled modules know the layout of each other's
objects. `LAZYTENSOR_PURE=1` asks for the sources.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

PACKAGE: Final = Path(__file__).parents[1]
MANIFEST: Final = PACKAGE / "binaries.json"
"""Written by a build: the digest of each module's sources, by the module's name."""
BINARY_SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""How the file name of a binary for this Python ends."""
PURE: Final = "LAZYTENSOR_PURE"


def modules() -> dict[str, Path]:
    """The modules that are compiled: their sources without suffix, by name."""
    found = sorted(path.with_suffix("") for path in PACKAGE.rglob("*.pxd"))
    return {".".join((PACKAGE.name, *path.relative_to(PACKAGE).parts)): path for path in found}


def digest(stem: Path) -> str:
    """The digest of one module's sources."""
    found = hashlib.sha256()
    for suffix in (".py", ".pyx", ".pxd"):
        path = stem.with_suffix(suffix)
        if path.exists():
            found.update(path.read_bytes())
    return found.hexdigest()


COMPILED: Final = "compiled"


def state(ignoring_wish: bool = False) -> str:
    """`compiled` if the binaries are whole, and otherwise why the sources are run.

    ignoring_wish: whatever `LAZYTENSOR_PURE` says.
    """
    wish = "" if ignoring_wish else os.environ.get(PURE, "").lower()
    if wish not in ("", "0", "false", "off", "no"):
        return f"Python, as {PURE} is set"
    try:
        known = json.loads(MANIFEST.read_text())
    except FileNotFoundError:
        return "Python, as nothing is compiled (`lazytensor build` compiles it)"
    except (OSError, ValueError) as error:
        return f"Python, as {MANIFEST} cannot be read: {error}"
    if known.get("suffix") != BINARY_SUFFIX:
        return f"Python, as the binaries are for another one: {known.get('suffix')}"
    for name, stem in modules().items():
        if known["sources"].get(name) != digest(stem):
            return f"Python, as {name} has changed since it was compiled (`lazytensor build`)"
        if not stem.with_name(stem.name + BINARY_SUFFIX).exists():
            return f"Python, as the binary of {name} is missing (`lazytensor build`)"
    return COMPILED


class _Sources:
    """Finds the sources of the modules that may have a binary."""

    def __init__(self, stems: dict[str, Path]) -> None:
        self.stems = stems

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a source, if the module is one of those."""
        stem = self.stems.get(name)
        return None if stem is None else spec_from_file_location(name, stem.with_suffix(".py"))


mode: Final = state()
"""What `state` said when the package was imported."""

# Before anything else of the package is imported.
if mode != COMPILED:
    sys.meta_path.insert(0, _Sources(modules()))
