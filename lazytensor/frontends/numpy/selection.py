"""Advanced indexing: boolean masks and integer arrays."""

from __future__ import annotations

from typing import Any


def plain(key: Any) -> Any:
    """`key` with NumPy's and lazy integers in it as Python's, where that makes it basic."""
    return key


def read(x: Any, key: Any) -> Any:
    """A copy of the elements selected."""
    raise NotImplementedError


def write(x: Any, key: Any, value: Any) -> None:
    """Write to the elements selected."""
    raise NotImplementedError
