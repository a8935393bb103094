"""Meshes and shardings: over which devices an array is split, and along which of its axes.

The words are those of XLA's partitioner, Shardy. A mesh is an array of devices whose axes have
names. A spec says per axis of an array which axes of the mesh split it; along the mesh's other axes
the parts are copies. Equal shardings are one object, so that programs compare them by identity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count, product
from typing import Final

from lazytensor.core.errors import ShapeError

Names = tuple[str, ...]
Spec = Sequence["str | Sequence[str] | None"]
"""Per axis of an array: nothing, an axis of the mesh, or several, the outermost first."""


Region = tuple[tuple[int, int], ...]
"""A part of an array: per axis from where to where."""


def region_of(place: tuple[slice, ...], shape: tuple[int, ...]) -> Region:
    """The part of an array of this shape that slices take, with steps of one."""
    ends = (s.indices(n)[:2] for s, n in zip(place, shape, strict=True))
    return tuple(ends)


def slices_in(region: Region, start: Sequence[int]) -> tuple[slice, ...]:
    """What takes a region of the whole out of a block of it that begins at `start`."""
    moved = zip(region, start, strict=True)
    return tuple(slice(first - at, stop - at) for (first, stop), at in moved)


class Mesh:
    """Devices in an array whose axes have names: `Mesh((4, 2), ("data", "model"))`.

    shape: the number of devices along each axis. names: a name per axis. devices: the devices'
    numbers, the last axis varying fastest; the first ones by default. Meshes are compared by value.
    Raises: ValueError if these do not fit together.
    """

    __slots__ = ("devices", "names", "shape")

    def __init__(
        self, shape: Sequence[int], names: Sequence[str], devices: Sequence[int] | None = None
    ) -> None:
        self.shape = tuple(map(int, shape))
        self.names = tuple(names)
        size = math.prod(self.shape)
        self.devices = tuple(range(size) if devices is None else map(int, devices))
        if len(self.shape) != len(self.names) or len(set(self.names)) != len(self.names):
            text = "one name per axis was expected, each another"
            raise ValueError(f"Mesh: {text}, got shape {self.shape} and names {self.names}")
        if not self.shape or min(self.shape) < 1:
            raise ValueError(f"Mesh: one or more axes of one or more devices, got {self.shape}")
        if len(self.devices) != size or len(set(self.devices)) != size or min(self.devices) < 0:
            text = f"{size} devices were expected, each another"
            raise ValueError(f"Mesh: {text}, got {self.devices}")

    @property
    def size(self) -> int:
        """The number of devices."""
        return len(self.devices)

    def parts(self, axes: Names) -> int:
        """Into how many parts these axes split an array's axis."""
        return math.prod(self.shape[self.names.index(name)] for name in axes)

    def _key(self) -> tuple[object, ...]:
        return self.shape, self.names, self.devices

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        axes = ", ".join(f"{name}={n}" for name, n in zip(self.names, self.shape, strict=True))
        is_first = self.devices == tuple(range(self.size))
        return f"Mesh({axes})" if is_first else f"Mesh({axes}; devices {self.devices})"


_numbers: Final = count()


