"""Views of data as something else: parts of complex numbers, other dtypes, all in one row."""

from __future__ import annotations

import builtins
from typing import Any, Final

import numpy as np
from numpy.lib import NumpyVersion

from lazytensor.core import ops
from lazytensor.core.buffers.cell import ViewStep
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numerics import filled
from lazytensor.frontends.numpy.arrays.array import (
    Lazy,
    Scalar,
    extends,
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
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, canonical, supported


def through(x: Lazy, layout: np.ndarray, *steps: ViewStep) -> Any:
    """The view of `x` through `steps`, laid out as `layout`. For a scalar, another scalar."""
    if type(x) is not Scalar:
        return wrap_view(x.ref.view(*steps) if steps else x.ref, layout, x)
    node = x.node
    for step in steps:
        node = step.read(node)
    return wrap_result(node)


def check_settable(x: Lazy, name: str) -> None:
    """Raise NumPy's error for an attribute of a scalar."""
    if type(x) is Scalar:
        raise AttributeError(f"attribute {name!r} of 'numpy.generic' objects is not writable")


_AS_ARRAYS: Final = NumpyVersion(np.__version__) < "2.5.0"
"""Whether NumPy's numbers assigned to `x.real` are cast as arrays are."""


@extends(Lazy)
class Reinterpretation(Lazy):
    """Attributes and methods that show the same data as something else."""

    @property
    def real(self) -> Any:
        """NumPy's `real`."""
        return through(self, shadow(self).real, ops.real_step()) if _is_complex(self) else self

    @real.setter
    def real(self, value: Any) -> None:
        check_settable(self, "real")
        if issubclass(type(value), Lazy) and same_elements(self.real, value):
            return
        if type(value) in PYTHON_NUMBERS or issubclass(type(value), np.generic):
            probe = np.empty(1, self.dtype)
            probe.real = value  # NumPy refuses or casts it
            value = probe.real
        is_cast = type(value) is Scalar and _AS_ARRAYS
        self.real[...] = wrap(value.node) if is_cast else value

    @property
    def imag(self) -> Any:
        """NumPy's `imag`."""
        if _is_complex(self):
            return through(self, shadow(self).imag, ops.imag_step())
        if issubclass(type(self), Scalar):
            return wrap_result(filled(0, self.node))
        made = wrap(filled(0, self.node))
        lay_out_like(made, self, "A")
        made._shadow = read_only(shadow(made))
        return made

    @imag.setter
    def imag(self, value: Any) -> None:
        check_settable(self, "imag")
        if not _is_complex(self):
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = value

    @property
    def shape(self) -> Shape:
        """NumPy's `shape`."""
        return self.ref.type.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        check_settable(self, "shape")
        layout = shadow(self).view()
        layout.shape = value  # raises if it takes a copy
        self.ref, self._shadow = self.ref.view(ops.reshape_step(layout.shape)), layout

    @property
    def dtype(self) -> np.dtype:
        """NumPy's `dtype`."""
        return self.ref.type.dtype

    @dtype.setter
    def dtype(self, value: Any) -> None:
        check_settable(self, "dtype")
        layout: Any = shadow(self).view()
        layout.dtype = value  # raises if it takes a copy
        steps = _steps(self, canonical(layout.dtype), layout.shape)
        self.ref, self._shadow = self.ref.view(*steps) if steps else self.ref, layout

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """NumPy's `view`: the same bytes as another dtype."""
        if isinstance(dtype, builtins.type) and issubclass(dtype, ndarray):
            dtype, type = None, dtype
        if type not in (None, ndarray, np.ndarray):
            return _in_class(self if dtype is None else self.view(dtype), type)
        if dtype is None:
            return through(self, shadow(self).view())
        wanted = np.dtype(dtype)
        layout = shadow(self).view(wanted)  # raises if bytes to split or join are not adjacent
        if not supported(wanted):
            return fallback("ndarray.view", lambda a: np.array(a).view(wanted), (self,), {})
        return through(self, layout, *_steps(self, canonical(wanted), layout.shape))

    def getfield(self, dtype: Any, offset: Any = 0) -> Any:
        """NumPy's `getfield`: bytes of every element as another dtype; a copy."""
        return fallback("getfield", np.ndarray.getfield, (self, dtype, offset), {})

    def setfield(self, val: Any, dtype: Any, offset: Any = 0) -> None:
        """NumPy's `setfield`."""
        fallback("setfield", np.ndarray.setfield, (self, val, dtype, offset), {})


def _is_complex(x: Lazy) -> bool:
    return x.dtype.kind == "c"


def _in_class(x: Lazy, cls: Any) -> Any:
    """The memory of `x` as an array of NumPy's or a user's class."""
    found = sharing.memory(x)
    return (np.array(x) if found is None else found).view(type=cls)


def _steps(x: Lazy, dtype: np.dtype, shape: Shape) -> list[ViewStep]:
    """The steps to another dtype. Bytes split or join along the last axis if the widths differ."""
    if dtype is x.dtype:
        return []
    if dtype.itemsize == x.itemsize:
        return [ops.bitcast_step(dtype)]
    if dtype.itemsize < x.itemsize:
        return [ops.bitcast_step(dtype), ops.reshape_step(shape)]
    return [ops.reshape_step((*shape, dtype.itemsize // x.itemsize)), ops.bitcast_step(dtype)]


def flat_view(x: ndarray) -> ndarray:
    """A view of all elements of `x` in row-major order, for `x.flat`."""
    layout = shadow_of_type(x.type.with_shape((x.size,)))
    if not shadow(x).flags.writeable:
        layout = read_only(layout)
    return wrap_view(x.ref.view(ops.reshape_step((x.size,))), layout, x)
