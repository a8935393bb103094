"""Calls without NumPy's floating-point warnings, cheaper than within `np.errstate`."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any, Final

import numpy as np

_contexts: Final[list[Context]] = []
"""Contexts in which NumPy does not warn, none of them in use."""


def quietly(function: Callable[..., Any], *args: Any) -> Any:
    """The function's result, without floating-point warnings."""
    # A context is popped while it is in use: a finalizer or another thread may call this meanwhile.
    context = _contexts.pop() if _contexts else _quiet_context()
    try:
        return context.run(function, *args)
    finally:
        _contexts.append(context)


def _quiet_context() -> Context:
    context = Context()
    context.run(partial(np.seterr, all="ignore"))
    return context
