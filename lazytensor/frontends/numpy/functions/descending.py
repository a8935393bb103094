"""Keywords of the array API standard's that NumPy's functions lack."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.frontends.numpy.arrays.conversion import asarray
from lazytensor.frontends.numpy.functions.entry import Function, dressed


def _flipped(x: Any, axis: Any) -> Any:
    """`x` from its end to its start along one axis."""
    return x[(Ellipsis, slice(None, None, -1), *[slice(None)] * (-1 - axis))]


def _from_the_end(axis: int | None, ndim: int) -> int:
    return -1 if axis is None else axis if axis < 0 else axis - ndim


def descending_sort(sort: Function) -> Function:
    """`sort` with the standard's keyword."""

    def call(
        a: Any,
        axis: Any = -1,
        kind: Any = None,
        order: Any = None,
        *,
        descending: bool = False,
        stable: Any = None,
    ) -> Any:
        made = sort(a, axis, kind, order, stable=stable)
        return _flipped(made, _from_the_end(axis, made.ndim)).copy() if descending else made

    return _own(dressed(call, np.sort))


def descending_argsort(argsort: Function) -> Function:
    """`argsort` with the standard's keyword; of equal elements the first comes first."""

    def call(
        a: Any,
        axis: Any = -1,
        kind: Any = None,
        order: Any = None,
        *,
        descending: bool = False,
        stable: Any = None,
    ) -> Any:
        if not descending:
            return argsort(a, axis, kind, order, stable=stable)
        array = asarray(a).ravel() if axis is None else asarray(a)
        place = _from_the_end(axis, array.ndim)
        found = argsort(_flipped(array, place), place, kind, order, stable=stable)
        return array.shape[place] - 1 - _flipped(found, place)

    return _own(dressed(call, np.argsort))


def _own(call: Any) -> Function:
    """`call`, which shows its own signature and not that of NumPy's function."""
    del call.__wrapped__
    return call  # type: ignore[no-any-return]


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
    """The functions that have keywords of the standard's which NumPy lacks."""
    clip = functions["clip"]
    clip.__wrapped__ = _clip_as_called  # type: ignore[attr-defined]  # what `inspect` reads
    return {
        "clip": clip,
        "sort": descending_sort(functions["sort"]),
        "argsort": descending_argsort(functions["argsort"]),
    }
