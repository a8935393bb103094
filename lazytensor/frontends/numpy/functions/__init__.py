"""NumPy's functions over lazy arrays, by name.

Functions in `LAZY` record. Functions in `HOST` need values by their nature. A function in neither
table falls back to NumPy, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

import numpy as np

from lazytensor.frontends.numpy.functions import (
    arrays,
    broadcasting,
    creation,
    descending,
    diagonals,
    differences,
    einsum,
    elementwise,
    generators,
    histograms,
    iteration,
    joining,
    making,
    metadata,
    nan,
    numpys,
    ordering,
    packing,
    padding,
    products,
    quantiles,
    reductions,
    selecting,
    sets,
    spacing,
    statistics,
    views,
    writing,
)
from lazytensor.frontends.numpy.functions.entry import Function, dressed, lazily
from lazytensor.frontends.numpy.host import functions
from lazytensor.frontends.numpy.laziness import line

_MODULES: Final = (
    arrays,
    broadcasting,
    creation,
    diagonals,
    differences,
    einsum,
    elementwise,
    histograms,
    joining,
    metadata,
    nan,
    ordering,
    packing,
    padding,
    products,
    quantiles,
    reductions,
    selecting,
    spacing,
    statistics,
    views,
    writing,
)

_MAKERS: Final = {
    arrays: making.of_data,
    creation: making.of_shape,
    diagonals: making.of_numbers,
    generators: making.of_function,
}

OF_ARRAYS: Final[dict[str, Function]] = {
    **{
        name: lazily(name, function, getattr(np, name))
        for module in _MODULES
        for name, function in module.LAZY.items()
        if hasattr(np, name)
    },
    **{name: numpys.LAZY[name] for name in numpys.NAMES.split() if name in numpys.LAZY},
}
"""Functions that record. For small real arrays NumPy's are called at once."""

LAZY: Final[dict[str, Function]] = {
    **OF_ARRAYS,
    **{
        name: dressed(making.placing(function), getattr(np, name), line(name))
        for name, function in OF_ARRAYS.items()
        if name in making.PLACED
    },
    **numpys.LAZY,
    **{
        name: dressed(made_of(function, getattr(np, name)), getattr(np, name), line(name))
        for module, made_of in _MAKERS.items()
        for name, function in module.PLAIN.items()
    },
}
"""Functions that record."""

HOST: Final[dict[str, Function]] = {**functions.HOST, **sets.HOST}
"""Functions that compute their arguments without a warning."""

ABOUT: Final[dict[str, Any]] = functions.OWN
"""Functions that take no array's values. They are NumPy's own."""

FUNCTIONS: Final[dict[str, Any]] = {
    **ABOUT,
    **HOST,
    **LAZY,
    **descending.extended(LAZY),
    **generators.OBJECTS,
    **iteration.OBJECTS,
}
"""Every public name of this package."""


class Modules(Mapping[str, ModuleType]):
    """Modules of this package by name, imported when one is asked for."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getitem__(self, name: str) -> ModuleType:
        if name not in self._names:
            raise KeyError(name)
        return import_module(f"lazytensor.frontends.numpy.modules.{name}")

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


MODULES: Final[Mapping[str, ModuleType]] = Modules(
    "ctypeslib", "fft", "lib", "linalg", "random", "rec", "testing"
)
"""By public module of NumPy: its lazy counterpart."""
