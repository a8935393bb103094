"""Functions that show the same data in another shape. They return views where NumPy does."""

from __future__ import annotations

import inspect
import operator
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.buffers.cell import ViewStep, view_through
from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, lazy, wrap, wrap_result, wrap_view
from lazytensor.frontends.numpy.arrays.conversion import asarray
from lazytensor.frontends.numpy.arrays.layout import kept
from lazytensor.frontends.numpy.arrays.reinterpretation import through
from lazytensor.frontends.numpy.arrays.shadow import shadow, shadow_of_type, turned
from lazytensor.frontends.numpy.functions.signatures import named
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless

# From NumPy 2.1 on `reshape` takes `copy=False`. Before, assigning the shape raises instead.
_ASKS: Final = "copy" in inspect.signature(np.reshape).parameters


def shown(x: Lazy, layout: np.ndarray, *steps: ViewStep) -> Any:
    """A view of `x` through `steps`, laid out as `layout`."""
    node_type = x.ref.type.with_shape(layout.shape)
    if type(x) is Scalar:
        return through(x, layout, *steps)
    return wrap_view(view_through(x.ref, steps, node_type), layout, x)


def array_of(x: Any) -> Any:
    """The array of an argument. Raises: HostOnly if it cannot be lazy."""
    made = asarray(x)
    if not lazy(made):
        raise HostOnly(f"arrays of {made.dtype} are NumPy's own")
    return made


def subject(x: Any) -> Any:
    """The array of an argument; a scalar stays one. Raises: HostOnly."""
    return x if type(x) is Scalar else array_of(x)


def in_shape(x: Any, shape: Shape) -> Any:
    """`x` in another shape of its size: a view if NumPy would make one, else a copy."""
    if type(x) is not Scalar:
        layout = _reshaped(x, shape)
        if layout is not None:
            return shown(x, layout, ops.reshape_step(shape))
    made = ops.reshape(x.ref.node, shape=shape)
    return wrap_result(made) if type(x) is Scalar else wrap(made)


def _reshaped(x: Lazy, shape: Shape) -> np.ndarray | None:
    """The layout of `x` in another shape; None if it takes a copy."""
    if x._shadow is None or (x._shadow.flags.c_contiguous and x._shadow.flags.writeable):
        found = shadow_of_type(x.ref.type.with_shape(shape))
        if x._shadow is None or x._shadow.ctypes.data == found.ctypes.data:
            return found
    try:
        if _ASKS:
            return np.reshape(x._shadow, shape, copy=False)
        layout = x._shadow.view()
        layout.shape = shape
        return layout
    except (ValueError, AttributeError):
        return None


def resolved(shape: Any, size: int) -> Shape:
    """A shape as `reshape` takes it, its -1 filled in. Raises: ValueError, TypeError."""
    line = np.ndarray((size,), np.int8, b"\0", 0, (0,))  # takes one byte at any size
    found: Shape = line.reshape(shape).shape
    return found


def _fortran(x: Lazy, order: Any) -> bool:
    """Whether `order` means columns first for `x`. Raises: ValueError, TypeError."""
    if order in ("C", "c", None):
        return False
    if order in ("F", "f"):
        return True
    if order in ("A", "a", "K", "k"):
        return bool(shadow(x).flags.fnc)
    raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """See numpy.reshape."""
    x = subject(a)
    refuse_unless(order not in ("K", "k"))
    if isinstance(copy, str):
        np.reshape(0, 1, copy=copy)  # type: ignore[call-overload]  # raises
    wanted = x.shape if shape is None else resolved(shape, x.size)
    if _fortran(x, order):
        made = in_shape(transpose(x), wanted[::-1])
        result = transpose(made)
    else:
        result = in_shape(x, wanted)
    shared = result.ref.cell is x.ref.cell
    if copy is False and not shared:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    if copy and shared:
        return wrap(result.node)
    return result


def reshape_method(x: Any, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    if type(order) is str and order == "C" and copy is None and shape[0] is not None:  # usually
        return in_shape(x, resolved(shape[0] if len(shape) == 1 else shape, x.size))
    return reshape(x, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def ravel(a: Any, order: str = "C") -> Any:
    """See numpy.ravel."""
    x = array_of(a)
    if order in ("K", "k") and x._shadow is not None:
        return _in_memory_order(x)
    if _fortran(x, order):
        x = transpose(x)
    if not shadow(x).flags.c_contiguous:
        return wrap(ops.reshape(x.ref.node, shape=(x.size,)))
    return shown(x, shadow(x)) if x.ndim == 1 else in_shape(x, (x.size,))


def _in_memory_order(x: Any) -> Any:
    """The elements in memory order, as a transpose of `x`."""
    strides = x._shadow.strides
    axes = kept(x.shape, ((x.shape, strides),)) or tuple(range(x.ndim))
    line = transpose(x, axes)
    if not shadow(line).flags.c_contiguous:  # a copy, even if a view has this shape already
        return wrap(ops.reshape(line.ref.node, shape=(x.size,)))
    return in_shape(line, (x.size,))


def flatten(x: Any, order: str = "C") -> Any:
    """See numpy.ndarray.flatten."""
    result = ravel(x, order)
    return wrap(result.node) if result._base is not None else result


def transpose(a: Any, axes: Any = None) -> Any:
    """See numpy.transpose."""
    x = subject(a)
    if axes is not None:
        axes = tuple(operator.index(i) for i in _listed(axes))
    if x._shadow is None:
        return shown(x, *_transposed(x.ref.type, axes))
    layout = turned(x._shadow.transpose(axes))
    return shown(x, layout, *_transposed(x.ref.type, axes)[1:])


@remembered(4096)
def _transposed(type: TensorType, axes: Any) -> tuple[Any, ...]:
    """The layout and the step of a transpose. Raises: AxisError, ValueError."""
    layout = shadow_of_type(type).transpose(axes)
    if type.ndim < 2:
        return (layout,)
    given = range(type.ndim)[::-1] if axes is None else axes
    order = tuple(normalize_axis_index(i, type.ndim) for i in given)
    return turned(layout), ops.transpose_step(order)


def _listed(axes: Any) -> Any:
    return axes if np.iterable(axes) else (axes,)


def transpose_method(x: Any, *axes: Any) -> Any:
    if not axes or (len(axes) == 1 and axes[0] is None):
        return transpose(x)
    return transpose(x, axes[0] if len(axes) == 1 else axes)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """See numpy.swapaxes."""
    x = array_of(a)
    first = normalize_axis_index(axis1, x.ndim, "axis1")
    second = normalize_axis_index(axis2, x.ndim, "axis2")
    axes = list(range(x.ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return transpose(x, tuple(axes))


def squeeze(a: Any, axis: Any = None) -> Any:
    """See numpy.squeeze."""
    x = subject(a)
    layout = shadow(x).squeeze(axis)
    if layout.shape == x.shape:
        return x
    return shown(x, layout, ops.reshape_step(layout.shape))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """See numpy.diagonal."""
    x = array_of(a)
    layout = turned(shadow(x).diagonal(offset, axis1, axis2))
    first, second = axis1 % x.ndim, axis2 % x.ndim
    return shown(x, layout, ops.diagonal_step(operator.index(offset), first, second))


LAZY = named(diagonal, ravel, reshape, squeeze, swapaxes, transpose, permute_dims=transpose)
