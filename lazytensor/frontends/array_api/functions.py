"""The standard's functions of whole arrays: the core's functions of nodes, lifted to arrays."""

from __future__ import annotations

import inspect
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.interop import offered
from lazytensor.core.lib import (
    distances,
    fourier,
    histograms,
    linear_algebra,
    losses,
    manipulation,
    pooling,
    random,
    ranking,
    resampling,
    statistics,
)
from lazytensor.core.lib.numbers import cast_to
from lazytensor.frontends.array_api.array import Array, lifted, node_of, together, wrap
from lazytensor.frontends.array_api.elementwise import ELEMENTWISE, elementwise


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Array:
    """An array of data, or one that shares what a lazy array of any frontend shows."""
    offer = offered(obj)
    if offer is None:
        return wrap(ops.leaf(np.array(obj, dtype, order="C")))
    wanted = offer.node.type.dtype if dtype is None else np.dtype(dtype)
    if copy or wanted != offer.node.type.dtype:
        return wrap(cast_to(offer.node, wanted))
    return obj if isinstance(obj, Array) else Array(offer.ref)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The elements as another dtype."""
    return asarray(x, dtype=dtype, copy=copy)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    return wrap(ops.broadcast(node_of(fill_value, dtype and np.dtype(dtype)), shape=shape))


def full_like(x: Array, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """An array of one value in the shape of another."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype)


def _constant(value: int) -> Any:
    return lambda shape, *, dtype=None, device=None: full(shape, value, dtype=dtype or np.float64)


def _constant_like(value: int) -> Any:
    return lambda x, /, *, dtype=None, device=None: full_like(x, value, dtype=dtype)


def _by_numpy(real: Any) -> Any:
    """A function that NumPy computes: of Python numbers, or one whose result's shape is data."""

    def function(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device", None)
        made = real(*(np.asarray(x) if isinstance(x, Array) else x for x in args), **kwargs)
        if not isinstance(made, tuple):
            return asarray(made)
        return getattr(made, "_make", tuple)(map(asarray, made))

    function.__wrapped__ = real  # type: ignore[attr-defined]  # its signature
    return function


def _frequencies(real: Any) -> Any:
    return lambda n, /, *, d=1.0, dtype=None, device=None: asarray(real(n, d), dtype=dtype)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element as often as `repeats` says, which is computed now."""
    return wrap(manipulation.repeat(x.node, np.asarray(repeats), axis=axis))


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """The elements of `x1` where the condition holds, else of `x2`."""
    return wrap(ops.select(condition.node, *together(x1, x2)))


def lifted_from(module: Any) -> dict[str, Any]:
    """The public functions of a module of the core, as functions of arrays."""
    own = inspect.getmembers(module, inspect.isfunction)
    named = ((n, f) for n, f in own if f.__module__ == module.__name__ and n[0] != "_")
    return {name.rstrip("_"): lifted(function) for name, function in named}


CONSTANTS: Final = {"empty": 0, "zeros": 0, "ones": 1}
HOSTED: Final = (
    "nonzero unique_all unique_counts unique_inverse unique_values arange eye linspace from_dlpack"
)
LINALG: Final = lifted_from(linear_algebra)
FFT: Final = lifted_from(fourier) | {
    "fftfreq": _frequencies(np.fft.fftfreq), "rfftfreq": _frequencies(np.fft.rfftfreq)
}  # fmt: skip
EXTENSIONS: Final = {
    module.__name__.rpartition(".")[2]: lifted_from(module)
    for module in (distances, histograms, losses, pooling, random, ranking, resampling)
} | {"linalg": LINALG, "fft": FFT}
"""Namespaces: the standard's two, and more of the core's compositions."""
FUNCTIONS: Final[dict[str, Any]] = {
    **{name: elementwise(name, row) for name, row in ELEMENTWISE.items()},
    **lifted_from(manipulation), **lifted_from(statistics),
    **{f.__name__: f for f in (asarray, astype, full, full_like, repeat, where)},
    **{name: _by_numpy(getattr(np, name)) for name in HOSTED.split()},
    **{name: getattr(np, name) for name in ("finfo", "iinfo", "isdtype")},
    **{name: _constant(value) for name, value in CONSTANTS.items()},
    **{f"{name}_like": _constant_like(value) for name, value in CONSTANTS.items()},
    **{name: LINALG[name] for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")},
}  # fmt: skip
