"""The entry of calls of NumPy functions.

With a lazy argument the lazy function records. Without one NumPy computes at once, as nothing is
pending, and its result becomes a leaf. Data of a dtype that XLA lacks stay with NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Final

import numpy as np

from lazytensor.core.errors import NoValue, Unsupported
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy import laziness
from lazytensor.frontends.numpy.arrays.array import Lazy, ndarray
from lazytensor.frontends.numpy.arrays.standins import laid
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.fallback import WRITERS, called, fallback, lazies, on_host
from lazytensor.frontends.numpy.host.parts import small_by_now
from lazytensor.frontends.numpy.host.small import (
    GROWING,
    NOTHING,
    are_plain,
    at_once,
    entered,
    grows,
    lazy_if_large,
)
from lazytensor.frontends.numpy.indexing.masked import REDUCTIONS, Masked, reduced
from lazytensor.frontends.numpy.interop.interchange import adopted, has_foreign, unpacked
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, Refused, as_numpy
from lazytensor.frontends.numpy.ufuncs.recipes import of_value, remembered

Function = Callable[..., Any]
PICKLE_HOMES: Final = {
    "numpy.fft": "lazytensor.numpy.fft",
    "numpy.linalg": "lazytensor.numpy.linalg",
    "numpy.testing._private.utils": "lazytensor.numpy.testing",
}
"""By module of NumPy: where pickle finds the counterparts of its functions."""

MOST_ARGUMENTS: Final = 3
"""Arguments after these may let some functions write to the first one (`overwrite_input`)."""
_COPY_KEYWORDS: Final = frozenset({"copy", "overwrite_input"})
"""Keywords that let functions write to an argument or return it."""


def has_lazy(*values: Any) -> bool:
    """Whether `values`, nested lists and tuples included, hold a lazy array or scalar."""
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            continue
        if issubclass(kind, Lazy):
            return True
        if (kind is list or kind is tuple) and not are_plain(value) and has_lazy(*value):
            return True
    return False


def lazily(name: str, function: Function, real: Function) -> Function:
    """`function`, which records, with the name and the docstring of NumPy's `real`."""
    growing = name in GROWING
    name_in_errors(function, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not (args and type(args[0]) is ndarray):
            if len(args) == 1 and not kwargs:  # `at_once`, written out: loops over small arrays
                x = args[0]
                if type(x) is np.ndarray and x.size < settings.small:
                    made = real(x)
                    return lazy_if_large(made) if type(made) is np.ndarray else made
            if at_once(args, kwargs, growing):
                made = real(*args, **kwargs)
                if type(made) is np.ndarray and made.size < settings.small:
                    return made
                return entered(made, args, kwargs)
            large = growing and len(args) == 2 and not kwargs and grows(*args)
            if name in REDUCTIONS and len(args) == 1 and not kwargs and type(args[0]) is Masked:
                made = reduced(name, args[0])
                if made is not None:
                    return made
            if not large and not has_lazy(*args, *kwargs.values()):
                if has_foreign(*args):
                    args = adopted(args)
                else:
                    try:
                        return entered(real(*args, **kwargs), args, kwargs)
                    except ValueError:
                        args = unpacked(args)
                        if not has_lazy(*args):
                            raise
            if name in WRITERS and args and type(args[0]) is np.ndarray:
                return on_host(name, real, args, kwargs)
        return _recorded(name, function, real, real, args, kwargs)

    return dressed(remembered(name, call, real), real, laziness.line(name))


def _recorded(
    name: str,
    function: Function,
    real: Function,
    of_known: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """The result that `function` records, or that of NumPy's `real` if it cannot be lazy.

    `of_known` computes it for arrays that are small by now and that the host has.
    """
    if differing and is_raised():
        made = _of_known(name, of_known, args, kwargs)
        if made is not NOTHING:
            return made
    try:
        return laid(function(*args, **kwargs), real, args, kwargs)
    except HostOnly as reason:
        try:
            return on_host(name, real, args, kwargs)
        except NoValue as missing:  # the call is traced
            if not isinstance(reason, Refused):
                raise
            if name in WRITERS:  # stand-ins are read-only
                args = (np.empty(args[0].shape, args[0].dtype), *args[1:])
            as_numpy(missing, real, *args, **kwargs)
    except Unsupported:
        return fallback(name, real, args, kwargs)


def _of_known(name: str, real: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's result for arrays that are small by now and that the host has.

    `NOTHING` for other arrays, or if NumPy may write to them or return a view of their memory.
    """
    most = 1 if name == "nan_to_num" else MOST_ARGUMENTS
    if name in WRITERS or len(args) > most or not _COPY_KEYWORDS.isdisjoint(kwargs):
        return NOTHING
    given = small_by_now(args, kwargs)
    if given is None:
        return NOTHING
    made = real(*given, **kwargs)
    shown = made if isinstance(made, tuple | list) else (made,)
    arrays = [x for x in given if isinstance(x, np.ndarray)]
    for x in shown:
        if isinstance(x, np.ndarray) and (  # an empty view shares no memory
            not x.size or any(np.may_share_memory(x, y) for y in arrays)
        ):
            return NOTHING
    return entered(made, given, kwargs)


def method(name: str, function: Function) -> Function:
    """`function`, which records, as the method `name` of arrays."""
    real, known = getattr(np.ndarray, name), of_value(name)
    name_in_errors(function, name)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _recorded(name, function, real, known, (self, *args), kwargs)

    made = remembered(name, call, known)
    made.__name__ = made.__qualname__ = name
    made.__doc__ = laziness.said(laziness.line(name), name, real.__doc__)
    return made


def name_in_errors(function: Function, name: str) -> None:
    """Set the name that Python's errors for wrong arguments show, unless it is already public."""
    given = function.__qualname__
    if "<locals>" in given or given.strip("_") != given:
        function.__qualname__ = name


def hosted(name: str, real: Function) -> Function:
    """NumPy's function itself, without a warning, as it needs values by its nature."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if not at_once(args, kwargs) and lazies((args, kwargs)):
            return on_host(name, real, args, kwargs)
        return entered(called(real, args, kwargs), args, kwargs)

    return dressed(call, real, laziness.COMPUTES_ARGUMENTS)


def dressed(call: Function, real: Function, line: str = laziness.RECORDS) -> Function:
    """`call` with the name and the signature of `real`, and its docstring with `line` added."""
    update_wrapper(call, real, updated=())
    call.__doc__ = laziness.said(line, call.__name__, real.__doc__)
    call.__module__ = PICKLE_HOMES.get(getattr(real, "__module__", ""), "lazytensor.numpy")
    for name in ("__signature__", "__text_signature__"):
        if hasattr(real, name):
            setattr(call, name, getattr(real, name))
    return call
