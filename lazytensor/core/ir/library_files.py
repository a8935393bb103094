"""Which source files are the library's own, so that places are the user's."""

from __future__ import annotations

import os
from typing import Final

_package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_folders: Final = [os.path.join(_package, ""), os.path.join(os.path.basename(_package), "")]
"""Folders of the library. The second is how tracebacks name the sources of compiled modules."""
hidden: Final[dict[str, bool]] = {"<frozen importlib._bootstrap>": True}
"""What `is_hidden` has answered, by file name."""


def is_hidden(filename: str) -> bool:
    """Whether a file is the library's own."""
    known = hidden.get(filename)
    if known is None:
        known = hidden[filename] = filename.startswith(tuple(_folders))
    return known


def hide(filename: str) -> None:
    """Count this file's frames as the library's own (a frontend outside the package, a runner)."""
    hidden[filename] = True


def hide_folder(path: str) -> None:
    """Count the frames of all files in a folder as the library's own (a framework above it)."""
    _folders.append(os.path.join(path, ""))
