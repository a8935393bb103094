"""Creators of arrays: lazy if the array is large, NumPy's own if it is small (see `small.py`)."""

from __future__ import annotations

import math
from typing import Any, Final, cast

import numpy as np

from lazytensor.core.buffers.interop import METHOD
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.host.fallback import lazies
from lazytensor.frontends.numpy.host.small import all_stay, count
from lazytensor.frontends.numpy.interop.interchange import unpacked
from lazytensor.frontends.numpy.modules.standard import placed

PLACED: Final = frozenset([
    "arange", "asanyarray", "asarray", "empty", "empty_like", "eye", "full", "full_like",
    "linspace", "ones", "ones_like", "zeros", "zeros_like",
])  # fmt: skip
"""The creators that take a device."""


def of_shape(function: Function, real: Function) -> Function:
    """`function`, whose first argument is a shape, or NumPy's if the array is small."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "device" in kwargs:
            return _placed(call, args, kwargs)
        bound = settings.small
        if bound and args and _size(args[0]) < bound:
            plain = len(args) == 1 and not kwargs
            if plain or (all_stay(args[1:]) and all_stay(kwargs.values())):
                return real(*args, **kwargs)
        if kwargs and _is_like_another(kwargs):
            return real(*args, **kwargs)
        return function(*args, **kwargs)

    return call


def of_data(function: Function, real: Function) -> Function:
    """`function`, which makes an array of its first argument, or NumPy's if that is small."""
    takes_device = real.__name__ in PLACED

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "device" in kwargs and takes_device:
            return _placed(call, args, kwargs)
        bound = settings.small if args else 0
        given: Any = args[0] if args else None
        kind = type(given)
        if kind is np.ndarray:
            is_small = given.size < bound
        elif (kind is list or kind is tuple) and all_stay(given):
            is_small = bound > 0
        else:
            is_small = bound > 0 and not hasattr(kind, METHOD) and not lazies(given)
            is_small = is_small and count(given, 0) < bound
        if is_small:
            try:
                made = real(*args, **kwargs)
            except ValueError:
                if not lazies(unpacked(given)):
                    raise
                return function(*args, **kwargs)
            if not isinstance(made, np.ndarray) or made.size < bound:
                return made
            if kind in (list, tuple) or not count(given, 0):
                args = (made, *args[1:])
        if kwargs and _is_like_another(kwargs):
            return real(*args, **kwargs)
        return function(*args, **kwargs)

    return call


def of_numbers(function: Function, real: Function) -> Function:
    """`function`, which makes a matrix of a height and a width, or NumPy's if it is small."""
    takes_device = real.__name__ in PLACED

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs and "device" in kwargs and takes_device:
            return _placed(call, args, kwargs)
        sizes = args[:2] if len(args) > 1 and args[1] is not None else args[:1] * 2
        plain = "M" not in kwargs and all_stay(args) and all_stay(kwargs.values())
        if sizes and plain and _size(sizes) < settings.small:
            return real(*args, **kwargs)
        if kwargs and _is_like_another(kwargs):
            return real(*args, **kwargs)
        made = function(*args, **kwargs)
        small = settings.small and made.size < settings.small and not lazies(args)
        return real(*args, **kwargs) if small and issubclass(type(made), Lazy) else made

    return call


def of_function(function: Function, real: Function) -> Function:
    """`function`, whose first argument makes the array, or NumPy's if `like=` asks for that."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (real if _is_like_another(kwargs) else function)(*args, **kwargs)

    return call


def placing(function: Function) -> Function:
    """`function`, which makes an array, with the argument `device`."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if "device" in kwargs:
            return _placed(function, args, kwargs)
        return function(*args, **kwargs)

    return call


def _placed(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `function` makes of all arguments but the device, on the device."""
    device = kwargs.pop("device")
    return placed(function(*args, **kwargs), device)


def _is_like_another(kwargs: dict[str, Any]) -> bool:
    """Whether `like=` is of a class that makes its own arrays, or that NumPy refuses."""
    like = kwargs.get("like")
    return not (like is None or issubclass(type(like), Lazy | np.ndarray))


def _size(shape: Any) -> float:
    """The number of elements of an array of this shape; infinity for lazy or unusual shapes."""
    kind = type(shape)
    if kind is int:
        return cast(float, shape)
    if kind is tuple or kind is list:
        sizes = shape
    elif kind is range or (kind is np.ndarray and shape.ndim == 1):
        sizes = tuple(shape)
    else:
        sizes = (shape,)
    size = 1
    for n in sizes:
        if type(n) is int:
            size *= n
        elif issubclass(type(n), np.integer):  # not `isinstance`: lazy scalars claim to be one
            size *= int(n)
        else:
            return math.inf
    return size
