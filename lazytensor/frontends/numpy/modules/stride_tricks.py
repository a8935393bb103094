"""`numpy.lib.stride_tricks` over lazy arrays: views with any strides over an array's memory."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import ViewStep, view_through
from lazytensor.core.errors import Unsupported
from lazytensor.frontends.numpy.arrays.array import wrap_view
from lazytensor.frontends.numpy.arrays.shadow import shadow, turned
from lazytensor.frontends.numpy.functions.entry import Function, dressed
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.views import array_of
from lazytensor.frontends.numpy.host.fallback import fallback, on_host
from lazytensor.frontends.numpy.host.small import at_once, entered
from lazytensor.frontends.numpy.modules import rest_of
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly

_real = np.lib.stride_tricks


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    """See numpy.lib.stride_tricks.as_strided. Raises: ValueError outside the memory of `x`.

    The view begins at the first element of `x`, as in NumPy. Its other elements may be anywhere in
    the memory that `x` is a view of.
    """
    array = array_of(x)
    layout = _real.as_strided(shadow(array), shape, strides, writeable=writeable)
    owner = array if array._base is None else array._base
    memory = shadow(owner)
    along = [n if size > 1 else 0 for n, size in zip(layout.strides, layout.shape, strict=True)]
    if owner.dtype != array.dtype or any(n % array.itemsize for n in along):
        raise Unsupported("as_strided: strides that are no whole elements")
    start = (layout.ctypes.data - memory.ctypes.data) // array.itemsize
    steps = tuple(n // array.itemsize for n in along)
    _check(start, layout.shape, steps, owner.size)
    found = ops.strided_step(start, layout.shape, steps)
    type_ = owner.ref.cell.type.with_shape(layout.shape)
    ref = view_through(owner.ref.cell, (*_in_line(memory), found), type_)
    return wrap_view(ref, turned(layout), owner)


def _check(start: int, shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> None:
    """Raise ValueError if an element is outside the memory."""
    if 0 in shape:
        return
    reach = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    first, last = (start + sum(f(0, r) for r in reach) for f in (min, max))
    if first < 0 or last >= size:
        raise ValueError(f"as_strided: elements {first} to {last} of a memory of {size}")


def _in_line(memory: np.ndarray) -> tuple[ViewStep, ...]:
    """The steps from an array that owns its memory to its elements in memory order."""
    line = ops.reshape_step((memory.size,))
    if memory.flags.c_contiguous:
        return (line,)
    order = tuple(sorted(range(memory.ndim), key=lambda axis: -abs(memory.strides[axis])))
    return (ops.transpose_step(order), line)


def _whole(function: Function) -> Function:
    """`function` for any array-like. One that is no array is turned into a new array first."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if at_once((x,), {}):
            return entered(_real.as_strided(x, *args, **kwargs), (x,))
        try:
            return function(array_of(x), *args, **kwargs)
        except HostOnly:
            return on_host("as_strided", _real.as_strided, (x, *args), kwargs)
        except Unsupported:
            return fallback("as_strided", _real.as_strided, (x, *args), kwargs)

    return call


LAZY: Final[dict[str, Function]] = {
    "as_strided": dressed(_whole(as_strided), _real.as_strided),
    "sliding_window_view": rebound("sliding_window_view", of=_real, as_strided=as_strided),
}

globals().update(LAZY)


__getattr__, __dir__ = rest_of(_real, globals())
