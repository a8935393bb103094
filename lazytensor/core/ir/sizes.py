"""Sizes that are known at run time only: affine functions of one size, and their text.

`2*batch+1` is the text of twice the size `batch` and one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

Size = int | str
"""A size, or the text of one that is known at run time only."""
_TEXT: Final = re.compile(r"(?:(\d+)\*)?([A-Za-z_]\w*)([+-]\d+)?")


class Affine(NamedTuple):
    """`scale * n + offset`."""

    scale: int
    offset: int

    def at(self, n: int) -> int:
        """The value for a size."""
        return self.scale * n + self.offset

    def text(self, symbol: str) -> Size:
        """The text, with a name for n; the number, if it does not depend on n."""
        if not self.scale:
            return self.offset
        scale = f"{self.scale}*" if self.scale != 1 else ""
        return scale + symbol + (f"{self.offset:+d}" if self.offset else "")


def fitted(values: Sequence[int], sizes: Sequence[int]) -> Affine | None:
    """What integers are of the sizes; None if they are no affine function of them."""
    scale, rest = divmod(values[1] - values[0], sizes[1] - sizes[0])
    found = Affine(scale, values[0] - scale * sizes[0])
    fits = not rest and [found.at(n) for n in sizes] == list(values)
    return found if fits else None


def number_of(size: Size, sizes: Mapping[str, Any]) -> Any:
    """A size as a number. sizes: by name. Raises: ValueError for a text that says none."""
    if isinstance(size, int):
        return size
    found = _TEXT.fullmatch(size)
    if found is None or found[2] not in sizes:
        raise ValueError(f"{size!r:.80} is no size of {', '.join(sizes)}")
    return int(found[1] or 1) * sizes[found[2]] + int(found[3] or 0)
