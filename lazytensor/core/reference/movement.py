"""References of the ops that move elements."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpret import REFERENCES


def _index(starts: np.ndarray, sizes: Any, strides: Any) -> tuple[builtins.slice, ...]:
    found = []
    for start, size, stride in zip(starts.tolist(), sizes, strides, strict=True):
        stop = start + size * stride
        found.append(builtins.slice(start, None if stop < 0 else stop, stride))
    return tuple(found)


def _slice(x: np.ndarray, starts: np.ndarray, *, sizes: Any, strides: Any) -> np.ndarray:
    if 0 in sizes:
        return np.empty(sizes, x.dtype)
    return x[_index(starts, sizes, strides)]


def _update_slice(x: np.ndarray, value: np.ndarray, starts: np.ndarray, *, strides: Any) -> Any:
    result = x.copy()
    if value.size:
        result[_index(starts, value.shape, strides)] = value
    return result


REFERENCES.update(
    {
        ops.broadcast: lambda x, *, shape: np.broadcast_to(x, shape),
        ops.reshape: lambda x, *, shape: x.reshape(shape),
        ops.transpose: lambda x, *, axes: x.transpose(axes),
        ops.slice: _slice,
        ops.update_slice: _update_slice,
    }
)
