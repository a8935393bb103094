"""NumPy's public submodules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any


def rest_of(
    real: ModuleType, own: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a module that stands in for NumPy's `real`.

    `own`: the names that it defines itself.
    """
    return partial(getattr, real), lambda: sorted({*dir(real), *own})
