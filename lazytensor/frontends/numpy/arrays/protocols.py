"""Protocols of arrays: NumPy's, Python's containers, printing, pickling."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.interop import Offer
from lazytensor.core.ir.sharding import Sharding
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace import splitting
from lazytensor.frontends.numpy import namespace
from lazytensor.frontends.numpy.arrays import conversion
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, extends, ndarray, wrap
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.arrays.flat import iterate
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.arrays.scalar import value
from lazytensor.frontends.numpy.host import parts
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.fallback import fallback, lazies, on_host
from lazytensor.frontends.numpy.host.small import lazy_if_large
from lazytensor.frontends.numpy.interop import sharing
from lazytensor.frontends.numpy.interop.interchange import listed
from lazytensor.frontends.numpy.interop.sharing import fetched
from lazytensor.frontends.numpy.ufuncs import special
from lazytensor.frontends.numpy.ufuncs.promotion import host_leaf
from lazytensor.frontends.numpy.ufuncs.table import lazy_ufunc

_CPU: Final = (1, 0)
"""The device in DLPack's terms: type and number."""


def of_values(name: str) -> Any:
    """A method that needs values by its nature."""

    def method(x: Lazy, *args: Any, **kwargs: Any) -> Any:
        value = fetched(x)
        return getattr(value if type(x) is not Scalar else value[()], name)(*args, **kwargs)

    return method


