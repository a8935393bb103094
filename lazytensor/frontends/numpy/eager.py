"""Small arrays that stay NumPy's own: recording what is done to them takes longer than doing it.

Recording and cutting an operation costs some microseconds, in which NumPy computes thousands of
elements. So arrays of fewer elements than `settings.eager` that are made of host data are real
ones, and what is done with nothing but such arrays is done by NumPy, at once. Results of lazy
operations are lazy, whatever their size: to look at them would cut the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.array import Lazy
from lazytensor.frontends.numpy.fallback import lazies

Function = Callable[..., Any]
_PLAIN: Final[set[type]] = set()
"""Classes of what is neither lazy nor an array, as far as they were met."""
_POINTS: Final = (bool, int, float, complex, str, type, np.generic, np.dtype, type(None))


def stays(array: np.ndarray) -> bool:
    """Whether a real array is too small to be made lazy."""
    return array.size < settings.eager


def all_stay(values: Iterable[Any]) -> bool:
    """Whether nothing among `values` is lazy, or an array large enough to become so."""
    bound = settings.eager
    if not bound:
        return False
    for value in values:
        kind = type(value)
        if kind is np.ndarray:
            if value.size >= bound:
                return False
        elif kind not in _PLAIN:
            if not issubclass(kind, _POINTS):
                return False
            _PLAIN.add(kind)
    return True


def of_shape(function: Function, real: Function) -> Function:
    """`function`, a creator whose first argument is a shape; NumPy's where that is small."""

    def call(shape: Any, *args: Any, **kwargs: Any) -> Any:
        bound = settings.eager
        if _size(shape) < bound and all_stay(args) and all_stay(kwargs.values()):
            return real(shape, *args, **kwargs)
        return function(shape, *args, **kwargs)

    return call


def of_data(function: Function, real: Function) -> Function:
    """`function`, which makes an array of its first argument; NumPy's where that is small."""

    def call(data: Any, *args: Any, **kwargs: Any) -> Any:
        bound = settings.eager
        if bound and not lazies(data) and getattr(data, "size", 0) < bound:
            made = real(data, *args, **kwargs)
            if made.size < bound:
                return made
            data = made if data.__class__ in (list, tuple) else data
        return function(data, *args, **kwargs)

    return call


def of_numbers(function: Function, real: Function) -> Function:
    """`function`, which makes an array of a few numbers; NumPy's where that is small."""

    def call(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        small = settings.eager and made.size < settings.eager and not lazies(args)
        return real(*args, **kwargs) if small and issubclass(type(made), Lazy) else made

    return call


def _size(shape: Any) -> float:
    """Elements of an array of this shape, if that is plain to see."""
    if type(shape) is int:
        return shape
    known = type(shape) in (tuple, list) and all(type(n) is int for n in shape)
    return math.prod(shape) if known else math.inf
