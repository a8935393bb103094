"""Warnings that name the user's line."""

from __future__ import annotations

import warnings
from typing import Final

from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.ir.recording import Place, user_place
from lazytensor.core.ir.source_location import line_of

_warned: Final[set[tuple[str, Place | None]]] = set()


def warn_at(place: Place | None, text: str, category: type[Warning]) -> None:
    """Warn at a place of the user's; at the caller's caller where none is known."""
    if place is None:
        warnings.warn(text, category, stacklevel=3)
    else:
        warnings.warn_explicit(text, category, place[0].co_filename, line_of(place))


def warn_of_fallback(name: str, framework: str, what: str) -> None:
    """Say that a call of `framework` is not lazy, once a call site; `what` computes it instead."""
    place = user_place()
    if (framework, place) in _warned:
        return
    _warned.add((framework, place))
    where = "" if place is None else f"{place[0].co_filename}:{line_of(place)}: "
    warn_at(place, f"{where}{name} is not lazy yet: {what}", LazyTensorWarning)
