"""NumPy's own Python code, run over lazy arrays.

Much of NumPy is Python code over a small surface in C: `np.gradient` is slices, differences and
quotients. Such a function is taken from the installed NumPy and run with its global names bound to
lazy counterparts. So semantics, keywords and errors are those of that release, and only the C
surface has to be written here.

Ufuncs and public functions need no binding, as they pass lazy arguments on by themselves
(`__array_ufunc__`, `__array_function__`). Three kinds are bound: conversions to real arrays
(`asarray`), the C surface, and private functions of NumPy that use either. Creation without data
(`zeros`, `arange`) stays NumPy's by default: it is mostly bookkeeping with shapes and axes, which
is not worth recording.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from lazytensor.core.ir.library_files import hide
from lazytensor.frontends.numpy.functions.entry import Function, lazily
from lazytensor.frontends.numpy.host.small import entered
from lazytensor.frontends.numpy.interop import foreign
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly

SURFACE: Final[dict[str, Any]] = {}
"""By name in NumPy's modules: its counterpart in every function."""

CREATION: Final[dict[str, Any]] = {}
"""Counterparts of `empty` and the like, for functions that write lazy arrays into a new one."""

Names = dict[str, Any]
_spaces: Final[dict[tuple[str, tuple[str, ...]], Names]] = {}
_PORTED: Final = (
    "numpy._core.einsumfunc",
    "numpy._core.fromnumeric",
    "numpy._core.function_base",
    "numpy._core.numeric",
    "numpy._core.shape_base",
    "numpy.fft._",
    "numpy.lib._",
    "numpy.linalg._linalg",
)
"""Modules whose functions are run over lazy arrays. All others are left alone."""


def rebound(name: str, *creation: str, of: Any = np, **local: Any) -> Function:
    """NumPy's function `name` over lazy arrays.

    `creation`: names of creators that make lazy arrays in it, unlike by default. `local`: names
    that are bound in this function only.
    """
    real = getattr(of, name)
    made: list[Function] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        if foreign.has_functions((*args, *kwargs.values())):
            raise HostOnly(f"{name}: an argument's class computes it")
        if not made:
            function = implementation(real)
            home = function.__globals__["__name__"]
            made.append(copied(function, {**space(home, creation), **local}))
        return entered(made[0](*args, **kwargs), args, kwargs)

    return lazily(name, call, real)


def private(module: str, name: str, *creation: str) -> Function:
    """A private function of a module of NumPy, bound."""
    found: Function = space(module, creation)[name]
    return found


def implementation(real: Any) -> FunctionType:
    """The Python function behind a public one."""
    function = getattr(real, "_implementation", real)
    if not isinstance(function, FunctionType):
        raise TypeError(f"{real} is not written in Python in NumPy {np.__version__}")
    return function


def space(module: str, creation: tuple[str, ...] = ()) -> Names:
    """The names of a module of NumPy, bound."""
    found = _spaces.get((module, creation))
    if found is None:
        found = _spaces[module, creation] = {}
        for name, value in vars(sys.modules[module]).items():
            found[name] = _counterpart(value, name, creation)
    return found


class Namespace:
    """A module of NumPy with its names bound."""

    def __init__(self, module: ModuleType, creation: tuple[str, ...]) -> None:
        self._module = module
        self._creation = creation

    def __getattr__(self, name: str) -> Any:
        value = _counterpart(getattr(self._module, name), name, self._creation)
        setattr(self, name, value)
        return value


def _counterpart(value: Any, name: str, creation: tuple[str, ...]) -> Any:
    """The counterpart of `value`, which is called `name` in a module of NumPy."""
    if name in SURFACE:
        return SURFACE[name]
    if name in creation:
        return CREATION[name]
    if isinstance(value, ModuleType):
        return Namespace(value, creation) if value.__name__.startswith("numpy") else value
    if isinstance(value, FunctionType):
        home = value.__globals__.get("__name__", "")
        return copied(value, space(home, creation)) if home.startswith(_PORTED) else value
    if isinstance(value, dict) and not name.startswith("__"):
        return {key: _counterpart(item, "", creation) for key, item in value.items()}
    return value


def copied(function: FunctionType, names: Names) -> FunctionType:
    """The function with other global names."""
    hide(function.__code__.co_filename)
    copy = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
