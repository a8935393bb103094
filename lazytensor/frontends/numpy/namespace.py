"""Every public name: the lazy object if there is one, NumPy's own otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from lazytensor.frontends.numpy import functions, laziness, shortcuts
from lazytensor.frontends.numpy.arrays.array import FUNCTION_TYPES, ndarray
from lazytensor.frontends.numpy.arrays.flat import flatiter
from lazytensor.frontends.numpy.arrays.shadow import overlap
from lazytensor.frontends.numpy.host.fallback import fallback, lazies
from lazytensor.frontends.numpy.modules import standard
from lazytensor.frontends.numpy.ufuncs import checks
from lazytensor.frontends.numpy.ufuncs.table import UFUNCS
from lazytensor.frontends.numpy.ufuncs.ufunc import ufunc


def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Lazy.

    See numpy.shares_memory.
    """
    return overlap(a, b, np.shares_memory, max_work)


def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Lazy.

    See numpy.may_share_memory.
    """
    return overlap(a, b, np.may_share_memory, max_work)


LAZY: Final[dict[str, Any]] = {
    **functions.FUNCTIONS,
    **UFUNCS,
    "errstate": checks.errstate,
    "geterr": checks.geterr,
    "seterr": checks.seterr,
    "ndarray": ndarray,
    "ufunc": ufunc,
    "flatiter": flatiter,
    "shares_memory": shares_memory,
    "may_share_memory": may_share_memory,
    "__array_api_version__": standard.VERSION,
    "__array_namespace_info__": standard.Information,
}
"""By public name of NumPy: its lazy counterpart."""

MODULES: Final[Mapping[str, ModuleType]] = functions.MODULES
"""By public module of NumPy (`linalg`, `fft`, `random`): its lazy counterpart."""


def find(name: str) -> Any:
    """The object of this public name. Raises: AttributeError."""
    if name in LAZY:
        return LAZY[name]
    if name in MODULES:
        return MODULES[name]
    value = getattr(np, name)
    return value if isinstance(value, type | ModuleType) or not callable(value) else computed(value)


class Home:
    """The object that public functions are bound to. It finds them by name."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return public(name)

    def __reduce__(self) -> str:
        return "HOME"

    def __repr__(self) -> str:
        return "lazytensor.numpy"


HOME: Final = Home()


class Function(staticmethod):  # type: ignore[type-arg]  # no [] before Python 3.13
    """A function that does not become a method as a class attribute (see `shortcuts.py`)."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function)
        vars(self).update(vars(function))
        self.__module__ = "lazytensor.numpy"  # where pickle finds it

    def __reduce__(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return f"<function {self.__name__} at {id(self):#x}>"


@cache
def public(name: str) -> Any:
    """The object of this public name, as users get it."""
    found = find(name)
    if not isinstance(found, FUNCTION_TYPES):
        return found
    own = found.__name__
    if own != name and getattr(np, own, None) is getattr(np, name):
        return public(own)  # two names of one function
    if found is functions.OF_ARRAYS.get(name) or name in shortcuts.OWN_KEYWORDS:
        return MethodType(shortcuts.shortened(found, getattr(np, name)), HOME)
    return Function(found)


def names() -> list[str]:
    """Every public name."""
    return sorted({*dir(np), *LAZY, *MODULES})


def computed(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function. Lazy arguments are computed first, with a warning."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if lazies((args, kwargs)):
            return fallback(call.__name__, function, args, kwargs)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = getattr(function, "__name__", type(function).__name__)
    call.__doc__ = laziness.said(laziness.FALLS, call.__name__, function.__doc__)
    return call


@cache
def _counterparts() -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    homes = ("fft", "linalg")  # only their functions, and NumPy's own, pass lazy arrays on
    tables = [(np, LAZY), *((getattr(np, n), vars(MODULES[n])) for n in homes)]
    for home, table in [*tables, (np.lib.stride_tricks, MODULES["lib"].stride_tricks.LAZY)]:
        for name, lazy in table.items():
            real = getattr(home, name, None)
            if callable(real) and real is not lazy and not isinstance(real, type):
                found[real] = public(name) if home is np else lazy
    return found


def counterpart(real: Any) -> Any:
    """The lazy counterpart of NumPy's function, if any."""
    return _counterparts().get(real)
