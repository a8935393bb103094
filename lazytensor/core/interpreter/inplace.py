"""Whose the memory of the interpreter's values is, known by counting references.

The interpreter keeps its values in a list. One may be overwritten when nothing needs it any more,
and nobody else has it: no other place in the list, no view of it, no node but a leaf's that is
given (see `interpreter.compute`). The baseline is measured at import. All functions here are called
with a value of the list, as `values[i]`: a name for it would count.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np

Held = Mapping[int, int]
"""By the identity of arrays that were given: how often they are referred to beside the list."""


def is_unshared(array: np.ndarray, held: Held, views: int = 0) -> bool:
    """Whether nobody else has the memory of an array; `views` of it do not count."""
    base = array.base
    if base is None:
        return sys.getrefcount(array) - _OF_ARRAY - views <= held.get(id(array), 0)
    # A view of all of an array that has no other views, and is in no list.
    return (
        sys.getrefcount(array) <= _OF_ARRAY
        and base.__class__ is np.ndarray
        and base.nbytes == array.nbytes
        and array.flags.c_contiguous
        and array.flags.writeable
        and sys.getrefcount(base) - _OF_BASE <= held.get(id(base), 0)
    )


def beside_the_list(array: np.ndarray) -> int:
    """How often an array is referred to besides."""
    return sys.getrefcount(array) - _OF_ARRAY


def _measured() -> tuple[int, int]:
    """References to an array and to its base where there are no others."""
    values = [np.zeros(2).reshape(1, 2)]

    def look(array: np.ndarray) -> tuple[int, int]:
        base = array.base
        assert base is not None
        return sys.getrefcount(array), sys.getrefcount(base)

    return look(values[0])


_OF_ARRAY, _OF_BASE = _measured()
