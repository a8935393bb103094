"""Small arrays that stay NumPy's own: recording their operations takes longer than computing them.

In the time to record and cut an operation, NumPy computes thousands of elements. So arrays of host
data with fewer than `settings.small` elements are real ones, and NumPy computes operations on
nothing but such arrays at once. Results of lazy operations are lazy at any size: their values would
need a cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.array_base import Holder
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.arrays.shadow import read_only, shadow
from lazytensor.frontends.numpy.ufuncs.promotion import host_leaf, supported

NOTHING: Final = object()
"""Default of arguments that are not given."""
_PLAIN_SEEN: Final[set[type]] = {bool, int, float, complex, str}
"""Classes met so far whose objects are neither lazy nor arrays."""
NUMBERS: Final = frozenset({int, float, complex, np.float64, np.float32, np.int64, np.complex128})
_POINTS: Final = (bool, int, float, complex, str, type, np.generic, np.dtype, type(None))


def stays(array: np.ndarray) -> bool:
    """Whether a real array is too small to be made lazy."""
    return array.size < settings.small


def all_stay(values: Iterable[Any]) -> bool:
    """Whether nothing in `values` is lazy, or an array large enough to become lazy."""
    for value in values:
        kind = type(value)
        if kind in _PLAIN_SEEN:
            continue
        if kind is np.ndarray:
            if value.size >= settings.small:
                return False
        elif kind is tuple or kind is list:
            if not (_PLAIN_SEEN.issuperset(map(type, value)) or all_stay(value)):
                return False
        elif issubclass(kind, Holder) or not is_plain(kind):
            return False
    return True


def at_once(args: tuple[Any, ...], kwargs: dict[str, Any], growing: bool = False) -> bool:
    """Whether NumPy answers a call, as its arguments and its result stay NumPy's.

    `growing`: two small arrays may make a large one.
    """
    if not settings.small or (kwargs and not all_stay(kwargs.values())):
        return False
    return all_stay(args) and not (growing and len(args) > 1 and grows(args[0], args[1]))


def is_small(x: Any) -> bool:
    """Whether `x` is a real array that stays one, or a number, if small arrays stay at all."""
    kind = type(x)  # not `__class__`: lazy scalars claim to be numbers
    if kind is np.ndarray:
        small: bool = x.size < settings.small
        return small
    return kind in NUMBERS and settings.small > 0


def are_plain(values: Iterable[Any]) -> bool:
    """Whether all are of classes already known as plain. Fast for long lists, as it runs in C."""
    return _PLAIN_SEEN.issuperset(map(type, values))


def is_plain(kind: type) -> bool:
    """Whether objects of this class are neither lazy nor arrays."""
    if kind in _PLAIN_SEEN:
        return True
    if not issubclass(kind, _POINTS):
        return False
    _PLAIN_SEEN.add(kind)
    return True


GROWING: Final = frozenset(["kron", "outer"])
"""Functions of two arrays whose result has an element for each pair of theirs."""


def grows(x: Any, other: Any) -> bool:
    """Whether two small arrays make a large, lazy one, with an element for each pair."""
    bound = settings.small
    return bound > 0 and count(x, 1) * count(other, 1) >= bound


def count(x: Any, unknown: int) -> int:
    """`x.size`, or `unknown` if that is no int: it is a pair in Pillow and a method in torch."""
    size = getattr(x, "size", unknown)
    return size if type(size) is int else unknown


def spreads(x: np.ndarray, other: np.ndarray) -> bool:
    """Whether two small arrays are broadcast to a large, lazy one."""
    if x.shape == other.shape or not grows(x, other):
        return False
    try:
        return np.broadcast(x, other).size >= settings.small
    except ValueError:
        return False


def lazy_if_large(made: Any) -> Any:
    """A result of NumPy's, made lazy if it is a large array."""
    if type(made) is not np.ndarray or made.size < settings.small:
        return made
    return entered(made)


def entered(result: Any, args: Any = (), kwargs: Any = None) -> Any:
    """A result of NumPy's with its arrays made leaves. Arrays that alias an argument are copied.

    An array that aliases a small argument stays real, so that each sees writes to the other.
    """
    kind = type(result)
    if kind is np.ndarray:
        if stays(result) or not supported(result.dtype):
            return result
        given = [*args, *(kwargs or {}).values()]
        if not result.flags.owndata and _shows_small(result, given):
            return result
        protected = _is_protected(result)
        if not _is_fresh(result, given):
            result = result.copy("K")
        made = wrap(host_leaf(np.require(result, requirements=("C", "W"))))
        lay_out(made, result)
        if protected:
            made._shadow = read_only(shadow(made))
        return made
    if kind is list or kind is tuple:
        if any(result is x for x in args):
            return result
        return kind(entered(item, args, kwargs) for item in result)
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return kind(*(entered(item, args, kwargs) for item in result))
    return result


def _is_protected(array: np.ndarray) -> bool:
    """Whether writing to `array` is refused, or will be. Asking for `writeable` may warn then."""
    return (array.flags.num & _PROTECTION) != _WRITEABLE


_WRITEABLE: Final = 1 << 10
_PROTECTION: Final = _WRITEABLE | 1 << 31
"""NumPy's flags NPY_ARRAY_WRITEABLE and NPY_ARRAY_WARN_ON_WRITE."""


def _is_fresh(array: np.ndarray, arguments: list[Any]) -> bool:
    """Whether `array` owns its memory and is none of the arguments."""
    if not array.flags.owndata:
        return False
    for item in arguments:
        if item is array:
            return False
        if type(item) in (list, tuple) and not _is_fresh(array, list(item)):
            return False
    return True


def _shows_small(view: np.ndarray, arguments: list[Any]) -> bool:
    """Whether a view shows memory of an argument that is too small to be lazy."""
    memory = _owner(view)
    is_small = type(memory) is np.ndarray and stays(memory)
    for item in arguments:
        if type(item) in (list, tuple):
            if _shows_small(view, list(item)):
                return True
        elif type(item) is np.ndarray and _owner(item) is memory and (is_small or stays(item)):
            return True
    return False


def _owner(array: Any) -> Any:
    """The object at the end of a chain of views."""
    base = getattr(array, "base", None)
    while base is not None:
        array, base = base, getattr(base, "base", None)
    return array
