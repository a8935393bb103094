"""A frame of this frontend on the stack, for compiled code, which has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def call(function: Callable[..., Any], *args: Any) -> Any:
    """What the function gives."""
    return function(*args)
