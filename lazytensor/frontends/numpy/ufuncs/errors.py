"""Errors with NumPy's classes and texts, raised by NumPy itself.

A function says what it needs of its arguments (`refuse_unless`). Without that the whole call is
NumPy's, with the values. When there are none, as the call is traced, or when a type rule refuses,
NumPy is called with real arrays of the same shapes and dtypes that take no memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from lazytensor.core.ir.types import TensorType
from lazytensor.frontends.numpy.arrays.array import Lazy


class HostOnly(TypeError):
    """Raised for a call that only NumPy computes or refuses, mostly for a dtype that XLA lacks."""


class Refused(HostOnly):
    """Raised for a call that NumPy refuses, so that NumPy says why."""


def refuse_unless(condition: object) -> None:
    """Leave a call that NumPy refuses to NumPy. Raises: Refused."""
    if not condition:
        raise Refused("NumPy raises its own error")


def dummy(type: TensorType) -> np.ndarray:
    """A read-only real array of this type that stores one element."""
    return np.broadcast_to(np.ones((), type.dtype), type.shape)


def as_numpy(error: Exception, function: Callable[..., Any], *args: Any, **kwargs: Any) -> NoReturn:
    """Raise the error of `function` for real arrays like `args`, or `error` if there is none."""
    stand_ins = [_stand_in(x) for x in args]
    options = {name: _stand_in(x, name == "out") for name, x in kwargs.items()}
    try:
        function(*stand_ins, **options)
    except (TypeError, ValueError, IndexError, OverflowError) as theirs:
        raise theirs.with_traceback(None) from None
    raise error


def _stand_in(x: Any, written: bool = False) -> Any:
    if type(x) is tuple or type(x) is list:
        return type(x)(_stand_in(item, written) for item in x)
    if not issubclass(type(x), Lazy):
        return x
    return np.empty(x.shape, x.dtype) if written else dummy(x.type)
