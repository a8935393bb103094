"""References of the ops that read and write at positions given as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import InPlaceRows, Rows

Ints = tuple[int, ...]

_SCATTER_UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _gather(x: np.ndarray, *indices: np.ndarray, axes: Ints) -> np.ndarray:
    if len(axes) == 1:
        ndim, axis = indices[0].ndim, axes[0]
        taken = np.take(x, indices[0], axis, mode="clip")
        return np.moveaxis(taken, range(axis, axis + ndim), range(ndim))
    lines = np.moveaxis(x, axes, range(len(axes)))
    shape = np.broadcast_shapes(*(index.shape for index in indices))
    if 0 in shape:
        return np.empty(shape + lines.shape[len(axes) :], x.dtype)
    pairs = zip(indices, lines.shape, strict=False)
    parts: np.ndarray = lines[tuple(np.minimum(index, n - 1) for index, n in pairs)]
    return parts


def _scatter(x: np.ndarray, *given: np.ndarray, axes: Ints, mode: str) -> np.ndarray:
    return _scatter_into(x.copy(), *given, axes=axes, mode=mode)


def _scatter_into(
    x: np.ndarray, updates: np.ndarray, *indices: np.ndarray, axes: Ints, mode: str
) -> np.ndarray:
    lines = np.moveaxis(x, axes, range(len(axes)))
    places, updates = _within(lines.shape, indices, updates)
    if mode == "set":
        lines[places] = updates
    elif mode == "mul" and x.dtype.kind == "c":
        _multiply_at(lines, places, updates)
    else:
        _SCATTER_UFUNCS[mode].at(lines, places, updates)
    return x


def _multiply_at(lines: np.ndarray, places: tuple[np.ndarray, ...], updates: np.ndarray) -> None:
    """Complex products, rounded as products of arrays are; `np.multiply.at` rounds differently.

    Each turn applies one update to every place, in the updates' order.
    """
    places = tuple(np.broadcast_arrays(*places))
    count = places[0].size
    updates = updates.reshape(count, *updates.shape[places[0].ndim :])
    line = np.ravel_multi_index(places, lines.shape[: len(places)]).reshape(count)
    order = np.argsort(line, kind="stable")
    first = np.searchsorted(line[order], line[order])
    turns = np.arange(count) - first
    for turn in range(int(turns.max(initial=-1)) + 1):
        chosen = order[turns == turn]
        at = tuple(index.reshape(count)[chosen] for index in places)
        lines[at] = lines[at] * updates[chosen]


def _within(
    shape: Ints, indices: tuple[np.ndarray, ...], updates: np.ndarray
) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """The indices that are in range, and their updates."""
    if all(index.max(initial=0) < n for index, n in zip(indices, shape, strict=False)):
        return indices, updates
    indices = np.broadcast_arrays(*indices)
    inside = np.logical_and.reduce([index < n for index, n in zip(indices, shape, strict=False)])
    return tuple(index[inside] for index in indices), updates[inside]


def _take_along(x: np.ndarray, indices: np.ndarray, *, axis: int) -> np.ndarray:
    return np.take_along_axis(x, np.minimum(indices, x.shape[axis] - 1), axis)


def _reduce_segments(x: np.ndarray, places: np.ndarray, *, axis: int, mode: str) -> Any:
    return _SCATTER_UFUNCS[mode].reduceat(x, places, axis=axis, dtype=x.dtype)


ROWS: Rows = {
    ops.gather: _gather,
    ops.scatter: _scatter,
    ops.take_along: _take_along,
    ops.reduce_segments: _reduce_segments,
}
IN_PLACE: InPlaceRows = {
    ops.scatter: lambda *, axes, mode: {0: _scatter_into} if mode == "set" else {}
}