@extends(Lazy)
class Protocols(Lazy):
    """Protocols by which NumPy, Python and other libraries use arrays and numbers."""

    __class_getitem__: Any = classmethod(GenericAlias)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """A copy, as writes to it must not reach lazy data, unless the caller shares memory."""
        if copy is False or sharing.is_shared(self, copy, sys._getframe(1)):
            lent = sharing.memory(self) if dtype in (None, self.dtype) else None
            if lent is not None:
                return lent
            if copy is False:
                raise ValueError("Unable to avoid copy while creating an array as requested.")
        array = fetched(self)
        return array if dtype is None else array.astype(dtype, copy=False)

    def to_numpy(self, dtype: Any = None, copy: Any = False, na_value: Any = None) -> Any:
        """The values in a real array. matplotlib and others call this method of pandas' arrays.

        The array is always the caller's own, whatever `copy` says. No value is missing.
        """
        return self.__array__(dtype)

    def __array_ufunc__(self, real: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Called for NumPy's own ufunc with a lazy array."""
        if issubclass(type(self), np.ndarray):  # taken from the class, for a real array
            found: Any = self
            return np.ndarray.__array_ufunc__(found, real, method, *inputs, **kwargs)
        if differing and is_raised() and method == "__call__" and len(inputs) == real.nin:
            small = parts.small_by_now(inputs, None if _is_update(inputs, **kwargs) else kwargs)
            if small is not None:
                return lazy_if_large(real(*small, **kwargs))
        function = lazy_ufunc(real) or special.counterpart(real)
        if function is None:
            called = real if method == "__call__" else getattr(real, method)
            writes = method == "at" or not real.nout  # without results, it writes to its operand
            return fallback("at" if writes else real.__name__, called, inputs, kwargs)
        if method == "__call__" and not kwargs and _HANDLED_CLASSES.issuperset(map(type, inputs)):
            return function(*inputs)
        out = kwargs.get("out")
        outs = out if isinstance(out, tuple) else (out,)
        for item in (*inputs, *outs, kwargs.get("where")):
            if _takes_over(item):
                return _taken_over(item, real, method, inputs, kwargs)
        if isinstance(out, tuple) and len(out) == 1 and method != "__call__":
            kwargs["out"] = out[0]
        return getattr(function, method)(*inputs, **kwargs)

    def __array_function__(self, real: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Called for NumPy's own function with a lazy array."""
        if real.__name__ in _CONVERSIONS and not _is_for_numpy():
            return real._implementation(*args, **kwargs)
        is_like = not hasattr(real, "_implementation")  # `like=x`, which NumPy leaves out
        if not is_like and not lazies((args, kwargs)):  # the array is in a `deque`, …
            args, kwargs = listed(args), {name: listed(x) for name, x in kwargs.items()}
            if not lazies((args, kwargs)):
                return real._implementation(*args, **kwargs)  # NumPy refuses it
        function = namespace.counterpart(real)
        if function is not None:
            return function(*args, **kwargs)
        return fallback(real.__name__, real, args, kwargs)

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False, /
    ) -> Any:
        """NumPy's array as a lazy one."""
        made = conversion.asarray(array)
        return made[()] if return_scalar and not made.ndim else made

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule with the memory. Raises: BufferError for another device."""
        if dl_device not in (None, _CPU):
            raise BufferError(f"unsupported device requested: {dl_device}")
        version: dict[str, Any] = (
            {} if max_version is None else {"max_version": max_version}
        )  # from NumPy 2.1 on
        found = None if copy else sharing.memory(self)
        return (scheduler.fetch(self.node) if found is None else found).__dlpack__(
            stream=stream, **version
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device of the memory that `__dlpack__` returns."""
        return _CPU

    @property
    def sharding(self) -> Sharding | None:
        """How it is split over devices; None on one device. It is computed now if it was not."""
        return splitting.of(self.node)

    def __lazytensor__(self) -> Offer:
        """The cell or view for an array that may be written to, else the node."""
        layout = self._shadow
        if issubclass(type(self), Scalar) or (layout is not None and not layout.flags.writeable):
            return Offer(self.ref.node)
        return Offer(self.ref, None if layout is None else layout.strides)

    def __buffer__(self, flags: int, /) -> memoryview:
        """The memory itself, from Python 3.12 on.

        NumPy is refused, so that it calls `__array__`: it would copy the buffer for `copy=False`.
        """
        if flags == _ALL_READ_ONLY and _VIEWS.isdisjoint(sys._getframe(1).f_code.co_names):
            raise BufferError(
                "__buffer__: NumPy uses __array__ instead; for the memory call `memoryview(x)`"
            )
        return self.data

    @property
    def data(self) -> memoryview:
        """NumPy's `data`: the memory itself; a copy for a scalar."""
        found = sharing.memory(self)
        return (fetched(self) if found is None else found).data

    @property
    def ctypes(self) -> Any:
        """NumPy's `ctypes`. Its addresses stay valid while the data live."""
        found = sharing.fixed(self)
        return (fetched(self) if found is None else found).ctypes

    def __bytes__(self) -> bytes:
        """The bytes, as `bytes` cannot use the buffer before Python 3.12; n zeros for an int n."""
        is_number = not self.ndim and self.dtype.kind in "iu"
        return bytes(int(value(self))) if is_number else fetched(self).tobytes()

    def __repr__(self) -> str:
        return repr(value(self))

    def __str__(self) -> str:
        return str(value(self))

    def __format__(self, spec: str) -> str:
        return format(value(self), spec)

    def byteswap(self, inplace: Any = False) -> Any:
        """NumPy's `byteswap`: reverses the bytes of every element."""
        if issubclass(type(self), Scalar):
            return value(self).byteswap(inplace)
        given = fetched(self)
        given.flags.writeable = not is_read_only(self)
        swapped = given.byteswap(inplace)
        if not inplace:
            return restored(swapped)
        self.ref.write(host_leaf(np.ascontiguousarray(swapped).reshape(self.shape)))
        return self

    tobytes, tofile = of_values("tobytes"), of_values("tofile")
    dump, dumps = of_values("dump"), of_values("dumps")


def _is_update(inputs: tuple[Any, ...], out: Any = None, **rest: Any) -> bool:
    """Whether a ufunc's call is `x ∘= other`, with a real `x`."""
    return out is not None and not rest and out[0] is inputs[0] and type(out[0]) is np.ndarray


_HANDLED_CLASSES: Final = frozenset([ndarray, Scalar, np.ndarray, int, float, complex, np.float64])
"""Classes that never override a ufunc."""


def _takes_over(item: Any) -> bool:
    kind = type(item)
    if issubclass(kind, Lazy | np.ndarray | np.generic) or not hasattr(kind, "__array_ufunc__"):
        return False
    return kind.__array_ufunc__ is not np.ndarray.__array_ufunc__


def _taken_over(
    item: Any, real: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The result of a ufunc that the class of `item` overrides.

    The class gets real arrays if it returns NotImplemented for lazy ones, as pandas and dask do for
    unknown classes and for arrays with a priority.
    """
    made = type(item).__array_ufunc__(item, real, method, *inputs, **kwargs)
    if made is not NotImplemented:
        return made
    called = real if method == "__call__" else getattr(real, method)
    return on_host(real.__name__, called, inputs, kwargs)


_CONVERSIONS: Final = frozenset(["atleast_1d", "atleast_2d", "atleast_3d"])
"""Functions of NumPy's by which others make arrays for C code, as by `asarray`."""


def _is_for_numpy() -> bool:
    """Whether NumPy's own Python asks, which we run over lazy arrays."""
    frame = sys._getframe(3)  # the caller of NumPy's function, behind `array.py`
    return str(frame.f_globals.get("__name__", "")).startswith("numpy.")


def interface(name: str) -> Callable[[ndarray], Any]:
    """An attribute that gives memory to Python code that reads it by name, such as Pillow's.

    NumPy's own C code reads it for every array. It gets none, so that it calls `__array__`.
    """

    def read(x: ndarray) -> Any:
        frame = sys._getframe(1)
        found = sharing.fixed(x) if name in frame.f_code.co_names else None
        if found is None:
            raise AttributeError(name)
        shown = getattr(found, name)
        if _IS_BUFFER or not str(frame.f_globals.get("__name__", "")).startswith("PIL."):
            return shown
        return {**shown, "strides": found.strides}

    return read


_IS_BUFFER: Final = sys.version_info >= (3, 12)
"""Whether an array has `__buffer__`, which Pillow uses if there are no strides."""
_ALL_READ_ONLY: Final = 0x11C
"""`inspect.BufferFlags` of a request for all information about a buffer."""
_VIEWS: Final = frozenset(["memoryview", "bytearray", "PickleBuffer"])
"""Callers other than NumPy that make this request."""


@extends(ndarray)
class Container(ndarray, own=True):
    """Protocols that only arrays have."""

    __array_interface__ = property(interface("__array_interface__"))
    __array_struct__ = property(interface("__array_struct__"))

    def __array_finalize__(self, obj: Any, /) -> None:
        """Do nothing. Users' subclasses call it."""

    def __iter__(self) -> Iterator[Any]:
        return iterate(self)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __contains__(self, item: Any) -> bool:
        found = self == item
        return bool(np.any(scheduler.observe(found.node) if isinstance(found, Lazy) else found))

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    def __reduce__(self) -> Any:
        """Pickle the memory. A buffer passed out of band still shares it."""
        found = sharing.memory(self)
        return restored, (fetched(self) if found is None else found,)


def restored(array: np.ndarray) -> Any:
    """The array that was pickled."""
    if not array.flags.owndata:  # it shows a buffer that others may write to
        array = array.copy("K")
    made = wrap(host_leaf(np.ascontiguousarray(array).reshape(array.shape)))
    lay_out(made, array)
    return made
