"""A lazy NumPy: `import lazytensor.numpy as np`.

Names that are not listed below are NumPy's own: constants, dtypes, classes, and functions that
compute their lazy arguments first.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy

from lazytensor.core.device import garbage

with garbage.importing():
    from lazytensor.frontends.numpy import namespace


def __getattr__(name: str) -> Any:
    value = globals()[name] = namespace.public(name)
    return value


def __dir__() -> list[str]:
    return namespace.names()


class Namespace(ModuleType):
    """A module whose dict has every name once somebody asks for the dict: `vars(np)`."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        known = globals()
        for name in vars(numpy):
            if name not in known:
                __getattr__(name)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        # As modules are for cloudpickle, which joblib sends functions with; it knows no others.
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = Namespace
