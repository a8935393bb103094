"""Basic keys as codes: what a memory of keys is looked up by.

`basic_key.pyx` does the same with CPython's C API, and its codes are bytes, which are hashed and
compared in one go; the two are kept alike by hand.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

_ENDS: Final = frozenset((int, type(None)))


def encoded(key: Any, number: int = 0) -> Hashable:
    """A basic key and a number as one code. Equal codes are of equal keys.

    None unless all items of the key are ints, None, an ellipsis, or slices of ints and None.
    """
    code: list[Any] = [number]
    for item in key if type(key) is tuple else (key,):
        kind = type(item)
        if kind is slice:
            start, stop, step = item.start, item.stop, item.step
            if not (type(start) in _ENDS and type(stop) in _ENDS and type(step) in _ENDS):
                return None
            code.append((start, stop, step))
        elif kind is int or item is None or item is ...:
            code.append(item)
        else:
            return None
    return tuple(code)
