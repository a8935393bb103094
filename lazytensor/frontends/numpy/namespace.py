"""Every public name: lazy where there is a lazy one, NumPy's own otherwise."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np

from lazytensor.frontends.numpy import functions
from lazytensor.frontends.numpy.array import ndarray
from lazytensor.frontends.numpy.fallback import fallback, lazies
from lazytensor.frontends.numpy.flat import flatiter
from lazytensor.frontends.numpy.shadow import overlap
from lazytensor.frontends.numpy.ufunc import ufunc
from lazytensor.frontends.numpy.ufuncs import UFUNCS

LAZY: Final[dict[str, Any]] = {
    **UFUNCS,
    "ndarray": ndarray,
    "ufunc": ufunc,
    "flatiter": flatiter,
    "shares_memory": lambda a, b, max_work=None: overlap(a, b, np.shares_memory, max_work),
    "may_share_memory": lambda a, b, max_work=None: overlap(a, b, np.may_share_memory, max_work),
    **functions.FUNCTIONS,
}
"""Per public name what we put in its place."""


def find(name: str) -> Any:
    """The object of this public name. Raises: AttributeError."""
    found = LAZY.get(name)
    if found is None:
        found = NumPy_(getattr(np, name))
        LAZY[name] = found
    return found


def NumPy_(value: Any) -> Any:
    """NumPy's own: functions with lazy arguments fall back, all else is what it is."""
    if isinstance(value, type | ModuleType) or not callable(value):
        return value
    return computed(value)


def computed(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function; lazy arguments are computed first, loudly."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if lazies((args, kwargs)):
            return fallback(function.__name__, function, args, kwargs)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = getattr(function, "__name__", "call")
    call.__doc__ = function.__doc__
    return call


def counterpart(real: Any) -> Any:
    """What stands for NumPy's function, found by its module and name; None if nothing does."""
    return None
