"""The operations of its framework that a frontend supports."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final


def _numpy() -> set[str]:
    coverage: Any = import_module("lazytensor.frontends.numpy.coverage")
    return {
        name
        for home in coverage.MODULE_NAMES
        for name in coverage.callables(home)
        if coverage.kind(home, name) == coverage.OUTCOME_RECORDED
    }


def _torch() -> set[str]:
    import_module("lazytensor.torch")
    return set(import_module("lazytensor.frontends.torch.dispatch.kernels").KERNELS)


def _tf() -> set[str]:
    import_module("lazytensor.tf")
    table: Any = import_module("lazytensor.frontends.tf.dispatch.table")
    return set(table.HANDLERS) - set(table.NATIVE)


def _array_api() -> set[str]:
    functions: Any = import_module("lazytensor.frontends.array_api.functions")
    return set(functions.FUNCTIONS) | set(functions.LINALG) | set(functions.FFT)


SUPPORTED: Final[dict[str, Callable[[], set[str]]]] = {
    "numpy": _numpy,
    "torch": _torch,
    "tf": _tf,
    "array_api": _array_api,
}
"""Per frontend: the names of the framework's operations that it records.

NumPy's are functions and ufuncs; a name in two modules counts once. Torch's are overloads of ATen's
operators; TensorFlow's are raw ops; the array API's are the standard's functions.
"""
