"""The Python array API standard (data-apis.org): its version, its inspection, its devices."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np

from lazytensor.core.device import device_names
from lazytensor.core.ir.sharding import Mesh, sharding
from lazytensor.core.runtime.sharded import devices_of, may_split
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
FIRST: Final = "cpu"
"""The standard's and NumPy's name of the first device, which is the default one on any platform."""
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
        return FIRST

    def devices(self) -> tuple[str, ...]:
        """Where arrays can be."""
        return (FIRST, *map(device_names.name_of, range(1, device_names.count())))

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """The dtypes of arrays that are created without one."""
        number_of(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.intp),
            "indexing": np.dtype(np.intp),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The standard's dtypes of a kind, by name. Raises: ValueError for an unknown kind."""
        number_of(device)
        found = {name: np.dtype(name) for name in DTYPES}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if np.isdtype(dtype, kind)}


def number_of(device: Any) -> int:
    """The number of a device; "cpu" is the first. Raises: ValueError, NumPy's own or ours."""
    if device is None or device == FIRST:
        return 0
    if not (hasattr(device, "platform") or str(device).startswith(device_names.NAME)):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    return device_names.number_of(device)


def placed(array: Any, device: Any) -> Any:
    """An array on a device: None, where it is; a mesh and a spec, over which it is split; or one
    that `number_of` knows.

    Raises: ValueError, ShapeError.
    """
    if device is None:
        return array
    if type(device) is not tuple:
        number = number_of(device)
        if not number and not isinstance(array, Lazy):
            return array
        node = asarray(array).node
        moved = splitting.moved(node, number)
        return array if moved is node else wrap(moved)
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
        """The device of the array; the first one's name for a split array."""
        devices = devices_of(self.node) if may_split() else ()
        return device_names.name_of(*devices) if len(devices) == 1 else FIRST

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array on a device, or split over a mesh by a spec. See `placed`."""
        if stream is not None:
            raise ValueError("The stream argument in to_device() is not supported")
        is_ours = str(device).startswith(device_names.NAME)
        if isinstance(device, str | None) and device != FIRST and not is_ours:
            raise ValueError(f"Unsupported device: {device}.")
        return placed(self, device)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The module with the functions of arrays."""
        if api_version is not None and api_version not in VERSIONS:
            raise ValueError(f'Version "{api_version}" of the Array API Standard is not supported.')
        return import_module("lazytensor.numpy")
