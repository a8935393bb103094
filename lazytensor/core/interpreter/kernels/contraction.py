"""References of dot_general and convolution."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import Reference, Rows
from lazytensor.core.ops.contraction import Axes, AxesPair, Pairs, dense, layouts, sum_dtype


def dot_general(
    x: np.ndarray,
    y: np.ndarray,
    *,
    batch: AxesPair,
    contract: AxesPair,
    dtype: np.dtype | None,
    matmul: Reference = np.matmul,
) -> np.ndarray:
    """The op's result. `matmul` multiplies two matrices, or two stacks of matrices."""
    wide = sum_dtype(x.dtype, dtype or x.dtype)
    plain = wide == x.dtype and dtype in (None, wide) and not batch[0]
    if plain and len(contract[0]) == 1 and x.ndim <= 2 and y.ndim <= 2:
        left = x if contract[0][0] == x.ndim - 1 else x.T
        found: np.ndarray = matmul(left, y.T if contract[1][0] else y)
        return found
    free = [
        tuple(i for i in range(array.ndim) if i not in shared + summed)
        for array, shared, summed in zip((x, y), batch, contract, strict=True)
    ]
    left = x.transpose(batch[0] + free[0] + contract[0])
    right = y.transpose(batch[1] + contract[1] + free[1])
    shared = left.shape[: len(batch[0])]
    rows, columns = (math.prod(a.shape[i] for i in f) for a, f in zip((x, y), free, strict=True))
    inner = math.prod(x.shape[i] for i in contract[0])
    product = matmul(
        left.reshape((*shared, rows, inner)).astype(wide, copy=False),
        right.reshape((*shared, inner, columns)).astype(wide, copy=False),
    )
    ends = [a.shape[i] for a, f in zip((x, y), free, strict=True) for i in f]
    result: np.ndarray = product.reshape((*shared, *ends)).astype(dtype or x.dtype, copy=False)
    return result


def _spread(x: np.ndarray, steps: Axes, padding: Pairs) -> np.ndarray:
    """The last axes of `x` with zeros between elements and at the ends; negative padding crops."""
    for axis, (step, (low, high)) in enumerate(zip(steps, padding, strict=True), 2):
        n = (x.shape[axis] - 1) * step + 1 if x.shape[axis] else 0
        size = max(0, low + n + high)
        wide = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
        first = -(low // step) if low < 0 else 0
        last = max(first, min(x.shape[axis], (size - low + step - 1) // step))
        kept = x[(builtins.slice(None),) * axis + (builtins.slice(first, last),)]
        begin = low + first * step
        where = builtins.slice(begin, begin + (last - first) * step, step)
        wide[(builtins.slice(None),) * axis + (where,)] = kept
        x = wide
    return x


def _windows(x: np.ndarray, sizes: Axes, strides: Axes, dilation: Axes) -> np.ndarray:
    """Every window of the last axes: `[batch, feature, position…, offset…]`, without a copy."""
    spans = [(n - 1) * d + 1 if n else 0 for n, d in zip(sizes, dilation, strict=True)]
    counts = [max(0, (n - s) // t + 1) for n, s, t in zip(x.shape[2:], spans, strides, strict=True)]
    moves = x.strides[2:]
    return np.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:2], *counts, *sizes),
        (
            *x.strides[:2],
            *(m * t for m, t in zip(moves, strides, strict=True)),
            *(m * d for m, d in zip(moves, dilation, strict=True)),
        ),
        writeable=False,
    )


def _convolution(
    x: np.ndarray,
    w: np.ndarray,
    *,
    strides: Axes,
    padding: Pairs,
    lhs_dilation: Axes,
    rhs_dilation: Axes,
    feature_groups: int,
    batch_groups: int,
    dimensions: tuple[Axes, Axes, Axes],
    reversal: tuple[bool, ...],
) -> np.ndarray:
    count = len(strides)
    outer, inner, backward = dense(count, lhs_dilation, rhs_dilation, reversal)
    specs = layouts(dimensions, x.ndim)
    wide = sum_dtype(x.dtype, x.dtype)
    kernel = np.flip(w.transpose(specs[1]).astype(wide, copy=False), _true_axes(backward))
    data = _spread(x.transpose(specs[0]).astype(wide, copy=False), outer, padding)
    windows = _windows(data, kernel.shape[2:], strides, inner)
    groups = max(feature_groups, batch_groups)
    axis = 1 if feature_groups > 1 else 0
    parts = [
        _correlate(part, weights, count)
        for part, weights in zip(
            np.split(windows, groups, axis), np.split(kernel, groups, 0), strict=True
        )
    ]
    result = np.concatenate(parts, 1).astype(x.dtype, copy=False)
    return result.transpose(np.argsort(specs[2]))


def _true_axes(flags: tuple[bool, ...]) -> Axes:
    return tuple(axis for axis, flag in enumerate(flags, 2) if flag)


def _correlate(windows: np.ndarray, kernel: np.ndarray, count: int) -> Any:
    """Sums over features and offsets: `[batch, feature of the result, position…]`."""
    offsets = tuple(range(2 + count, 2 + 2 * count))
    summed = np.tensordot(windows, kernel, ((1, *offsets), (1, *range(2, 2 + count))))
    return np.moveaxis(summed, -1, 1)


ROWS: Rows = {ops.dot_general: dot_general, ops.convolution: _convolution}
