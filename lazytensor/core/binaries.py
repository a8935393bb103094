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
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Final

from lazytensor.core.settings import flag

PACKAGE: Final = Path(__file__).parents[1]
MANIFEST: Final = PACKAGE / "binaries.json"
"""Written by a build: the digest of each module's sources, by the module's name."""
BINARY_SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""How the file name of a binary for this Python ends."""
PURE: Final = "LAZYTENSOR_PURE"


COMPILED: Final = "compiled"


def modules() -> dict[str, Path]:
    """The modules that are compiled: their sources without suffix, by name."""
    found = sorted(path.with_suffix("") for path in PACKAGE.rglob("*.pxd"))
    return {".".join((PACKAGE.name, *path.relative_to(PACKAGE).parts)): path for path in found}


def _stem(name: str) -> Path:
    return PACKAGE.parent.joinpath(*name.split("."))


def binary_of(stem: Path) -> Path:
    """Where the binary of a module lies, or would."""
    return stem.with_name(stem.name + BINARY_SUFFIX)


def _sources(stem: Path) -> list[Path]:
    found = (stem.with_suffix(suffix) for suffix in (".py", ".pyx", ".pxd"))
    return [path for path in found if path.exists()]


def digest(stem: Path) -> str:
    """The digest of one module's sources."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in _sources(stem))).hexdigest()


def wants_sources() -> bool:
    """Whether `LAZYTENSOR_PURE` asks for the sources. Raises: ValueError, if it is no flag."""
    return flag(PURE, False)


def fault(names: Iterable[str] = ()) -> str | None:
    """Why the binaries cannot be used, if they cannot.

    names: the modules that must have one besides those of the last build.
    """
    try:
        known = json.loads(MANIFEST.read_text())
    except FileNotFoundError:
        return "nothing is compiled (`lazytensor build` compiles it)"
    except (OSError, ValueError) as error:
        return f"{MANIFEST} cannot be read: {error}"
    if known.get("suffix") != BINARY_SUFFIX:
        return f"the binaries are for another one: {known.get('suffix')}"
    digests = known["sources"]
    for name in digests.keys() | names:
        stem = _stem(name)
        binary = binary_of(stem)
        if not stem.with_suffix(".pxd").exists():
            return f"{name} is no longer compiled (`lazytensor build`)"
        if not binary.exists():
            return f"the binary of {name} is missing (`lazytensor build`)"
        built = binary.stat().st_mtime_ns
        # Reading a source takes longer than asking for its time.
        is_newer = any(path.stat().st_mtime_ns > built for path in _sources(stem))
        if name not in digests or (is_newer and digest(stem) != digests[name]):
            return f"{name} has changed since it was compiled (`lazytensor build`)"
    return None


def state() -> str:
    """`compiled` if the binaries are run, and otherwise why the sources are."""
    reason = f"{PURE} is set" if wants_sources() else fault()
    return COMPILED if reason is None else f"Python, as {reason}"


class _SourceFinder:
    """Finds the sources of the modules that have a binary."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a source, if the module is one of those."""
        if not name.startswith(f"{PACKAGE.name}."):
            return None
        stem = _stem(name)
        if not (binary_of(stem).exists() and stem.with_suffix(".py").exists()):
            return None
        return spec_from_file_location(name, stem.with_suffix(".py"))


mode: Final = state()
"""What `state` said when the package was imported."""

# Before anything else of the package is imported.
if mode != COMPILED:
    sys.meta_path.insert(0, _SourceFinder())
