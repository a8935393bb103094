"""Interrupts that came where nothing could be given up, until somebody raises them."""

from __future__ import annotations

from typing import Final

_deferred: Final[list[BaseException]] = []


def defer(interrupt: BaseException) -> None:
    """Keep an interrupt, as a Ctrl-C is."""
    _deferred.append(interrupt)


def raise_instead(error: BaseException) -> None:
    """Raise KeyboardInterrupt if that is why a run failed.

    A Ctrl-C at the first instruction of a callback, before it can be kept, ends the run. The
    backend says so in its error's text only.
    """
    if isinstance(error, Exception) and KeyboardInterrupt.__name__ in str(error):
        raise KeyboardInterrupt from error


def raise_deferred() -> None:
    """Raise the first interrupt that was kept, and forget the others."""
    if _deferred:
        first = _deferred[0]
        _deferred.clear()
        raise first
