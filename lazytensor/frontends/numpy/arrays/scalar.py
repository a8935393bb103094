"""Python's conversions of numbers, which arrays of one element support too."""

from __future__ import annotations

import math
import operator
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, extends
from lazytensor.frontends.numpy.host.fallback import real


def value(x: Lazy) -> Any:
    """The real NumPy scalar, or the read-only real array."""
    array = scheduler.observe(x.node)
    return array[()] if type(x) is Scalar else array


@extends(Lazy)
class Numbers(Lazy):
    """Python's conversions of numbers."""

    def __bool__(self) -> bool:
        if self.size != 1:
            return bool(np.broadcast_to(np.zeros((), np.bool_), self.shape))  # raises
        return bool(value(self))

    def __int__(self) -> int:
        return _as(int, self)

    def __float__(self) -> float:
        return _as(float, self)

    def __complex__(self) -> complex:
        return _as(complex, self)

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            if not issubclass(type(self), Scalar):
                raise TypeError("only integer scalar arrays can be converted to a scalar index")
            name = self.dtype.type.__name__
            raise TypeError(f"'{name}' object cannot be interpreted as an integer")
        return operator.index(scheduler.observe(self.node)[()])

    def item(self, *args: Any) -> Any:
        """NumPy's `item`."""
        return scheduler.observe(self.node).item(*args)

    def tolist(self) -> Any:
        """NumPy's `tolist`."""
        return scheduler.observe(self.node).tolist()


Number = TypeVar("Number", int, float, complex)


def _as(kind: type[Number], x: Lazy) -> Number:
    """`int(x)`, `float(x)`, `complex(x)`."""
    if x.ndim:
        return kind(np.broadcast_to(np.zeros((), x.dtype), x.shape))  # raises
    array = scheduler.observe(x.node)
    return kind(array[()] if type(x) is Scalar else array.item())


def _of_value(name: str) -> Any:
    """A method of NumPy's scalar, called on the value."""

    def method(x: Scalar, *args: Any, **kwargs: Any) -> Any:
        return getattr(value(x), name)(*args, **kwargs)

    return method


@extends(Scalar)
class ScalarMethods(Scalar):
    """Methods of numbers that arrays lack."""

    __iter__ = None  # Python raises "not iterable" instead of trying integers as indices

    @property
    def numerator(self) -> Any:
        """NumPy's `numerator`: of an integer, itself."""
        return self if self.dtype.kind in "iu" else value(self).numerator

    @property
    def denominator(self) -> Any:
        """NumPy's `denominator`: of an integer, 1."""
        return 1 if self.dtype.kind in "iu" else value(self).denominator

    def __hash__(self) -> int:
        return hash(value(self))

    def __round__(self, ndigits: Any = None) -> Any:
        return round(value(self)) if ndigits is None else round(value(self), ndigits)

    def __trunc__(self) -> Any:
        return math.trunc(value(self))

    def __floor__(self) -> Any:
        return math.floor(value(self))

    def __ceil__(self) -> Any:
        return math.ceil(value(self))

    def __reduce__(self) -> Any:
        return value(self).__reduce__()

    def __copy__(self) -> Scalar:
        return self

    def __deepcopy__(self, memo: Any = None) -> Scalar:
        return self

    def _sympy_(self) -> Any:
        return import_module("sympy").sympify(value(self))

    def fill(self, item: Any) -> None:
        """NumPy's `fill`, of an array made of the scalar."""
        value(self).fill(real(item))

    sort = _of_value("sort")
    resize = _of_value("resize")
    hex, fromhex = _of_value("hex"), _of_value("fromhex")
    is_integer = _of_value("is_integer")
    as_integer_ratio = _of_value("as_integer_ratio")
    bit_count = _of_value("bit_count")
