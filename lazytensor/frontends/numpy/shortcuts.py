"""The public functions, as bound methods: small arrays go straight to NumPy's own functions.

NumPy's functions do not become methods of a class that has them as attributes. `class Layer:
reduce = np.sum` and the fields of dataclasses rely on that. A bound method does not either, and
Python calls it as fast as a function. A `staticmethod` is slower, by as much time as all else here
takes. The object that it is bound to also says how it is pickled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import Signature, signature
from types import FunctionType
from typing import Any, Final

import numpy as np

from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import ndarray
from lazytensor.frontends.numpy.host.small import (
    GROWING,
    NOTHING,
    NUMBERS,
    all_stay,
    entered,
    lazy_if_large,
)
from lazytensor.frontends.numpy.ufuncs.recipes import Recipes

Function = Callable[..., Any]
PRODUCTS: Final = frozenset(["dot", "inner", "vdot"])
"""Products of two arrays, which are common in loops over rows."""

_SEVERAL: Final = frozenset([list, tuple])
OWN_KEYWORDS: Final = frozenset(["argsort", "sort"])
"""Functions with keywords that NumPy's lack. NumPy's are called for a single array alone."""


def shortened(found: FunctionType, real: Any) -> FunctionType:
    """`found` with a shorter path to NumPy's `real`, as a method whose first argument is `self`."""
    name = found.__name__
    alone = name in OWN_KEYWORDS
    if name in GROWING:
        made = _growing(found, real)
    else:
        made = _of_two(found, real) if name in PRODUCTS else _of_one(found, real, alone)
    update_wrapper(made, found)
    del made.__dict__["__wrapped__"]  # else `inspect` shows its parameters as the method's
    try:
        known = signature(found)
    except (TypeError, ValueError):
        known = None
    if known is not None:
        made.__signature__ = Bound([*known.parameters.values()])  # type: ignore[attr-defined]
    return made


class Bound(Signature):
    """NumPy's signature of a function that is a method here.

    `inspect` drops the first parameter of a method's function, as its `self`.
    """

    def replace(self, **_: Any) -> Signature:  # type: ignore[override]
        """The whole signature, as there is no `self` to drop."""
        return Signature([*self.parameters.values()])


def _of_one(slow: Function, real: Function, alone: bool) -> FunctionType:
    """A function whose first argument may be a small array.

    `alone`: NumPy's is called only if there is nothing else but an axis.
    """
    array, known = np.ndarray, settings  # local names are looked up faster than global ones
    recipes: Recipes | None = vars(slow).get("recipes")

    def call(
        home: object, x: Any = NOTHING, /, *rest: Any, axis: Any = NOTHING, **kwargs: Any
    ) -> Any:
        kind = type(x)
        if kind is array and x.size < known.small:
            if not (rest or kwargs):
                if axis is NOTHING:
                    made = real(x)
                    return lazy_if_large(made) if type(made) is array else made
                if type(axis) is int or (type(axis) is tuple and all_stay(axis)):
                    made = real(x, axis=axis)
                    if type(made) is array and made.size < known.small:
                        return made
                    return entered(made, (x,))
            is_small = not alone
        elif kind is ndarray:
            is_small = False
        else:
            is_small = all_stay(x) if kind in _SEVERAL else kind in NUMBERS and known.small > 0
            is_small = is_small and not alone
        if axis is not NOTHING:
            kwargs["axis"] = axis
        if is_small and all_stay(rest) and (not kwargs or all_stay(kwargs.values())):
            made = real(x, *rest, **kwargs)
            if type(made) in NUMBERS or (type(made) is array and made.size < known.small):
                return made
            return entered(made, (x, *rest), kwargs)  # a list, whose arrays may be large or views
        if recipes is not None and x is not NOTHING:
            return recipes.called((x, *rest), kwargs)
        return slow(*rest, **kwargs) if x is NOTHING else slow(x, *rest, **kwargs)

    return call  # type: ignore[return-value]


def _growing(slow: Function, real: Function) -> FunctionType:
    """A function of two arrays whose result has an element for each pair of theirs."""
    array, known = np.ndarray, settings

    def call(home: object, a: Any = NOTHING, b: Any = NOTHING, out: Any = None) -> Any:
        if type(a) is array and type(b) is array and out is None:
            size, other, bound = a.size, b.size, known.small
            if size < bound and other < bound and size * other < bound:
                return real(a, b)
        given = [x for x in (a, b) if x is not NOTHING]
        return slow(*given) if out is None else slow(*given, out=out)

    return call  # type: ignore[return-value]


def _of_two(slow: Function, real: Function) -> FunctionType:
    """A function of two arrays. Its parameters are spelled out, as `*args` takes longer."""
    array, known = np.ndarray, settings

    def call(home: object, a: Any = NOTHING, b: Any = NOTHING, out: Any = None) -> Any:
        if type(a) is array and type(b) is array and out is None and a.size < known.small > b.size:
            made = real(a, b)
            return lazy_if_large(made) if type(made) is array else made
        given = [x for x in (a, b) if x is not NOTHING]
        return slow(*given) if out is None else slow(*given, out=out)

    return call  # type: ignore[return-value]
