"""Memories keyed by types and plain values; all are forgotten together."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

ENTRIES_BOUND: Final = 20_000
"""Entries of one memory, where not said otherwise."""

Memory = dict[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])
_forgetting: Final[list[Callable[[], object]]] = []


def memory() -> Memory:
    """A memory by keys: a plain dict, which is looked up fastest."""
    made: Memory = {}
    _forgetting.append(made.clear)
    return made


def forget_also(clear: Callable[[], object]) -> None:
    """Have `forget` empty one more memory, by calling `clear`."""
    _forgetting.append(clear)


def keep(known: Memory, key: Any, value: Any, bound: int = ENTRIES_BOUND) -> None:
    """Remember a value; a memory of `bound` entries is emptied first."""
    if len(known) >= bound:
        known.clear()
    known[key] = value


def remembered(bound: int) -> Callable[[F], F]:
    """A function of types and plain values whose last `bound` results are kept."""

    def decorate(function: F) -> F:
        made = lru_cache(bound)(function)
        _forgetting.append(made.cache_clear)
        return cast(F, made)

    return decorate


def forget() -> None:
    """Empty every memory, of every frontend."""
    for clear in _forgetting:
        clear()
