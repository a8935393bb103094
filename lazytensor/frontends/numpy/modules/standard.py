"""The Python array API standard (data-apis.org): its version, its inspection, its devices."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np

from lazytensor.core.ir.sharding import Mesh, sharding
from lazytensor.core.trace import splitting
from lazytensor.frontends.numpy.arrays.array import Lazy, extends, wrap
from lazytensor.frontends.numpy.arrays.conversion import asarray

VERSION: Final = "2025.12"
VERSIONS: Final = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)
DTYPES: Final = (
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)
MOST_AXES: Final = 64
"""Most axes of an array: NumPy's own bound, as it checks shapes and strides here."""


class Information:
    """The result of `__array_namespace_info__()`: devices, dtypes and capabilities."""

    __module__ = "numpy"

    def capabilities(self) -> dict[str, Any]:
        """Whether shapes may depend on data, and the most axes."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MOST_AXES,
        }

    def default_device(self) -> str:
        """Where new arrays are."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """Where arrays can be."""
        return ("cpu",)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """The dtypes of arrays that are created without one."""
        check_device(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.intp),
            "indexing": np.dtype(np.intp),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The standard's dtypes of a kind, by name. Raises: ValueError for an unknown kind."""
        check_device(device)
        found = {name: np.dtype(name) for name in DTYPES}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if np.isdtype(dtype, kind)}


def check_device(device: Any) -> None:
    """Raise ValueError for any device but the only one."""
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')


def placed(array: Any, device: Any) -> Any:
    """A new array on a device: None or "cpu", or a mesh and a spec, over which it is split.

    Raises: ValueError, ShapeError.
    """
    if device is None or device == "cpu":
        return array
    if type(device) is not tuple:
        check_device(device)  # raises
    if len(device) != 2 or not isinstance(device[0], Mesh):
        raise ValueError(f"device: a mesh and a spec was expected, got {device!r}")
    mesh, spec = device
    node = asarray(array).node
    return wrap(splitting.split(node, sharding(mesh, spec, node.type.shape, "device")))


@extends(Lazy)
class StandardMethods(Lazy):
    """Attributes and methods that the standard requires of arrays."""

    @property
    def device(self) -> str:
        """The device of the array."""
        return "cpu"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array itself on "cpu", a split one on a mesh and a spec. See `placed`."""
        if stream is not None:
            raise ValueError("The stream argument in to_device() is not supported")
        if isinstance(device, str | None) and device != "cpu":
            raise ValueError(f"Unsupported device: {device}.")
        return placed(self, device)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module with the functions of arrays."""
        if api_version is not None and api_version not in VERSIONS:
            raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
        return import_module("lazytensor.numpy")
