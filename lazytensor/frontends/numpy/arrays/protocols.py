"""What other code asks of an array: NumPy's protocols, Python's containers, printing, pickling."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.cell import Cell, writing
from lazytensor.core.buffers.interop import METHOD
from lazytensor.core.device.host_memory import copied
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.arguments import seen_through
from lazytensor.frontends.numpy.arrays import conversion, scalar
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host import parts
from lazytensor.frontends.numpy.host.access_counters import memory_of
from lazytensor.frontends.numpy.host.alias import Lent, shown_in
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.fallback import fallback, lazies, on_host
from lazytensor.frontends.numpy.host.small import lazy_if_large
from lazytensor.frontends.numpy.indexing.basic import getitem
from lazytensor.frontends.numpy.interop import interchange, sharing
from lazytensor.frontends.numpy.interop.interchange import listed
from lazytensor.frontends.numpy.ufuncs import special
from lazytensor.frontends.numpy.ufuncs.promotion import host_leaf
from lazytensor.frontends.numpy.ufuncs.table import lazy_ufunc


def fetched(x: Lazy) -> np.ndarray:
    """The values in a real array of the caller's own, laid out as NumPy would have them."""
    layout = x._shadow
    if differing and is_raised() and layout is None and type(x.ref) is Lent:
        return copied(x.ref.known())  # it goes on being lent
    seen = seen_through(x.ref)
    if type(layout) is Turned and 0 not in layout.strides:  # what is shown many times is in rows
        turned = np.empty_like(layout, subok=False)
        turned[...] = scheduler.observe(x.node) if seen is None else seen
        return turned
    return scheduler.fetch(x.node) if seen is None else copied(seen)


def to_numpy(x: Lazy, dtype: Any = None, copy: Any = None) -> np.ndarray:
    """`__array__`: a copy, as writing to it must not reach lazy data, unless it is for that."""
    if copy is False or sharing.is_shared(x, copy, sys._getframe(1)):
        lent = sharing.memory(x) if dtype in (None, x.dtype) else None
        if lent is not None:
            return lent
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
    array = fetched(x)
    return array if dtype is None else array.astype(dtype, copy=False)


def for_libraries(x: Lazy, dtype: Any = None, copy: Any = False, na_value: Any = None) -> Any:
    """`to_numpy()`: the values in a real array, as matplotlib and others ask pandas' arrays.

    It is the caller's own, whatever `copy` says, and nothing is missing from it.
    """
    return to_numpy(x, dtype)


def interface(name: str) -> Callable[[ndarray], Any]:
    """An attribute by which Python code that asks for it by this name, as Pillow's, gets memory.

    NumPy's own C code, which asks wherever it takes an array, gets none: it is to ask `__array__`.
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
"""Whether an array has `__buffer__`, for which Pillow asks where there are no strides."""
_ALL_READ_ONLY: Final = 0x11C
"""`inspect.BufferFlags` of a request for all that a buffer may tell."""
_VIEWS: Final = frozenset(["memoryview", "bytearray", "PickleBuffer"])
"""Who else asks for that than NumPy."""


def to_buffer(x: Lazy, flags: int, /) -> memoryview:
    """`__buffer__`, from Python 3.12 on: the memory itself.

    NumPy would copy it where `copy=False` is asked for: it is to ask `__array__`.
    """
    if flags == _ALL_READ_ONLY and _VIEWS.isdisjoint(sys._getframe(1).f_code.co_names):
        raise BufferError("__buffer__: NumPy is to ask for __array__; else call `memoryview(x)`")
    return data(x)


def data(x: Lazy) -> memoryview:
    """`x.data`: the memory itself; a copy for a scalar."""
    found = sharing.memory(x)
    return (fetched(x) if found is None else found).data


def addresses(x: Lazy) -> Any:
    """`x.ctypes`, whose addresses stay those of the data."""
    found = sharing.fixed(x)
    return (fetched(x) if found is None else found).ctypes


def to_bytes(x: Lazy) -> bytes:
    """`bytes(x)`, which before Python 3.12 cannot ask for the buffer; n zeros of an integer n."""
    return bytes(scalar.index(x)) if not x.ndim and x.dtype.kind in "iu" else fetched(x).tobytes()


def array_ufunc(x: Lazy, real: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any:
    """`__array_ufunc__`: NumPy's own ufunc was called with a lazy array."""
    if isinstance(x, np.ndarray):  # taken from the class, for a real array
        return np.ndarray.__array_ufunc__(x, real, method, *inputs, **kwargs)
    if differing and is_raised() and method == "__call__" and len(inputs) == real.nin:
        small = parts.small_by_now(inputs, None if _is_update(inputs, **kwargs) else kwargs)
        if small is not None:
            return lazy_if_large(real(*small, **kwargs))
    function = lazy_ufunc(real) or special.counterpart(real)
    if function is None:
        called = real if method == "__call__" else getattr(real, method)
        writes = method == "at" or not real.nout  # one without results writes to its operand
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


