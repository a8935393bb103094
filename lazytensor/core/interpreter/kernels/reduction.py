"""References of the reductions, cumulative ops and windows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.kernels import movement
from lazytensor.core.interpreter.rows import Rows
from lazytensor.core.ir.dtypes import BF16, F16, F32
from lazytensor.core.ops.reduction import identity, window_shape

Array = np.ndarray
Ints = tuple[int, ...]

_NARROW = frozenset([F16, BF16])
_REDUCTION_UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}


def _wide(x: Array) -> Array:
    return x.astype(F32) if x.dtype in _NARROW else x


class _Unlocked:
    """A read-only array's memory, exported as writable."""

    __slots__ = ("__array_interface__", "_owner")

    def __init__(self, x: Array) -> None:
        self._owner = x
        interface = x.__array_interface__  # a new dict at each access
        interface["data"] = interface["data"][0], False
        self.__array_interface__ = interface


def _unlocked(x: Array) -> Array:
    """`x` as a writable array: NumPy's argmax only reads, but copies a read-only array."""
    return x if x.flags.writeable else np.asarray(_Unlocked(x))


def _reduction(ufunc: np.ufunc) -> Callable[..., Any]:
    is_total = ufunc in (np.add, np.multiply)

    def reference(x: Array, *, axes: Ints) -> Any:
        wide = _wide(x)
        dtype = wide.dtype if is_total else None
        result = ufunc.reduce(wide, axes, dtype)
        return np.asarray(result, x.dtype) if result.dtype is not x.dtype else result

    return reference


def _chosen_mean(x: Array, flags: Array, *, axes: Ints, keepdims: bool) -> Any:
    wide = _wide(x)
    flags = np.broadcast_to(flags, x.shape)
    if len(axes) == x.ndim:
        chosen = wide.reshape(-1)[np.flatnonzero(flags)]  # faster than indexing by flags
        total: Any = np.add.reduce(chosen)
        mean = np.divide(total, chosen.size, dtype=wide.dtype)
        return np.asarray(mean.astype(x.dtype)).reshape((1,) * x.ndim if keepdims else ())
    count = np.asarray(np.sum(flags, axes, keepdims=keepdims))
    total = np.sum(wide, axes, keepdims=keepdims, where=flags)
    return np.asarray(total / count.astype(wide.dtype)).astype(x.dtype, copy=False)


def _counted_mean(x: Array, flags: Array, *, axes: Ints, keepdims: bool) -> Any:
    flags = np.broadcast_to(flags, x.shape)
    count = np.asarray(np.sum(flags, axes, np.int64, keepdims=keepdims))
    total = np.sum(_wide(x), axes, keepdims=keepdims, where=flags)
    return np.asarray(total / count.astype(total.dtype)).astype(x.dtype, copy=False), count


def _argmax(x: Array, *, axis: int | None) -> Any:
    return _unlocked(_wide(x)).argmax(axis)


def _argmin(x: Array, *, axis: int | None) -> Any:
    return _unlocked(_wide(x)).argmin(axis)


def _cumulative(ufunc: np.ufunc) -> Callable[..., Any]:
    def reference(x: Array, *, axis: int, reverse: bool) -> Array:
        wide = np.flip(_wide(x), axis) if reverse else _wide(x)
        found = ufunc.accumulate(wide, axis, wide.dtype).astype(x.dtype, copy=False)
        return np.flip(found, axis) if reverse else found

    return reference


def _reduce_window(
    x: Array,
    *,
    kind: str,
    window: Ints,
    strides: Ints,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Ints,
    window_dilation: Ints,
) -> Array:
    start = identity(kind, x.dtype)
    shape = window_shape(x.shape, window, strides, padding, base_dilation, window_dilation)
    wide = _wide(x)
    low, high = zip(*padding, strict=True) if padding else ((), ())
    pad = movement.ROWS[ops.pad]
    base = pad(wide, start, low=low, high=high, interior=tuple(n - 1 for n in base_dilation))
    result = np.full(shape, start, wide.dtype)
    for place in product(*map(range, window)):
        begin = [i * dilation for i, dilation in zip(place, window_dilation, strict=True)]
        part = base[
            tuple(
                slice(b, b + (n - 1) * s + 1 if n else b, s)
                for b, n, s in zip(begin, shape, strides, strict=True)
            )
        ]
        _REDUCTION_UFUNCS[kind](result, part, out=result)
    return result.astype(x.dtype, copy=False)


ROWS: Rows = {
    ops.reduce_sum: _reduction(np.add),
    ops.reduce_prod: _reduction(np.multiply),
    ops.reduce_max: _reduction(np.maximum),
    ops.reduce_min: _reduction(np.minimum),
    ops.reduce_and: _reduction(np.bitwise_and),
    ops.reduce_or: _reduction(np.bitwise_or),
    ops.reduce_xor: _reduction(np.bitwise_xor),
    ops.chosen_mean: _chosen_mean,
    ops.counted_mean: _counted_mean,
    ops.argmax: _argmax,
    ops.argmin: _argmin,
    ops.complex_argmax: _argmax,
    ops.complex_argmin: _argmin,
    ops.reduce_gcd: lambda x, *, axes: np.gcd.reduce(x, axes),
    ops.cumsum: _cumulative(np.add),
    ops.cumprod: _cumulative(np.multiply),
    ops.cummax: _cumulative(np.maximum),
    ops.cummin: _cumulative(np.minimum),
    ops.reduce_window: _reduce_window,
}
