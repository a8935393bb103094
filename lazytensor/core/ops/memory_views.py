"""Each view op on an array in the host's memory: NumPy's own view, where it has one."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lazytensor.core.buffers.cell import SHOWS, Show
from lazytensor.core.ir.dtypes import BOOL, COMPLEX
from lazytensor.core.ops.bits import bitcast
from lazytensor.core.ops.elementwise import imag, real
from lazytensor.core.ops.indexing import strided
from lazytensor.core.ops.movement import broadcast, diagonal, reshape, reverse, slice, transpose

Ints = tuple[int, ...]
Array = np.ndarray[Any, Any]


def index_of(starts: Array, sizes: Ints, strides: Ints) -> tuple[builtins.slice, ...]:
    """NumPy's key for a slice op."""
    found = []
    for start, size, stride in zip(starts.tolist(), sizes, strides, strict=True):
        stop = start + size * stride
        found.append(builtins.slice(start, None if stop < 0 else stop, stride))
    return tuple(found)


def reshaped(x: Array, *, shape: Ints) -> Array:
    """`x` in another shape: its base array if that has the shape."""
    base = x.base
    if (
        isinstance(base, np.ndarray)
        and base.base is None
        and base.shape == shape
        and base.dtype is x.dtype
        and base.flags.c_contiguous
        and x.flags.c_contiguous
    ):
        return base  # unlike a view, it may be overwritten at the next run
    return x.reshape(shape)


def imaginary(x: Array) -> Array:
    """The imaginary part; zeros of their own for real numbers."""
    return x.imag if x.dtype in COMPLEX else np.zeros_like(x)


def reinterpreted(x: Array, *, dtype: np.dtype) -> Any:
    """The bits of `x` as another dtype; an axis is added or dropped where the widths differ."""
    if x.dtype == BOOL:
        x = x.view(np.uint8)
    if dtype == BOOL:
        return reinterpreted(x, dtype=np.dtype(np.uint8)) != 0
    if x.dtype.itemsize == dtype.itemsize:
        return x.view(dtype)
    if x.dtype.itemsize > dtype.itemsize:
        return np.ascontiguousarray(x[..., None]).view(dtype)
    return np.ascontiguousarray(x).view(dtype)[..., 0]


def _show_slice(starts: Array, *, sizes: Ints, strides: Ints) -> Show:
    return itemgetter(index_of(starts, sizes, strides))


def _show_diagonal(**attrs: int) -> Show:
    def show(x: Array) -> Array:
        line: Array = x.diagonal(**attrs)
        line.flags.writeable = x.flags.writeable  # NumPy's diagonal is read-only
        return line

    return show


def _show_strided(start: Array, *, shape: Ints, strides: Ints) -> Show:
    first: int = start.item()

    def show(x: Array) -> Array:
        line = x[first:].view(f"V{x.itemsize}")  # NumPy's interface lacks eight-bit floats
        return as_strided(line, shape, [n * x.strides[0] for n in strides]).view(x.dtype)

    return show


def _by(function: Callable[..., Any]) -> Callable[..., Show]:
    """A row for a NumPy function of the array and the op's attributes."""
    return lambda **attrs: partial(function, **attrs)


SHOWS.update(
    {
        slice: _show_slice,
        diagonal: _show_diagonal,
        strided: _show_strided,
        reshape: _by(reshaped),
        transpose: _by(np.transpose),
        broadcast: _by(np.broadcast_to),
        reverse: lambda *, axes: lambda x: np.flip(x, axes),
        real: _by(np.real),
        imag: _by(imaginary),
        bitcast: _by(reinterpreted),
    }
)
