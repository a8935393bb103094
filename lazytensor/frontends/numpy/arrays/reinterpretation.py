"""The same data seen as something else: parts of complex numbers, other dtypes, all in one row."""

from __future__ import annotations

import builtins
from typing import Any, Final

import numpy as np
from numpy.lib import NumpyVersion

from lazytensor.core import ops
from lazytensor.core.buffers.cell import ViewStep
from lazytensor.core.ir.types import Shape
from lazytensor.frontends.numpy.arrays.array import (
    Lazy,
    Scalar,
    ndarray,
    wrap,
    wrap_result,
    wrap_view,
)
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.arrays.shadow import (
    read_only,
    same_elements,
    shadow,
    shadow_of_type,
)
from lazytensor.frontends.numpy.host.fallback import fallback
from lazytensor.frontends.numpy.interop import sharing
from lazytensor.frontends.numpy.ufuncs.numerics import filled
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, canonical, supported


def through(x: Lazy, layout: np.ndarray, *steps: ViewStep) -> Any:
    """The view of `x` through `steps`, laid out as `layout` is; of a scalar, another scalar."""
    if type(x) is not Scalar:
        return wrap_view(x.ref.view(*steps) if steps else x.ref, layout, x)
    node = x.node
    for step in steps:
        node = step.read(node)
    return wrap_result(node)


def real(x: Lazy) -> Any:
    """`x.real`."""
    if x.dtype.kind != "c":
        return x
    return through(x, shadow(x).real, ops.real_step())


def imag(x: Lazy) -> Any:
    """`x.imag`."""
    if x.dtype.kind == "c":
        return through(x, shadow(x).imag, ops.imag_step())
    if type(x) is Scalar:
        return wrap_result(filled(0, x.node))
    made = wrap(filled(0, x.node))
    lay_out_like(made, x, "A")
    made._shadow = read_only(shadow(made))
    return made


def check_settable(x: Lazy, name: str) -> None:
    """Raise NumPy's error for an attribute of a scalar."""
    if type(x) is Scalar:
        raise AttributeError(f"attribute {name!r} of 'numpy.generic' objects is not writable")


_AS_ARRAYS: Final = NumpyVersion(np.__version__) < "2.5.0"
"""Whether numbers of NumPy's that are given to `x.real` are cast as arrays are."""


def set_real(x: ndarray, value: Any) -> None:
    """`x.real = value`."""
    check_settable(x, "real")
    if issubclass(type(value), Lazy) and same_elements(real(x), value):
        return
    if type(value) in PYTHON_NUMBERS or issubclass(type(value), np.generic):
        probe = np.empty(1, x.dtype)
        probe.real = value  # NumPy says which numbers it takes, and as what
        value = probe.real
    is_cast = type(value) is Scalar and _AS_ARRAYS
    real(x)[...] = wrap(value.node) if is_cast else value


def set_imag(x: ndarray, value: Any) -> None:
    """`x.imag = value`."""
    check_settable(x, "imag")
    if x.dtype.kind != "c":
        raise TypeError("array does not have imaginary part to set")
    imag(x)[...] = value


def view(x: Lazy, dtype: Any = None, type: Any = None) -> Any:
    """`x.view(dtype)`: the same bytes as another dtype."""
    if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
        dtype, type = None, dtype
    if type not in (None, ndarray, np.ndarray):
        return _in_class(x if dtype is None else view(x, dtype), type)
    if dtype is None:
        return through(x, shadow(x).view())
    wanted = np.dtype(dtype)
    layout = shadow(x).view(wanted)  # raises unless the bytes to split or join are neighbours
    if not supported(wanted):
        return fallback("ndarray.view", lambda a: np.array(a).view(wanted), (x,), {})
    return through(x, layout, *_steps(x, canonical(wanted), layout.shape))


def _in_class(x: Lazy, cls: Any) -> Any:
    """The memory of `x` as an array of NumPy's or a user's class."""
    found = sharing.memory(x)
    return (np.array(x) if found is None else found).view(type=cls)


def getfield(x: Lazy, dtype: Any, offset: Any = 0) -> Any:
    """`x.getfield(dtype, offset)`: bytes of every element as another dtype; a copy."""
    return fallback("getfield", np.ndarray.getfield, (x, dtype, offset), {})


def setfield(x: ndarray, val: Any, dtype: Any, offset: Any = 0) -> None:
    """`x.setfield(val, dtype, offset)`."""
    fallback("setfield", np.ndarray.setfield, (x, val, dtype, offset), {})


def set_shape(x: ndarray, value: Any) -> None:
    """`x.shape = value`."""
    check_settable(x, "shape")
    layout = shadow(x).view()
    layout.shape = value  # NumPy says whether that takes a copy
    x.ref, x._shadow = x.ref.view(ops.reshape_step(layout.shape)), layout


def set_dtype(x: Any, value: Any) -> None:
    """`x.dtype = value`: the same bytes as another dtype."""
    check_settable(x, "dtype")
    layout: Any = shadow(x).view()
    layout.dtype = value  # NumPy says whether that takes a copy
    steps = _steps(x, canonical(layout.dtype), layout.shape)
    x.ref, x._shadow = x.ref.view(*steps) if steps else x.ref, layout


def _steps(x: Lazy, dtype: np.dtype, shape: Shape) -> list[ViewStep]:
    """Bytes split or join along the last axis where the widths differ."""
    if dtype is x.dtype:
        return []
    if dtype.itemsize == x.itemsize:
        return [ops.bitcast_step(dtype)]
    if dtype.itemsize < x.itemsize:
        return [ops.bitcast_step(dtype), ops.reshape_step(shape)]
    return [ops.reshape_step((*shape, dtype.itemsize // x.itemsize)), ops.bitcast_step(dtype)]


def flat_view(x: ndarray) -> ndarray:
    """All elements of `x` in row-major order, writing through: what `x.flat` runs over."""
    layout = shadow_of_type(x.type.with_shape((x.size,)))
    if not shadow(x).flags.writeable:
        layout = read_only(layout)
    return wrap_view(x.ref.view(ops.reshape_step((x.size,))), layout, x)
