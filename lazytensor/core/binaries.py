"""Whether the hot path runs compiled: the modules that have a `.pxd` file beside them.

Each of them is one source that also runs as Python. `building.py` compiles them beside their
sources, and Python prefers a binary to the source of the same name. This module is imported before
them. If every binary is there and was made from today's sources, it changes nothing. Otherwise it
makes Python import all the sources, because compiled modules know the layout of each other's
objects. `LAZYTENSOR_PURE=1` asks for the sources.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Final

from lazytensor.core.settings import flag

# Paths are strings here, as `pathlib` takes a tenth of the time to import the package.
PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MANIFEST: Final = os.path.join(PACKAGE, "binaries.json")
"""Written by a build: the digest of each module's sources, by the module's name."""
BINARY_SUFFIX: Final = EXTENSION_SUFFIXES[0]
"""How the file name of a binary for this Python ends."""
PURE: Final = "LAZYTENSOR_PURE"


COMPILED: Final = "compiled"


def stem_of(name: str) -> str:
    """The path of a module without its suffix."""
    return os.path.join(os.path.dirname(PACKAGE), *name.split("."))


def binary_of(name: str) -> str:
    """Where the binary of a module lies, or would."""
    return stem_of(name) + BINARY_SUFFIX


def _sources(name: str) -> list[str]:
    found = (stem_of(name) + suffix for suffix in (".py", ".pyx", ".pxd"))
    return [path for path in found if os.path.exists(path)]


def digest(name: str) -> str:
    """The digest of one module's sources."""
    from hashlib import sha256  # rarely needed

    found = sha256()
    for path in _sources(name):
        with open(path, "rb") as source:
            found.update(source.read())
    return found.hexdigest()


def wants_sources() -> bool:
    """Whether `LAZYTENSOR_PURE` asks for the sources. Raises: ValueError, if it is no flag."""
    return flag(PURE, False)


def fault(names: Iterable[str] = ()) -> str | None:
    """Why the binaries cannot be used, if they cannot.

    names: the modules that must have one besides those of the last build.
    """
    try:
        with open(MANIFEST, encoding="utf-8") as manifest:
            known = json.load(manifest)
    except FileNotFoundError:
        return "nothing is compiled (`lazytensor build` compiles it)"
    except (OSError, ValueError) as error:
        return f"{MANIFEST} cannot be read: {error}"
    if known.get("suffix") != BINARY_SUFFIX:
        return f"the binaries are for another one: {known.get('suffix')}"
    digests = known["sources"]
    for name in digests.keys() | names:
        sources = _sources(name)
        if stem_of(name) + ".pxd" not in sources:
            return f"{name} is no longer compiled (`lazytensor build`)"
        try:
            built = os.stat(binary_of(name)).st_mtime_ns
        except FileNotFoundError:
            return f"the binary of {name} is missing (`lazytensor build`)"
        # Reading a source takes longer than asking for its time.
        is_newer = any(os.stat(path).st_mtime_ns > built for path in sources)
        if name not in digests or (is_newer and digest(name) != digests[name]):
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
        if not name.startswith(f"{os.path.basename(PACKAGE)}."):
            return None
        source = stem_of(name) + ".py"
        if not (os.path.exists(binary_of(name)) and os.path.exists(source)):
            return None
        return spec_from_file_location(name, source)


mode: Final = state()
"""What `state` said when the package was imported."""

# Before anything else of the package is imported.
if mode != COMPILED:
    sys.meta_path.insert(0, _SourceFinder())
