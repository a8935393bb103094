"""Places in the user's code: where a node was recorded, where a cut was caused."""

from __future__ import annotations

import os
from pathlib import Path
from sys import _getframe
from types import CodeType, FrameType
from typing import NamedTuple

Place = tuple[CodeType, int]
"""A code object and the offset of an instruction in it; made a line only when it is shown."""

_package = Path(os.path.abspath(__file__)).parents[2]
_folders = [f"{_package}{os.sep}"]
hidden: dict[str, bool] = {"<frozen importlib._bootstrap>": True}


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


def user_frame(depth: int = 2) -> FrameType | None:
    """The innermost frame that is not the library's own, if any."""
    frame: FrameType | None = _getframe(depth)
    known = hidden  # looked up here, and not by `is_hidden`: each array that is made asks for it
    while frame is not None:
        name = frame.f_code.co_filename
        if not (known[name] if name in known else is_hidden(name)):
            break
        frame = frame.f_back
    return frame


def user_place() -> Place | None:
    """Where in the user's code the caller's caller was called from."""
    frame = user_frame(3)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def user_stack() -> tuple[Place, ...]:
    """The places of every user frame, innermost first: a point in a running program."""
    frame, places = user_frame(2), []
    while frame is not None:
        if not is_hidden(frame.f_code.co_filename):
            places.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(places)


def line_of(place: Place) -> int:
    """The line number of a place."""
    code, offset = place
    positions = list(code.co_positions())
    index = offset // 2
    line = positions[index][0] if 0 <= index < len(positions) else None
    return line if line is not None else code.co_firstlineno


def describe(place: Place | None) -> str:
    """`file.py:12 in step`, or `unknown place`."""
    if place is None:
        return "unknown place"
    return f"{place[0].co_filename}:{line_of(place)} in {place[0].co_name}"


class Loop(NamedTuple):
    """A loop's head: the user's stack there, innermost frame first, as far as the loop's own frame.

    What called the loop does not matter, so that a second call finds its programs again. `outside`
    is the number of frames that did.
    """

    places: tuple[Place, ...]
    outside: int

    def is_at(self, here: tuple[Place, ...]) -> bool:
        """Whether the program is at this head."""
        return here[: len(self.places)] == self.places

    def contains(self, other: Loop) -> bool:
        """Whether this is, as far as one can tell, a loop around the other."""
        return (self.outside, self.places[-1][1]) < (other.outside, other.places[-1][1])
