"""Operands of other libraries and of users' array classes: which class computes, which wraps.

A class with its own `__array_ufunc__` computes by itself, also next to lazy arrays. A class with an
`__array_wrap__` gets the result and wraps it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.interop import offered
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.host.fallback import on_host
from lazytensor.frontends.numpy.host.small import are_plain, entered
from lazytensor.frontends.numpy.interop.interchange import unpacked
from lazytensor.frontends.numpy.ufuncs.promotion import is_special

_PLAIN_CLASSES: Final = frozenset([bool, int, float, complex, str, bytes, list, tuple, type(None)])


def overrides(x: Any) -> bool:
    """Whether the class of `x` computes ufuncs by itself."""
    kind = type(x)
    if kind in _PLAIN_CLASSES or issubclass(kind, Lazy) or kind is np.ndarray:
        return False
    if not hasattr(kind, "__array_ufunc__"):
        return False
    return kind.__array_ufunc__ is not np.ndarray.__array_ufunc__


def wraps(x: Any) -> bool:
    """Whether the class of `x` wraps the results that NumPy computes from it.

    The class of another frontend's lazy array does not: its values are taken, as in all functions.
    """
    kind = type(x)
    if kind in _PLAIN_CLASSES or issubclass(kind, Lazy | np.ndarray | np.generic):
        return False
    return hasattr(kind, "__array_wrap__") and offered(x) is None


def takes_part(args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether the class of an argument or of `out=` overrides or wraps a ufunc."""
    if any(overrides(x) or wraps(x) for x in args):
        return True
    if not kwargs:
        return False
    out = kwargs.get("out")
    outs = out if type(out) is tuple else (out,)
    return any(overrides(x) or wraps(x) for x in (*outs, kwargs.get("where")))


def has_functions(values: Any) -> bool:
    """Whether the class of any of `values`, nested ones included, computes NumPy's functions."""
    return any(map(_has_functions, values))


def _has_functions(x: Any) -> bool:
    kind = type(x)
    if kind is list or kind is tuple:
        return not are_plain(x) and has_functions(x)
    if kind in _PLAIN_CLASSES or issubclass(kind, Lazy):
        return False
    if issubclass(kind, np.ndarray):
        return is_special(x)
    return hasattr(kind, "__array_function__")


def overridden(
    lazily: Any, real: Any, name: str, arrays: Any, args: Any, kwargs: Any, context: Any = None
) -> Any:
    """The result of NumPy's `real` as the classes of `arrays`, some of the arguments, override it.

    `lazily`: its lazy counterpart. `context`: the call, as NumPy passes it to `__array_wrap__`.
    """
    if any(map(wraps, args)) and not any(map(overrides, arrays)):
        given = unpacked(args)
        if any(x is not y for x, y in zip(args, given, strict=True) if wraps(x)):
            return _wrapped(lazily(*given, **kwargs), args, kwargs, context)
    if any((isinstance(x, np.ndarray) and overrides(x)) or wraps(x) for x in arrays):
        return on_host(name, real, args, kwargs)  # such classes know no lazy arrays
    return real(*args, **kwargs)


def _wrapped(made: Any, args: Any, kwargs: Any, context: Any) -> Any:
    """A result of lazy arrays, wrapped by the class of the arguments that has priority."""
    chosen, first = None, SCALAR_PRIORITY
    for x in args:
        priority = ARRAY_PRIORITY if issubclass(type(x), ndarray) else SCALAR_PRIORITY
        if wraps(x):
            priority = getattr(x, "__array_priority__", ARRAY_PRIORITY)
            if priority > first or (priority == first and chosen is None):
                chosen, first = x, priority
        elif priority > first:
            chosen, first = None, priority
    if chosen is None or kwargs.get("out") is not None:
        return made
    results = made if type(made) is tuple else (made,)
    found = tuple(
        chosen.__array_wrap__(np.asarray(x), context and (*context, i), type(x) is Scalar)
        for i, x in enumerate(results)
    )
    return found if type(made) is tuple else found[0]


ARRAY_PRIORITY: Final = 0.0
SCALAR_PRIORITY: Final = -1000000.0
"""NumPy's `__array_priority__`."""


def kept_as_arrays(made: Any) -> Any:
    """Results of a call with `out=...`, which are arrays even if they have no axes."""
    if type(made) is tuple:
        return tuple(map(kept_as_arrays, made))
    if type(made) is Scalar:
        return wrap(made.node)
    return made if isinstance(made, ndarray) else entered(np.asarray(made))
