"""What Python asks of numbers, and what arrays of one element answer too."""

from __future__ import annotations

import math
import operator
from importlib import import_module
from typing import Any

import numpy as np

from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar
from lazytensor.frontends.numpy.host.fallback import real


def value(x: Lazy) -> Any:
    """The real NumPy scalar; of an array, a read-only real array."""
    array = scheduler.observe(x.node)
    return array[()] if type(x) is Scalar else array


def truth(x: Lazy) -> bool:
    """`bool(x)`."""
    if x.size != 1:
        return bool(np.broadcast_to(np.zeros((), np.bool_), x.shape))  # raises
    return bool(value(x))


def number(kind: Any) -> Any:
    """`int(x)`, `float(x)`, `complex(x)`."""

    def convert(x: Lazy) -> Any:
        if x.ndim:
            return kind(np.broadcast_to(np.zeros((), x.dtype), x.shape))  # raises
        array = scheduler.observe(x.node)
        return kind(array[()] if type(x) is Scalar else array.item())

    return convert


def index(x: Lazy) -> int:
    """`operator.index(x)`."""
    if x.ndim or x.dtype.kind not in "iu":
        if type(x) is Scalar:
            raise TypeError(f"'{x.dtype.type.__name__}' object cannot be interpreted as an integer")
        raise TypeError("only integer scalar arrays can be converted to a scalar index")
    return operator.index(scheduler.observe(x.node)[()])


def item(x: Lazy, *args: Any) -> Any:
    """`x.item(*args)`."""
    return scheduler.observe(x.node).item(*args)


def tolist(x: Lazy) -> Any:
    """`x.tolist()`."""
    return scheduler.observe(x.node).tolist()


def delegated(name: str) -> Any:
    """A method of NumPy's scalar, asked of the value."""

    def method(x: Scalar, *args: Any, **kwargs: Any) -> Any:
        return getattr(value(x), name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def round_(x: Scalar, ndigits: Any = None) -> Any:
    """`round(x, ndigits)`."""
    return round(value(x)) if ndigits is None else round(value(x), ndigits)


def hash_(x: Scalar) -> int:
    """`hash(x)`."""
    return hash(value(x))


def reduce(x: Scalar) -> Any:
    """What pickling keeps: the real scalar."""
    return value(x).__reduce__()


def copied(x: Scalar, memo: Any = None) -> Scalar:
    """`copy.copy(x)`: a scalar never changes."""
    return x


def numerator(x: Scalar) -> Scalar:
    """`x.numerator`, which only integers have: themselves."""
    return x if x.dtype.kind in "iu" else value(x).numerator


def denominator(x: Scalar) -> int:
    """`x.denominator`, which only integers have."""
    return 1 if x.dtype.kind in "iu" else value(x).denominator


def to_sympy(x: Scalar) -> Any:
    """What SymPy asks of numbers that are not its own."""
    return import_module("sympy").sympify(value(x))


SCALAR_DUNDERS = {
    "numerator": property(numerator),
    "denominator": property(denominator),
    "_sympy_": to_sympy,
    "__hash__": hash_,
    "__round__": round_,
    "__reduce__": reduce,
    "__iter__": None,  # Python says "not iterable", rather than trying numbers as indices
    "__copy__": copied,
    "__deepcopy__": copied,
    "__trunc__": lambda x: math.trunc(value(x)),
    "__floor__": lambda x: math.floor(value(x)),
    "__ceil__": lambda x: math.ceil(value(x)),
    **{name: delegated(name) for name in ("fill", "fromhex", "resize", "sort")},
    "as_integer_ratio": delegated("as_integer_ratio"),
    "is_integer": delegated("is_integer"),
    "hex": delegated("hex"),
    "bit_count": delegated("bit_count"),
    "fill": lambda x, item: value(x).fill(real(item)),  # it fills an array made of the scalar
    "sort": delegated("sort"),
}
NUMBER_DUNDERS = {
    "__bool__": truth,
    "__int__": number(int),
    "__float__": number(float),
    "__complex__": number(complex),
    "__index__": index,
    "item": item,
    "tolist": tolist,
}
