"""Keywords of the array API standard that NumPy's functions lack."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.arrays.conversion import asarray
from lazytensor.frontends.numpy.functions.entry import Function, dressed


def _flipped(x: Any, axis: Any) -> Any:
    """`x` reversed along one axis."""
    return x[(Ellipsis, slice(None, None, -1), *[slice(None)] * (-1 - axis))]


def _from_the_end(axis: int | None, ndim: int) -> int:
    return -1 if axis is None else axis if axis < 0 else axis - ndim


def _sorted(sort: Function, a: Any, axis: Any, *how: Any, stable: Any) -> Any:
    made = sort(a, axis, *how, stable=stable)
    return _flipped(made, _from_the_end(axis, made.ndim)).copy()


def _argsorted(argsort: Function, a: Any, axis: Any, *how: Any, stable: Any) -> Any:
    """`argsort` in descending order. Equal elements keep their order."""
    array = asarray(a).ravel() if axis is None else asarray(a)
    place = _from_the_end(axis, array.ndim)
    found = argsort(_flipped(array, place), place, *how, stable=stable)
    return array.shape[place] - 1 - _flipped(found, place)


def _with_descending(function: Function, real: Function, from_the_end: Function) -> Function:
    """`function` with the standard's keyword `descending`, which its signature shows."""

    def call(
        a: Any,
        axis: Any = -1,
        kind: Any = None,
        order: Any = None,
        *,
        descending: bool = False,
        stable: Any = None,
    ) -> Any:
        if descending:
            return from_the_end(function, a, axis, kind, order, stable=stable)
        return function(a, axis, kind, order, stable=stable)

    made: Any = dressed(call, real)
    del made.__wrapped__
    return made  # type: ignore[no-any-return]


def _clip_as_called(
    a: Any,
    min: Any = None,
    max: Any = None,
    out: Any = None,
    *,
    a_min: Any,
    a_max: Any,
    **ufunc: Any,
) -> Any:
    """The keywords of `clip`: `min` and `max`, or NumPy's older names for them."""


def extended(functions: dict[str, Function]) -> dict[str, Function]:
    """The functions with the standard's keywords that NumPy lacks."""
    clip = functions["clip"]
    clip.__wrapped__ = _clip_as_called  # type: ignore[attr-defined]  # what `inspect` reads
    return {
        "clip": clip,
        "sort": _with_descending(functions["sort"], np.sort, _sorted),
        "argsort": _with_descending(functions["argsort"], np.argsort, _argsorted),
    }
