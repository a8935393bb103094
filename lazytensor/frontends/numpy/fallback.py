"""Calls that are not lazy yet: NumPy computes them, right and loud.

Lazy arguments are computed, NumPy is called with real arrays, what it wrote into arguments is
written back, and what it returns is lazy again. One warning a call site, unless NumPy's function
is one that needs values by its nature (saving, printing).
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Final

import numpy as np

from lazytensor.core import metrics, runtime
from lazytensor.core.events import Fallback, record
from lazytensor.core.notices import warn_of_fallback
from lazytensor.core.place import user_place
from lazytensor.frontends.numpy.array import Lazy, Scalar, ndarray, wrap
from lazytensor.frontends.numpy.layout import lay_out
from lazytensor.frontends.numpy.promotion import host_leaf, supported

HOST_BY_NATURE: Final = frozenset(
    [
        "array2string",
        "array_repr",
        "array_str",
        "save",
        "savez",
        "savez_compressed",
        "savetxt",
        "load",
        "loadtxt",
        "fromfile",
        "genfromtxt",
        "fromregex",
        "fromstring",
        "frombuffer",
        "datetime_data",
        "datetime_as_string",
        "busday_offset",
        "busday_count",
        "is_busday",
        "base_repr",
        "binary_repr",
        "format_float_positional",
        "typename",
        "shares_memory",
        "format_float_scientific",
        "set_printoptions",
        "array_equiv",
        "min_scalar_type",
        "mintypecode",
        "tobytes",
        "tofile",
        "dump",
        "dumps",
        "frompyfunc",
        "vectorize",
        "nditer",
        "ndenumerate",
        "apply_along_axis",
        "apply_over_axes",
        "piecewise",
        "asarray_chkfinite",
    ]
)
"""NumPy's functions that need values whatever we do: no warning."""

WRITERS: Final = {
    "copyto": 0,
    "fill_diagonal": 0,
    "place": 0,
    "put": 0,
    "put_along_axis": 0,
    "putmask": 0,
    "shuffle": 0,
    "at": 0,
    "partition": 0,
    "setfield": 0,
    "sort": 0,
}
"""NumPy's functions that write into an argument, and which; `out=` is seen by its name."""


def fallback(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """`function(*args, **kwargs)` by NumPy; lazy arrays may be anywhere in nested arguments."""
    metrics.count("fallbacks")
    if name not in HOST_BY_NATURE:
        warn(name)
    _compute(name, args, kwargs)
    start = perf_counter()
    try:
        return _answered(name, function, args, kwargs)
    finally:
        record(Fallback(user_place(), f"numpy.{name}", perf_counter() - start))


def on_host(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The same without counting: data that NumPy keeps anyway."""
    _compute(name, args, kwargs)
    return _answered(name, function, args, kwargs)


def _answered(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """NumPy's answer for arguments that are computed."""
    written: list[tuple[ndarray, np.ndarray]] = []
    known: dict[int, Any] = {}
    writes = WRITERS.get(name)
    real_args = [
        _writable(x, written, known) if i == writes else real(x) for i, x in enumerate(args)
    ]
    real_kwargs = {
        key: _writable(x, written, known) if key == "out" else real(x) for key, x in kwargs.items()
    }
    result = function(*real_args, **real_kwargs)
    for array, buffer in written:
        array.ref.write(host_leaf(buffer.copy()))
    return relazy(result, known)


def _compute(name: str, args: Any, kwargs: Any) -> None:
    """Compute the lazy arrays among the arguments."""
    nodes = [x.node for x in lazies((args, kwargs))]
    if any(node.value is None for node in nodes):
        runtime.sync(*nodes, cause=f"numpy.{name}")


def warn(name: str) -> None:
    """Warn once a call site that a call is not lazy."""
    warn_of_fallback(f"numpy.{name}", "numpy", "NumPy computes it")


def lazies(value: Any) -> list[Lazy]:
    """The lazy arrays in nested tuples, lists and dicts."""
    found: list[Lazy] = []
    stack = [value]
    while stack:
        item = stack.pop()
        if issubclass(type(item), Lazy):
            found.append(item)
        elif type(item) in (tuple, list):
            stack.extend(item)
        elif type(item) is dict:
            stack.extend(item.values())
    return found


def real(value: Any) -> Any:
    """`value` with its lazy arrays replaced by real ones, which are not to be written to."""
    kind = type(value)
    if issubclass(kind, Lazy):
        array = runtime.observe(value.node)
        return array[()] if kind is Scalar else array
    if kind is list or kind is tuple:
        return kind(map(real, value))
    if kind is dict:
        return {key: real(item) for key, item in value.items()}
    return value


def relazy(value: Any, known: dict[int, Any] | None = None) -> Any:
    """`value` with the real arrays in it made lazy where their dtype can be."""
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
    if type(value) in (tuple, list):
        return type(value)(_writable(item, written, known) for item in value)
    if isinstance(value, ndarray) and isinstance(value, Lazy):
        buffer = runtime.fetch(value.node)
        layout = value._shadow
        buffer.flags.writeable = layout is None or layout.flags.writeable
        written.append((value, buffer))
        known[id(buffer)] = value
        return buffer
    return real(value)
