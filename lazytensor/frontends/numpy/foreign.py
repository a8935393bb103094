"""Operands of other libraries and of users' own array classes: who computes, who wraps.

A class with an `__array_ufunc__` of its own computes by itself, also next to lazy arrays. A class
with an `__array_wrap__` gets the result to make one of its own.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.frontends.numpy.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.fallback import on_host
from lazytensor.frontends.numpy.functions.entry import entered

_PLAIN: Final = frozenset([bool, int, float, complex, str, bytes, list, tuple, type(None)])


def overrides(x: Any) -> bool:
    """Whether the class of `x` computes ufuncs by itself."""
    kind = type(x)
    if kind in _PLAIN or issubclass(kind, Lazy) or kind is np.ndarray:
        return False
    if not hasattr(kind, "__array_ufunc__"):
        return False
    return kind.__array_ufunc__ is not np.ndarray.__array_ufunc__


def overridden(name: str, real: Any, arrays: Any, args: Any, kwargs: Any) -> Any:
    """What the classes of `arrays`, which are among the arguments, make of NumPy's `real`."""
    if any(isinstance(x, np.ndarray) and overrides(x) for x in arrays):
        return on_host(name, real, args, kwargs)  # a subclass of NumPy's array knows no lazy ones
    return real(*args, **kwargs)


def kept_as_arrays(made: Any) -> Any:
    """Results of a call with `out=...`: arrays also where they have no axes."""
    if type(made) is tuple:
        return tuple(map(kept_as_arrays, made))
    if type(made) is Scalar:
        return wrap(made.node)
    return made if isinstance(made, ndarray) else entered(np.asarray(made))
