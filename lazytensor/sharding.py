"""Arrays that are split over devices: `shard`, `mark_sharding`, `sharding_of`, `show`."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.buffers.interop import Offer, shown
from lazytensor.core.ir.sharding import Mesh, Sharding, Spec, sharding
from lazytensor.core.trace import splitting

__all__ = [
    "Mesh",
    "Sharding",
    "from_local",
    "mark_sharding",
    "shard",
    "sharding_of",
    "show",
    "to_local",
]


def shard(x: Any, mesh: Mesh, spec: Spec = ()) -> Any:
    """A lazy NumPy array like `x`, split over the devices of a mesh.

    x: an array, or what NumPy makes one of. spec: per axis of `x` the name of the mesh's axis that
    splits it, None for nothing, or several names; `()` puts all of `x` on every device. What is
    computed of it is split too, as XLA's partitioner (Shardy) sees fit. An array that is not
    computed yet never exists as a whole.

    Raises: ValueError for a spec that is not one of the mesh, `ShapeError` for an axis whose length
    the number of parts does not divide.
    """
    from lazytensor.frontends.numpy.arrays.array import wrap
    from lazytensor.frontends.numpy.arrays.conversion import asarray

    given = shown(x)
    node = asarray(x).node if given is None else given.node
    return wrap(splitting.split(node, sharding(mesh, spec, node.type.shape)))


def from_local(local: Any, mesh: Mesh, spec: Spec = ()) -> Any:
    """A lazy NumPy array of which each process gives its own part: one batch of the data of all.

    local: this process's part, an array: what its devices of the mesh have of the whole. So along
    an axis that the spec splits over processes, the whole is longer than the part. The parts of all
    processes have one shape and dtype. In a process alone, the part is the whole.

    Raises: as `shard`; ValueError if this process's devices do not have one block of the whole.
    """
    from lazytensor.frontends.numpy.arrays.array import wrap

    return wrap(splitting.joined(np.array(local), mesh, spec))


def to_local(x: Any) -> np.ndarray:
    """This process's part of `x`, a lazy array of any frontend, as a NumPy array of its own.

    It is what `from_local` is given. Nothing is exchanged. An array that is not split is given
    whole.
    """
    node = _offer(x, "to_local").node
    splitting.of(node)
    return splitting.own_part(node)


def mark_sharding(x: Any, mesh: Mesh, spec: Spec = ()) -> Any:
    """Split `x`, a lazy array of any frontend, in place; the result is `x`. See `shard`.

    Raises: ValueError for a view, which has a part of another array's memory, and for what is
    read-only, as TensorFlow's tensors are.
    """
    offer = _offer(x, "mark_sharding")
    wanted = sharding(mesh, spec, offer.node.type.shape, "mark_sharding")
    try:
        change = offer.change
    except ValueError as error:
        raise ValueError(f"mark_sharding: {error}") from None
    change(splitting.split(offer.node, wanted))
    return x


def sharding_of(x: Any) -> Sharding | None:
    """How `x`, a lazy array of any frontend, is split; None if it is on one device.

    It is computed now if it was not.
    """
    return splitting.of(_offer(x, "sharding_of").node)


def show(x: Any) -> str:
    """Which device has which part of `x`, as text: a line for each part, with its devices."""
    found = sharding_of(x)
    shape = _offer(x, "show").node.type.shape
    if found is None:
        return f"{shape}: one device has all of it"
    lines = [f"{shape} over {found.mesh}, parts of {found.part(shape)}"]
    for region, devices in found.regions(shape).items():
        axes = ", ".join(f"{start}:{stop}" for start, stop in region)
        lines.append(f"  [{axes}]  device{'s' if len(devices) > 1 else ''} {_listed(devices)}")
    return "\n".join(lines)


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _offer(x: Any, name: str) -> Offer:
    found = shown(x)
    if found is None:
        raise TypeError(f"{name}: a lazy array was expected, got {type(x).__name__}")
    return found