class Sharding:
    """A mesh, and per axis of an array the axes of the mesh that split it. Made by `sharding`.

    `number` is its own.
    """

    __slots__ = ("mesh", "number", "spec")

    def __init__(self, mesh: Mesh, spec: tuple[Names, ...]) -> None:
        self.mesh = mesh
        self.spec = spec
        self.number = next(_numbers)

    @property
    def is_replicated(self) -> bool:
        """Whether every device has the whole array."""
        return not any(self.spec)

    @property
    def is_bound(self) -> bool:
        """Whether what is computed of the array runs on the mesh.

        It does where the array is split, or is on one device that is not the first. An array that
        several devices have is taken from any of them.
        """
        return not self.is_replicated or (self.mesh.size == 1 and self.mesh.devices != (0,))

    def part(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of one device's part of an array."""
        parts = map(self.mesh.parts, self.spec)
        return tuple(n // k for n, k in zip(shape, parts, strict=True))

    def regions(self, shape: tuple[int, ...]) -> dict[Region, list[int]]:
        """Per part of an array, from where to where it goes on each axis: the devices with it."""
        part = self.part(shape)
        found: dict[Region, list[int]] = {}
        places = product(*map(range, self.mesh.shape))
        for device, place in zip(self.mesh.devices, places, strict=True):
            at = dict(zip(self.mesh.names, place, strict=True))
            starts = [self._index(axes, at) * n for axes, n in zip(self.spec, part, strict=True)]
            region = tuple((start, start + n) for start, n in zip(starts, part, strict=True))
            found.setdefault(region, []).append(device)
        return found

    def _index(self, axes: Names, at: dict[str, int]) -> int:
        """Which part of an array's axis the device at a place of the mesh has."""
        index = 0
        for name in axes:
            index = index * self.mesh.parts((name,)) + at[name]
        return index

    def __repr__(self) -> str:
        axes = ["+".join(axes) if axes else "-" for axes in self.spec]
        return f"Sharding({self.mesh}: {', '.join(axes)})"

    def __reduce__(self) -> tuple[object, ...]:
        return interned, (self.mesh, self.spec)


_interned: Final[dict[tuple[Mesh, tuple[Names, ...]], Sharding]] = {}


def interned(mesh: Mesh, spec: tuple[Names, ...]) -> Sharding:
    """The one sharding of this mesh and spec."""
    key = mesh, spec
    found = _interned.get(key)
    return _interned.setdefault(key, Sharding(mesh, spec)) if found is None else found


LEAST_SPLIT: Final = 2**20
"""Bytes of an array from which it is split where the user has split nothing."""


def first_axis(mesh: Mesh, shape: tuple[int, ...], nbytes: int) -> Sharding | None:
    """A large array's sharding along its first axis that splits; None if it is to be whole."""
    if nbytes < LEAST_SPLIT:
        return None
    axis = next((axis for axis, n in enumerate(shape) if n and n % mesh.size == 0), None)
    if axis is None:
        return None
    return interned(mesh, tuple(mesh.names if i == axis else () for i in range(len(shape))))


def replicated(mesh: Mesh, ndim: int) -> Sharding:
    """The sharding of an array that every device of a mesh has."""
    return interned(mesh, ((),) * ndim)


def on(device: int, ndim: int) -> Sharding:
    """The sharding of an array that this device has, and no other."""
    return replicated(Mesh((1,), ("device",), (device,)), ndim)


def sharding(mesh: Mesh, spec: Spec, shape: tuple[int, ...], asked_by: str = "shard") -> Sharding:
    """How an array of this shape is split. Axes that `spec` does not reach are not split.

    asked_by: the name of the user's function, for errors. Raises: ValueError for a spec that is not
    one of this mesh; ShapeError if an axis cannot be split into equal parts.
    """
    if not isinstance(mesh, Mesh):
        raise TypeError(f"{asked_by}: a lazytensor.Mesh was expected, got {mesh!r}")
    if len(spec) > len(shape):
        text = f"one entry per axis of an array of shape {shape} was expected at most"
        raise ValueError(f"{asked_by}: {text}, got {spec!r}")
    full = tuple(map(_names, spec)) + ((),) * (len(shape) - len(spec))
    used = [name for axes in full for name in axes]
    for name in used:
        if name not in mesh.names:
            raise ValueError(f"{asked_by}: {mesh} has no axis {name!r}")
        if used.count(name) > 1:
            raise ValueError(f"{asked_by}: {name!r} can split one axis only, got {spec!r}")
    for axis, (n, axes) in enumerate(zip(shape, full, strict=True)):
        parts = mesh.parts(axes)
        if n % parts:
            text = f"axis {axis} of an array of shape {shape} does not split into {parts} parts"
            hint = f"pad it to {n + -n % parts} elements, or split another axis"
            raise ShapeError(f"{asked_by}: {text} ({'+'.join(axes)}); {hint}")
    return interned(mesh, full)


def _names(entry: str | Sequence[str] | None) -> Names:
    if entry is None:
        return ()
    return (entry,) if isinstance(entry, str) else tuple(entry)
