"""Places in the user's code: where a node was recorded, where a cut was caused."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.ir.library_files import is_hidden
from lazytensor.core.ir.recording import Place, user_frame


def user_stack() -> tuple[Place, ...]:
    """The places of every user frame, innermost first: a point in a running program."""
    frame, places = user_frame(), []
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
        """Whether this is, as far as one can tell, a loop around the other.

        Of two loops of one function the earlier one is, from wherever the function was called.
        """
        (code, offset), (other_code, other_offset) = self.places[-1], other.places[-1]
        if code is other_code and offset != other_offset:
            return offset < other_offset
        return self.outside < other.outside
