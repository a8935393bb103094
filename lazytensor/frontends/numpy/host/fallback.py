"""Calls that are not lazy yet: NumPy computes them, with a warning.

Lazy arguments are computed, NumPy is called with real arrays, its writes into arguments are written
back, and its result is lazy again. Each call site warns once, unless the function needs values by
its nature (saving, printing).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core.ir.node import Node
from lazytensor.core.observe.host_call import HostCall
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host.small import are_plain
from lazytensor.frontends.numpy.interop.interchange import unpacked
from lazytensor.frontends.numpy.ufuncs.promotion import host_leaf, supported

_NEED_VALUES: Final = (
    "apply_along_axis apply_over_axes array2string array_equiv array_repr array_str "
    "asarray_chkfinite base_repr binary_repr busday_count busday_offset datetime_as_string "
    "datetime_data dump dumps format_float_positional format_float_scientific frombuffer fromfile "
    "frompyfunc fromregex fromstring genfromtxt is_busday load loadtxt min_scalar_type "
    "mintypecode ndenumerate nditer piecewise save savetxt savez savez_compressed "
    "set_printoptions shares_memory tobytes tofile typename vectorize"
)
HOST_BY_NATURE: Final = frozenset(_NEED_VALUES.split())
"""NumPy's functions that need values in any implementation. They do not warn."""

_WRITE: Final = (
    "at copyto fill_diagonal partition place put put_along_axis putmask setfield shuffle sort"
)
WRITERS: Final = frozenset(_WRITE.split())
"""NumPy's functions that write into their first argument. `out=` is recognized by its name."""


def fallback(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`function(*args, **kwargs)` by NumPy, with lazy arrays anywhere in nested arguments."""
    shown = public_name(name, function)
    if nodes := _pending(args, kwargs):
        scheduler.sync(*nodes, cause=shown)
    with HostCall(shown, "numpy", "NumPy computes it", warns=name not in HOST_BY_NATURE):
        return _answered(name, function, args, kwargs)


def public_name(name: str, function: Callable[..., Any]) -> str:
    """A function's public name: `numpy.linalg.lstsq`, `numpy.ndarray.tofile`."""
    if getattr(function, "__objclass__", None) is np.ndarray:
        return f"numpy.ndarray.{name}"
    ufunc = getattr(function, "__self__", None)
    if isinstance(ufunc, np.ufunc):
        return f"{public_name(ufunc.__name__, ufunc)}.{function.__name__}"
    if isinstance(function, np.ufunc):
        name = function.__name__
    for home in ("numpy", str(getattr(function, "__module__", None)), "scipy.special"):
        if getattr(sys.modules.get(home), name, None) is function:
            return f"{home}.{name}"
    return name if isinstance(function, np.ufunc) else f"numpy.{name}"


def on_host(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """As `fallback`, without a count or a warning: for data that NumPy keeps anyway."""
    if nodes := _pending(args, kwargs):
        scheduler.sync(*nodes, cause=public_name(name, function))
    return _answered(name, function, args, kwargs)


def _answered(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """NumPy's result for arguments that are computed."""
    written: list[tuple[ndarray, np.ndarray]] = []
    known: dict[int, Any] = {}
    writes = name in WRITERS
    real_args = [
        _writable(x, written, known) if writes and not i else as_it_lies(x)
        for i, x in enumerate(args)
    ]
    real_kwargs = {
        key: _writable(x, written, known) if key == "out" else as_it_lies(x)
        for key, x in kwargs.items()
    }
    result = _called(function, real_args, real_kwargs)
    for array, buffer in written:
        array.ref.write(host_leaf(buffer.copy()))
    if isinstance(result, np.ndarray) and id(result) not in known:
        lent = (y for x, y in zip(args, real_args, strict=True) if y is not x)
        if any(isinstance(y, np.ndarray) and np.may_share_memory(result, y) for y in lent):
            result = result.copy("K")  # nodes hold that memory
    return relazy(result, known)


def _called(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)`. For a scalar, a method of arrays is replaced by the scalar's."""
    if getattr(function, "__objclass__", None) is np.ndarray and isinstance(args[0], np.generic):
        return getattr(args[0], function.__name__)(*args[1:], **kwargs)
    return called(function, args, kwargs)


def called(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`function(*args, **kwargs)` by NumPy.

    NumPy refuses an `__array__` that returns a lazy array. It is then called again with the values.
    """
    try:
        return function(*args, **kwargs)
    except ValueError:
        given = unpacked((tuple(args), kwargs))
        if not lazies(given):
            raise
    args, kwargs = real(given)
    return function(*args, **kwargs)


def _pending(args: Any, kwargs: Any) -> list[Node]:
    """The nodes of the lazy arrays among the arguments, if any of them is pending."""
    nodes = [x.node for x in lazies((args, kwargs))]
    return nodes if any(node.value is None for node in nodes) else []


def lazies(value: Any) -> list[Lazy]:
    """The lazy arrays in nested tuples, lists and dicts, one of which may hold itself."""
    found: list[Lazy] = []
    seen: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if issubclass(type(item), Lazy):
            found.append(item)
        elif type(item) in (tuple, list):
            if id(item) not in seen and not are_plain(item):
                seen.add(id(item))
                stack.extend(item)
        elif type(item) is dict and id(item) not in seen:
            seen.add(id(item))
            stack.extend(item.values())
    return found


def real(value: Any) -> Any:
    """`value` with its lazy arrays replaced by real ones, which must not be written to."""
    kind = type(value)
    if issubclass(kind, Lazy):
        array = scheduler.observe(value.node)
        return array[()] if kind is Scalar else array
    if kind is list or kind is tuple:
        return value if are_plain(value) else kind(map(real, value))
    if kind is dict:
        return {key: real(item) for key, item in value.items()}
    return value


def as_it_lies(value: Any) -> Any:
    """As `real`, with arrays laid out in memory as NumPy's would be."""
    kind = type(value)
    if kind is list or kind is tuple:
        return value if are_plain(value) else kind(map(as_it_lies, value))
    found = real(value)
    if kind is ndarray and type(value._shadow) is Turned and value.ndim > 1:
        layout: np.ndarray = value._shadow
        once = tuple(slice(None if step else 1) for step in layout.strides)
        array = np.empty_like(layout[once], subok=False)
        array[...] = found[once]
        return np.broadcast_to(array, found.shape) if array.shape != found.shape else array
    return found


def relazy(value: Any, known: dict[int, Any] | None = None) -> Any:
    """`value` with its real arrays made lazy, if their dtype is supported."""
    if known and id(value) in known:
        return known[id(value)]
    if type(value) is np.ndarray and supported(value.dtype):
        made = wrap(host_leaf(np.array(value, order="C")))
        lay_out(made, value)
        return made
    if type(value) in (list, tuple):
        return type(value)(relazy(item, known) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(relazy(item, known) for item in value))
    return value


def _writable(value: Any, written: list[tuple[ndarray, np.ndarray]], known: dict[int, Any]) -> Any:
    if type(value) in (tuple, list) and not are_plain(value):
        return type(value)(_writable(item, written, known) for item in value)
    if isinstance(value, ndarray) and isinstance(value, Lazy):
        buffer = scheduler.fetch(value.node)
        layout = value._shadow
        buffer.flags.writeable = layout is None or layout.flags.writeable
        written.append((value, buffer))
        known[id(buffer)] = value
        return buffer
    if type(value) is np.ndarray:
        known[id(value)] = value
    return real(value)
