"""Objects that make arrays when indexed (`r_`, `c_`, `mgrid`, `ogrid`), and `fromfunction`."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from lazytensor.frontends.numpy.functions.entry import Function, has_lazy
from lazytensor.frontends.numpy.functions.rebound import copied, space
from lazytensor.frontends.numpy.host.fallback import called
from lazytensor.frontends.numpy.host.small import entered


class Concatenator:
    """NumPy's `r_` or `c_`, for lazy arrays too."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self._made: Any = None

    def __getitem__(self, key: Any) -> Any:
        if not has_lazy(key):
            return entered(called(self._real.__getitem__, (key,), {}))
        return self._bound()[key]

    def _bound(self) -> Any:
        """A copy of NumPy's object that runs over lazy arrays."""
        if self._made is None:
            home = type(self._real).__mro__[1]
            names: dict[str, Any] = {
                name: copied(value, space(home.__module__))
                if isinstance(value, FunctionType)
                else value
                for name, value in vars(home).items()
                if name == "__getitem__"
            }
            self._made = type(type(self._real).__name__, (type(self._real),), names)()
        return self._made

    def __len__(self) -> int:
        return 0


class Grid:
    """NumPy's `mgrid` or `ogrid`."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getitem__(self, key: Any) -> Any:
        return entered(self._real[key])


def fromfunction(
    function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """See numpy.fromfunction."""
    return function(*entered(np.indices(shape, dtype=dtype)), **kwargs)


OBJECTS: dict[str, Any] = {
    "c_": Concatenator(np.c_),
    "mgrid": Grid(np.mgrid),
    "ogrid": Grid(np.ogrid),
    "r_": Concatenator(np.r_),
}

PLAIN: dict[str, Function] = {"fromfunction": fromfunction}
