"""References of the ops that move elements."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.device.host_memory import ALIGNED_BYTES
from lazytensor.core.interpreter.rows import InPlaceRows, PartRows, Rows
from lazytensor.core.ops.memory_views import index_of, reshaped

Ints = tuple[int, ...]


def _slice(x: np.ndarray, starts: np.ndarray, *, sizes: Ints, strides: Ints) -> np.ndarray:
    if 0 in sizes:
        return np.empty(sizes, x.dtype)
    return x[index_of(starts, sizes, strides)]


def _copied(x: np.ndarray) -> np.ndarray:
    """A copy; for a broadcast zero `np.zeros`, whose pages are allocated at the first write."""
    is_filled = x.nbytes >= ALIGNED_BYTES and not any(x.strides)
    if is_filled and not x[(builtins.slice(1),) * x.ndim].tobytes().strip(b"\0"):
        return np.zeros(x.shape, x.dtype)
    return x.copy()


def _update_slice(x: np.ndarray, value: np.ndarray, starts: np.ndarray, *, strides: Ints) -> Any:
    return _write_slice(_copied(x), value, starts, strides=strides)


def _write_slice(x: np.ndarray, value: np.ndarray, starts: np.ndarray, *, strides: Ints) -> Any:
    if value.size:
        x[index_of(starts, value.shape, strides)] = value
    return x


def _replaced(shape: Ints, x: np.ndarray, starts: np.ndarray, *, strides: Ints) -> np.ndarray:
    return x[index_of(starts, shape, strides)]


def _pad(x: np.ndarray, value: np.ndarray, *, low: Ints, high: Ints, interior: Ints) -> np.ndarray:
    for axis in range(x.ndim):
        x = _pad_axis(x, value, axis, low[axis], high[axis], interior[axis])
    return x


def _pad_axis(
    x: np.ndarray, value: np.ndarray, axis: int, low: int, high: int, interior: int
) -> np.ndarray:
    n = x.shape[axis]
    spread = n + max(n - 1, 0) * interior
    shape = (*x.shape[:axis], spread + max(low, 0) + max(high, 0), *x.shape[axis + 1 :])
    result = np.full(shape, value, x.dtype)
    lines = np.moveaxis(result, axis, 0)
    start = max(low, 0)
    lines[start : start + spread : interior + 1] = np.moveaxis(x, axis, 0)
    return np.moveaxis(lines[max(-low, 0) : len(lines) - max(-high, 0)], 0, axis)


def _iota(*, dtype: np.dtype, shape: Ints, axis: int) -> np.ndarray:
    # `arange` of bf16 would round each step; integers wrap as a conversion does.
    line = np.arange(shape[axis]).astype(dtype)
    return np.broadcast_to(line.reshape(-1, *(1,) * (len(shape) - axis - 1)), shape)


def _update_diagonal(x: np.ndarray, value: np.ndarray, **attrs: int) -> np.ndarray:
    return _write_diagonal(_copied(x), value, **attrs)


def _write_diagonal(
    x: np.ndarray, value: np.ndarray, *, offset: int, axis1: int, axis2: int
) -> np.ndarray:
    lines = np.moveaxis(x, (axis1, axis2), (-2, -1))
    index = np.arange(value.shape[-1])
    lines[..., index + max(-offset, 0), index + max(offset, 0)] = value
    return x


ROWS: Rows = {
    ops.broadcast: lambda x, *, shape: np.broadcast_to(x, shape),
    ops.reshape: reshaped,
    ops.transpose: lambda x, *, axes: x.transpose(axes),
    ops.slice: _slice,
    ops.update_slice: _update_slice,
    ops.reverse: lambda x, *, axes: np.flip(x, axes),
    ops.pad: _pad,
    ops.concatenate: lambda *xs, axis: np.concatenate(xs, axis),
    ops.iota: _iota,
    ops.diagonal: lambda x, *, offset, axis1, axis2: x.diagonal(offset, axis1, axis2),
    ops.update_diagonal: _update_diagonal,
}
IN_PLACE: InPlaceRows = {
    ops.update_slice: lambda **_: {0: _write_slice},
    ops.update_diagonal: lambda **_: {0: _write_diagonal},
}
PARTS: PartRows = {ops.update_slice: _replaced}
