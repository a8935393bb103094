"""The lazy `ndarray` and the lazy scalar: what they hold, and how they are made.

Data flow. `ndarray.ref` is a core Cell or a View of one; its node is what the array holds now.
What it can do is in bodies that other modules add to it by `extends`: what they do takes the class.
Arrays and scalars alike: operators, attributes (`flags`, `reinterpretation`, `flat`), numbers
(`scalar`), protocols and methods. Arrays alone: writing, containers (`protocols`) and `sorting`.

Invariants:
- `_shadow` is None for an array that owns its cell, is C-contiguous and writeable; otherwise a
  real array with its shape, strides and flags, whose memory is never read (see `shadow.py`).
- `_base` is None for an array that owns its cell; otherwise the owner.
- A scalar's cell is never written to.

Known difference from NumPy: dividing by zero and the like give RuntimeWarnings only where
`errstate` or `seterr` asks for them (see `checks.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from types import FunctionType
from typing import Any, Final, TypeVar, cast

import numpy as np

from lazytensor.core.buffers.array_base import Holder, holding, showing
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.ir.node import Node

new = Holder.__new__
FUNCTION_TYPES: Final[tuple[type[FunctionType], ...]] = (FunctionType, cast(Any, type(holding)))
"""The classes of functions: Python's, and that of compiled ones."""


class Lazy(Holder):
    """What arrays and scalars share: a node that is recorded and computed when asked for."""

    __slots__ = ()

    _base: Lazy | None
    _shadow: np.ndarray | None

    __array_priority__ = 100.0


Body = TypeVar("Body", bound=type)


def extends(cls: type) -> Callable[[Body], Body]:
    """Give `cls` what is in the body below: a class is written in several modules by that.

    Functions get NumPy's signatures, and attributes that cannot be set say so in NumPy's words.
    """

    def add(body: Body) -> Body:
        for name, value in vars(body).items():
            if name in _OF_ANY_CLASS:
                continue
            if isinstance(value, FUNCTION_TYPES):
                _describe(value, name)
            elif cls is Lazy and isinstance(value, property) and value.fset is None:
                value = value.setter(_refusing(name))
            setattr(cls, name, value)
        return body

    return add


class _Empty:
    """It has only what every class body has."""


_OF_ANY_CLASS: Final = frozenset(vars(_Empty))


def _describe(method: FunctionType, name: str) -> None:
    method.__name__ = method.__qualname__ = name
    real = getattr(np.ndarray, name, None)
    if callable(real):
        method.__wrapped__ = real  # type: ignore[attr-defined]


def _refusing(name: str) -> Callable[[Any, Any], None]:
    def refuse(x: Any, value: Any) -> None:
        raise AttributeError(f"attribute {name!r} of 'numpy.ndarray' objects is not writable")

    return refuse


class RealArray(np.ndarray):
    """What classes derive from that users derive from the lazy class: NumPy's array."""

    __slots__ = ()

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """NumPy's `view`; the lazy class stands for NumPy's."""
        args = tuple(np.ndarray if x is ndarray else x for x in args)
        kwargs = {key: np.ndarray if x is ndarray else x for key, x in kwargs.items()}
        return np.ndarray.view(self, *args, **kwargs)


class ArrayType(type):
    """Real NumPy arrays are instances of the lazy class too; what users derive from it is NumPy's.

    NumPy keeps a subclass through views, operations and its own C code only if it derives from
    NumPy's class. A method taken from the class works on real arrays as well.
    """

    def __new__(
        cls, name: str, bases: tuple[Any, ...], body: dict[str, Any], own: bool = False, **rest: Any
    ) -> Any:
        """A class of `own`; else one of NumPy's."""
        if own:
            return super().__new__(cls, name, bases, body)
        return type(name, tuple(RealArray if x is ndarray else x for x in bases), body, **rest)

    def __getattribute__(cls, name: str) -> Any:
        found = type.__getattribute__(cls, name)
        if type(found) in FUNCTION_TYPES and name not in _OF_LAZY:
            return _either(found, name)
        return found

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is ndarray and isinstance(instance, np.ndarray)

    def __subclasscheck__(cls, subclass: type) -> bool:
        if type.__subclasscheck__(cls, subclass):
            return True
        return cls is ndarray and issubclass(subclass, np.ndarray)


_OF_LAZY: Final = frozenset(["__array_ufunc__"])
"""Methods that NumPy itself takes from the class, at each call of its own, for lazy arrays."""


@cache
def _either(method: FunctionType, name: str) -> Any:
    """A method of the lazy class, or NumPy's if it is given a real array."""
    real = getattr(RealArray, name, None)
    if real is None or name == "__new__":
        return method

    @wraps(method)
    def call(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        chosen = real if issubclass(type(self), np.ndarray) else method
        return chosen(self, *args, **kwargs)

    return call


class ndarray(Lazy, metaclass=ArrayType, own=True):
    """An array whose operations are recorded and computed when a value is needed."""

    __slots__ = ()
    __module__ = "lazytensor.numpy"
    __hash__ = None  # type: ignore[assignment]  # arrays are mutable, as NumPy's


class Scalar(Lazy):
    """What reductions and full indexing give: it is like `np.float64` and the like, but lazy."""

    __slots__ = ()

    @property  # type: ignore[misc]  # so that isinstance(x, float) and the like hold
    def __class__(self) -> Any:
        return self.ref.type.dtype.type


def wrap(node: Node) -> ndarray:
    """A new array that holds `node`."""
    return holding(ndarray, node)


def wrap_scalar(node: Node) -> Scalar:
    """A lazy scalar that holds `node`, which has no axes."""
    return holding(Scalar, node)


def wrap_result(node: Node) -> Any:
    """What NumPy's functions give: a scalar where there are no axes, an array otherwise."""
    return wrap(node) if node.type.ndim else wrap_scalar(node)


def wrap_view(ref: Cell | View, shadow: np.ndarray | None, owner: Lazy) -> ndarray:
    """A view of the data of `owner`."""
    return showing(ndarray, ref, shadow, owner if owner._base is None else owner._base)


def lazy(x: object) -> bool:
    """Whether `x` is a lazy array or a lazy scalar."""
    return issubclass(type(x), Lazy)
