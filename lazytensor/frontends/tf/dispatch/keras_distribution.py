"""`keras.distribution` on a mesh: Keras has it for JAX only, and asks its backend for these parts.

Keras decides how variables and batches are split. While the thread records, its backend for
TensorFlow is answered here: devices, meshes and layouts are ours, variables are split when they are
made, and batches when they are taken from a data set. A tensor within a `tf.function` that Keras
wants split another way stays as XLA splits it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, Final

import numpy as np

from lazytensor import distributed
from lazytensor.core.device.module_changes import when_imported
from lazytensor.core.device.processes import cluster
from lazytensor.core.ir.sharding import Mesh, sharding
from lazytensor.core.settings import settings
from lazytensor.core.trace.splitting import joined, split
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, node_of
from lazytensor.frontends.tf.tensors.variables import cell_of, hold

KERAS_BACKEND: Final = "keras.src.backend.tensorflow.distribution_lib"
KERAS_VARIABLES: Final = "keras.src.backend.tensorflow.core"
KERAS_DISTRIBUTION: Final = "keras.src.distribution.distribution_lib"
BATCHES: Final = frozenset(["IteratorGetNext", "IteratorGetNextSync"])
"""Raw ops that take a batch from a data set."""


def _current() -> Any:
    """Keras's distribution, if one is set and this thread records."""
    module = sys.modules.get(KERAS_DISTRIBUTION)
    return module.distribution() if module is not None and state.on else None


def _list_devices(device_type: str | None = None) -> list[str]:
    members = cluster()
    count = settings.devices if members is None else members.size * members.devices
    return [f"{device_type or 'cpu'}:{number}" for number in range(count)]


def _get_device_count(device_type: str | None = None) -> int:
    return len(_list_devices(device_type))


def _mesh(mesh: Any) -> Mesh:
    numbers = [int(name.rpartition(":")[2]) for name in np.ravel(mesh.devices)]
    return Mesh(mesh.shape, mesh.axis_names, numbers)


def _layout(layout: Any) -> tuple[Mesh, tuple[Any, ...]]:
    return layout.device_mesh.backend_mesh, layout.axes


def _distribute(tensor: Any, layout: Any) -> Any:
    if type(tensor) is not LazyTensor or state.tracing:
        return tensor
    mesh, spec = layout if isinstance(layout, tuple) else layout.backend_layout
    wanted = sharding(mesh, spec, tensor.node.type.shape, "distribute_tensor")
    return LazyTensor(split(tensor.node, wanted))


def _initialize(addresses: Any, size: Any, rank: Any) -> None:
    address = None if addresses is None else addresses.split(",")[0]
    distributed.initialize(address, size, rank)


ANSWERS: Final[dict[str, Callable[..., Any]]] = {
    "list_devices": _list_devices,
    "get_device_count": _get_device_count,
    "initialize": _initialize,
    "num_processes": distributed.size,
    "process_id": distributed.rank,
    "distribute_tensor": _distribute,
    "distribute_value": _distribute,
    "_to_backend_mesh": _mesh,
    "_to_backend_layout": _layout,
}
"""Per function of Keras's backend: ours."""


def _answer(module: ModuleType) -> None:
    """Answer in place of Keras's backend from now on."""
    for name, ours in ANSWERS.items():
        setattr(module, name, _while_recording(ours, getattr(module, name, None)))


def _split_variables(module: Any) -> None:
    module.Variable._initialize = _splitting(module.Variable._initialize)


def _while_recording(ours: Callable[..., Any], theirs: Callable[..., Any] | None) -> Any:
    @wraps(theirs or ours)
    def answer(*args: Any, **kwargs: Any) -> Any:
        if theirs is None or state.on:
            return ours(*args, **kwargs)
        return theirs(*args, **kwargs)

    return answer


def _splitting(original: Callable[..., None]) -> Callable[..., None]:
    """Keras's initialisation of a variable, after which it is split."""

    @wraps(original)
    def initialize(self: Any, value: Any) -> None:
        original(self, value)
        place = _current()
        if place is None or state.tracing:
            return
        self._shape = tuple(self._value.shape)  # Keras sets it after this
        self._layout = layout = place.get_variable_layout(self)
        handle = self._value.handle
        if (cell := cell_of(handle)) is not None:
            mesh, spec = layout.backend_layout
            wanted = sharding(mesh, spec, cell.node.type.shape, self.path)
            hold(handle, split(cell.node, wanted))

    return initialize


def batch(made: Any) -> Any:
    """What a data set gave, each tensor split as Keras's distribution says."""
    place = _current()
    if place is None:
        return made
    return [_part(place, x) if type(x) is EagerTensor else x for x in made]


def _part(place: Any, x: Any) -> Any:
    node = node_of(x)
    if node is None or not node.type.ndim:
        return x
    shape = node.type.shape
    mesh, spec = place.get_data_layout(shape).backend_layout
    if place.num_processes > 1 and place.auto_shard_dataset:
        return LazyTensor(joined(np.array(x), mesh, spec))
    if shape[0] % mesh.parts(tuple(filter(None, spec[:1]))):
        return x  # the last batch of an epoch may be shorter
    return LazyTensor(split(node, sharding(mesh, spec, shape, "a batch")))


def attach() -> None:
    """Answer Keras once it is imported."""
    when_imported({KERAS_BACKEND: _answer, KERAS_VARIABLES: _split_variables})
