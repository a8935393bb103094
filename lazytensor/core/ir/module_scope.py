"""Names for parts of a user's program: what is recorded in a scope is shown as a group.

Nodes are numbered as they are recorded, so that a scope is a range of numbers: recording does not
know of scopes, and costs nothing more for them.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.recording import nodes_made

MARKS_KEPT: Final = 20_000
"""Beginnings and ends that are remembered; a program that is older is shown without names."""


class _Scopes(threading.local):
    """The scopes that are open, and from which node on each was, or was again."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.numbers: list[int] = []
        self.names: list[str] = []


_scopes: Final = _Scopes()


def enter(name: str) -> None:
    """Begin a scope in this thread."""
    _scopes.open.append(name)
    _mark(name)


def leave() -> None:
    """End the scope that was begun last."""
    _scopes.open.pop()
    _mark(_scopes.open[-1] if _scopes.open else "")


@contextmanager
def scope(name: str) -> Iterator[None]:
    """Name what is recorded in the block: `program.show()` groups it as a module."""
    enter(name)
    try:
        yield
    finally:
        leave()


def modules(nodes: Sequence[Node | None]) -> tuple[str, ...]:
    """The scope that each node was recorded in; nothing at all if there has been none."""
    if not _scopes.numbers:
        return ()
    return tuple("" if node is None else _name(node.serial) for node in nodes)


def _mark(name: str) -> None:
    scopes = _scopes
    scopes.numbers.append(nodes_made())
    scopes.names.append(name)
    if len(scopes.numbers) > MARKS_KEPT:
        del scopes.numbers[: MARKS_KEPT // 2], scopes.names[: MARKS_KEPT // 2]


def _name(serial: int) -> str:
    at = bisect_right(_scopes.numbers, serial)
    return _scopes.names[at - 1] if at else ""
