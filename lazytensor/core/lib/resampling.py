"""Images resized"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32
from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import HALVES, cast_to, is_inexact

Matrix = np.ndarray

Weigh = Callable[[int, int, bool, float | None], Matrix]


def mapped(x: Node, matrices: Sequence[Matrix], first: int | None = None) -> Node:
    """Axes of `x` from `first` on, or the last ones, each multiplied by a matrix from the left.

    x: numbers; integers are rounded and kept in their range. Result: dtype of x.
    """
    dtype = x.type.dtype
    wide = F32 if dtype in HALVES or not is_inexact(dtype) else dtype
    made, end = cast_to(x, wide), x.type.ndim - len(matrices)
    axis = end if first is None else first
    for matrix in matrices:  # the axis that is contracted comes back as the last one
        weights = ops.leaf(np.ascontiguousarray(matrix, wide))
        made = ops.dot_general(made, weights, contract=((axis,), (1,)))
    n, m = x.type.ndim, len(matrices)
    made = ops.moved(made, (*range(axis), *range(n - m, n), *range(axis, n - m)))
    if not is_inexact(dtype):
        info = np.iinfo(dtype)
        low, high = (cast_to(float(bound), wide) for bound in (info.min, info.max))
        made = ops.clamp(low, ops.round_even(made), high)
    return cast_to(made, dtype)


def _step(n: int, m: int, align: bool, scale: float | None) -> np.float32:
    """The distance in the input of neighbours in the output, in single precision."""
    if align:
        return np.float32((n - 1) / (m - 1) if m > 1 else 0)
    return np.float32(1 / scale if scale else n / m)


def picking(m: int, n: int, at: Matrix, share: Any = 1.0) -> Matrix:
    """The matrix that adds up, for each of `m` places, `share` of the element `at` it, of `n`."""
    made = np.zeros((m, n))
    np.add.at(made, (np.arange(m), np.clip(at, 0, n - 1).astype(np.int64)), share)
    return made


def _nearest(exact: bool) -> Weigh:
    def weigh(n: int, m: int, align: bool, scale: float | None) -> Matrix:
        places = np.arange(m, dtype=np.float32) + np.float32(0.5 if exact else 0)
        return picking(m, n, np.floor(places * _step(n, m, False, scale)))

    return weigh


def _sources(n: int, m: int, align: bool, scale: float | None) -> Matrix:
    step, places = _step(n, m, align, scale), np.arange(m, dtype=np.float32)
    if align:
        return np.asarray(step * places)
    return np.asarray(step * (places + np.float32(0.5)) - np.float32(0.5))


def _linear(n: int, m: int, align: bool, scale: float | None) -> Matrix:
    source = np.maximum(_sources(n, m, align, scale), 0)
    below = np.floor(source)
    share = np.clip(source - below, 0, 1)
    return np.asarray(picking(m, n, below, 1 - share) + picking(m, n, below + 1, share))


def _cubic_filter(x: Matrix, a: float) -> Matrix:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _cubic(n: int, m: int, align: bool, scale: float | None) -> Matrix:
    source = _sources(n, m, align, scale)
    below = np.floor(source)
    made = np.zeros((m, n))
    for tap in (-1, 0, 1, 2):
        made += picking(m, n, below + tap, _cubic_filter(source - below - tap, -0.75))
    return made


def _smoothed(reach: int, filter: Callable[[Matrix], Matrix]) -> Weigh:
    """Antialiased: the filter is as wide as the output's elements are in the input."""

    def weigh(n: int, m: int, align: bool, scale: float | None) -> Matrix:
        step = float(_step(n, m, align, scale))
        wide = max(step, 1.0)
        center = step * (np.arange(m) + 0.5)
        low = np.maximum((center - reach * wide + 0.5).astype(np.int64), 0)
        high = np.minimum((center + reach * wide + 0.5).astype(np.int64), n)
        places = np.arange(n)
        made = filter((places[None] - center[:, None] + 0.5) / wide)
        made = np.where((places >= low[:, None]) & (places < high[:, None]), made, 0)
        total: Matrix = made / made.sum(1, keepdims=True)
        return total

    return weigh


def _tent(x: Matrix) -> Matrix:
    return np.asarray(np.maximum(1 - np.abs(x), 0))


def adaptive_means(n: int, m: int) -> Matrix:
    """The mean of each of `m` windows, which overlap where `m` does not divide `n`."""
    made = np.zeros((m, n))
    for i in range(m):
        begin, end = i * n // m, math.ceil((i + 1) * n / m)
        made[i, begin:end] = 1 / (end - begin)
    return made


WEIGHT_MAKERS: dict[str, Weigh] = {
    "nearest": _nearest(False),
    "nearest_exact": _nearest(True),
    "linear": _linear,
    "cubic": _cubic,
    "linear_aa": _smoothed(1, _tent),
    "cubic_aa": _smoothed(2, lambda x: _cubic_filter(x, -0.5)),
}


@remembered(256)
def resize_matrix(kind: str, n: int, m: int, align: bool, scale: float | None) -> Matrix:
    """The matrix that resizes an axis of `n` elements to `m`, by a row of `WEIGHT_MAKERS`.

    align: the outer elements stay where they are. scale: the factor of the sizes, if it is given.
    """
    return WEIGHT_MAKERS[kind](n, m, align, scale)
