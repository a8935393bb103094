"""Interrupts that came where nothing could be given up, until somebody raises them."""

from __future__ import annotations

from typing import Final

_deferred: Final[list[BaseException]] = []


def defer(interrupt: BaseException) -> None:
    """Keep an interrupt, as a Ctrl-C is."""
    _deferred.append(interrupt)


def raise_deferred() -> None:
    """Raise the first interrupt that was kept, and forget the others."""
    if _deferred:
        first = _deferred[0]
        _deferred.clear()
        raise first
