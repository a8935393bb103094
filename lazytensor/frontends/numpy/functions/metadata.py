"""Functions of shapes and dtypes alone: they compute nothing and cut nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.arrays.conversion import asarray, kind_of
from lazytensor.frontends.numpy.functions.arrays import array, ascontiguousarray
from lazytensor.frontends.numpy.functions.entry import Function, has_lazy
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.ufuncs.errors import dummy


def _attribute(name: str) -> Function:
    """`ndim` and `shape`: an attribute of an array, or of the array that NumPy makes of a list."""

    def read(a: Any) -> Any:
        if hasattr(a, name):
            return getattr(a, name)
        return getattr(array(a, copy=None) if has_lazy(a) else asarray(a), name)

    return read


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """See numpy.result_type."""
    return np.result_type(*(_dtype(x) for x in arrays_and_dtypes))


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """See numpy.can_cast."""
    return np.can_cast(_dtype(from_), _dtype(to), casting)


def min_scalar_type(a: Any, /) -> np.dtype:
    """See numpy.min_scalar_type."""
    if issubclass(type(a), Lazy) and a.ndim:
        return a.dtype  # type: ignore[no-any-return]
    return np.min_scalar_type(np.asarray(a))


def _dtype(x: Any) -> Any:
    """A lazy array's dtype, or `x` itself."""
    return kind_of(x) if issubclass(type(x), Lazy) else x


def einsum_path(*operands: Any, optimize: Any = "greedy", **kwargs: Any) -> Any:
    """See numpy.einsum_path."""
    stand_ins = [dummy(x.type) if issubclass(type(x), Lazy) else x for x in operands]
    return np.einsum_path(*stand_ins, optimize=optimize, **kwargs)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """See numpy.require."""
    wanted = list(requirements or ())
    np.require(np.zeros(0), None, wanted)  # raises
    made = array(a, dtype, copy=None)
    letters = {x[0].upper() for x in wanted}
    if {"C", "F"} <= letters:
        raise ValueError('Cannot specify both "C" and "F" order')
    if "F" in letters:
        made = array(made, order="F", copy=None)
    elif "C" in letters:
        made = ascontiguousarray(made)
    if ("O" in letters and not made.flags.owndata) or ("W" in letters and not made.flags.writeable):
        made = made.copy()
    return made


LAZY = named(can_cast, einsum_path, min_scalar_type, require, result_type)
LAZY |= {name: _attribute(name) for name in ("ndim", "shape")}