def _is_update(inputs: tuple[Any, ...], out: Any = None, **rest: Any) -> bool:
    """Whether it is `x ∘= other`, with a real `x`."""
    return out is not None and not rest and out[0] is inputs[0] and type(out[0]) is np.ndarray


_HANDLED_CLASSES: Final = frozenset([ndarray, Scalar, np.ndarray, int, float, complex, np.float64])
"""Classes that leave the call to us."""


def _takes_over(item: Any) -> bool:
    kind = type(item)
    if issubclass(kind, Lazy | np.ndarray | np.generic) or not hasattr(kind, "__array_ufunc__"):
        return False
    return kind.__array_ufunc__ is not np.ndarray.__array_ufunc__


def _taken_over(
    item: Any, real: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """What the class of `item` makes of it; of real arrays, if it takes no others.

    pandas and dask leave to others what has a priority, or is of a class that they do not know.
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
    frame = sys._getframe(3)  # of who called NumPy's function, behind `array.py`
    return str(frame.f_globals.get("__name__", "")).startswith("numpy.")


def array_function(x: Lazy, real: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """`__array_function__`: NumPy's own function was called with a lazy array."""
    from lazytensor.frontends.numpy import namespace

    if real.__name__ in _CONVERSIONS and not _is_for_numpy():
        return real._implementation(*args, **kwargs)
    is_like = not hasattr(real, "_implementation")  # NumPy asks for `like=x`, and leaves that out
    if not is_like and not lazies((args, kwargs)):  # it is in a `deque`, a named tuple, …
        args, kwargs = listed(args), {name: listed(x) for name, x in kwargs.items()}
        if not lazies((args, kwargs)):
            return real._implementation(*args, **kwargs)  # NumPy takes no such thing, and says so
    function = namespace.counterpart(real)
    if function is not None:
        return function(*args, **kwargs)
    return fallback(real.__name__, real, args, kwargs)


def array_wrap(x: ndarray, array: Any, context: Any = None, return_scalar: bool = False, /) -> Any:
    """`__array_wrap__`: a lazy array of NumPy's."""
    made = conversion.asarray(array)
    return made[()] if return_scalar and not made.ndim else made


def array_finalize(x: ndarray, obj: Any, /) -> None:
    """`__array_finalize__`, for classes of users to call."""


def iterate(x: ndarray) -> Iterator[Any]:
    """`iter(x)`."""
    if not x.ndim:
        raise TypeError("iteration over a 0-d array")
    if x.ndim == 1 and x.size > _SINGLY:
        return _elements(x)
    return (getitem(x, i) for i in range(x.shape[0]))


def _elements(x: ndarray) -> Iterator[Any]:
    """One program now, not as many reads as elements; and again where the loop writes to `x`."""
    i = 0
    while i < x.shape[0]:
        cell = x.ref.cell
        if type(cell) is not Cell:
            memory = memory_of(cell)
            part = None if memory is None else shown_in(memory, x.ref.chain)
            if part is not None:  # which shows what is written, and is seen as long as it is here
                yield from part[i:]
                return
            yield getitem(x, i)
            i += 1
            continue
        scheduler.sync(x.node, cause="iteration")
        with writing:
            if cell.reads is None:
                cell.reads = {}
            unwritten = cell.reads  # which whoever writes takes away
        for value in scheduler.fetch(x.node)[i:]:
            yield value
            i += 1
            if cell.reads is not unwritten:
                break


_SINGLY: Final = 8


def length(x: ndarray) -> int:
    """`len(x)`."""
    if not x.ndim:
        raise TypeError("len() of unsized object")
    return x.shape[0]


def contains(x: ndarray, item: Any) -> bool:
    """`item in x`."""
    found = x == item
    return bool(np.any(scheduler.observe(found.node) if isinstance(found, Lazy) else found))


def shown(function: Callable[..., str]) -> Callable[..., str]:
    """Printing: NumPy's, of the values."""

    def show(x: Lazy, *args: Any) -> str:
        return function(scalar.value(x), *args)

    return show


def formatted(x: Lazy, spec: str) -> str:
    """`format(x, spec)`."""
    return format(scalar.value(x), spec)


def reduced(x: ndarray) -> Any:
    """Pickling: the memory, which a buffer that is handed out of band goes on sharing."""
    found = sharing.memory(x)
    return restored, (fetched(x) if found is None else found,)


def restored(array: np.ndarray) -> Any:
    """The array that was pickled."""
    if not array.flags.owndata:  # it shows a buffer, which may be somebody's
        array = array.copy("K")
    made = wrap(host_leaf(np.ascontiguousarray(array).reshape(array.shape)))
    lay_out(made, array)
    return made


def not_deleted(x: ndarray, key: Any) -> None:
    """`del x[key]`."""
    raise ValueError("cannot delete array elements")


def host_method(name: str) -> Callable[..., Any]:
    """A method that needs values by its nature."""

    def method(x: Lazy, *args: Any, **kwargs: Any) -> Any:
        value = fetched(x)
        return getattr(value if type(x) is not Scalar else value[()], name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def byteswap(x: Any, inplace: Any = False) -> Any:
    """`x.byteswap(inplace)`: the bytes of every element the other way round."""
    if type(x) is Scalar:
        return scalar.value(x).byteswap(inplace)
    value = fetched(x)
    value.flags.writeable = not is_read_only(x)
    swapped = value.byteswap(inplace)
    if not inplace:
        return restored(swapped)
    x.ref.write(host_leaf(np.ascontiguousarray(swapped).reshape(x.shape)))
    return x


DUNDERS: Final[dict[str, Any]] = {
    "__array__": to_numpy,
    "__array_ufunc__": array_ufunc,
    "__array_wrap__": array_wrap,
    "__class_getitem__": classmethod(GenericAlias),
    "__array_function__": array_function,
    "__repr__": shown(repr),
    "__str__": shown(str),
    "__format__": formatted,
    "to_numpy": for_libraries,
    "__dlpack__": interchange.to_dlpack,
    "__dlpack_device__": interchange.dlpack_device,
    METHOD: interchange.offer,
    "__buffer__": to_buffer,
    "__bytes__": to_bytes,
    "tobytes": host_method("tobytes"),
    "tofile": host_method("tofile"),
    "dump": host_method("dump"),
    "dumps": host_method("dumps"),
    "byteswap": byteswap,
}
ARRAY_DUNDERS: Final[dict[str, Any]] = {
    **{name: property(interface(name)) for name in ("__array_interface__", "__array_struct__")},
    "__iter__": iterate,
    "__len__": length,
    "__array_finalize__": array_finalize,
    "__contains__": contains,
    "__delitem__": not_deleted,
    "__reduce__": reduced,
}
