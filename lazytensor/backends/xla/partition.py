"""Programs and arrays that are split over the devices of a mesh, by XLA's partitioner.

On a CPU the devices are virtual: a client of their own, made when the first mesh needs it, so that
programs of one device run as they do without a mesh. On other platforms they are the session's.
Besides the private names of `client.py` this file uses an executable's `get_output_shardings` and
`hlo_modules`, `HloSharding`, `DeviceAssignment`, an array's `addressable_shards` and a sharding's
`_to_xla_hlo_sharding`; each has a smoke test.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations
from operator import methodcaller
from typing import Any, Final

import numpy as np
from jaxlib import _jax
from jaxlib import xla_client as xla
from jaxlib.mlir import ir

from lazytensor.backends.xla import client, hlo, processes, waiting
from lazytensor.backends.xla.emitter import INSTRUCTION
from lazytensor.backends.xla.forks import watch_forks
from lazytensor.backends.xla.session import cpu_client, jax, session
from lazytensor.core.device.backend import Collective, Within
from lazytensor.core.device.processes import Cluster, Messages, Watch, cluster
from lazytensor.core.errors import ProcessError
from lazytensor.core.ir.sharding import (
    Mesh,
    Names,
    Sharding,
    interned,
    region_of,
    replicated,
    slices_in,
)
from lazytensor.core.ir.types import Shape, TensorType
from lazytensor.core.runtime.attendance import RUNS_UNDER_WAY


class Partitioned(client.Executable):
    """A program that runs on all devices of a mesh."""

    __slots__ = ("_is_inline", "mesh")

    def __init__(self, loaded: Any, mesh: Mesh) -> None:
        super().__init__(loaded)
        self.mesh = mesh
        self._is_inline = _is_inline(loaded)

    def start(self, buffers: Sequence[client.Buffer]) -> Iterator[list[client.Buffer]]:
        """See `client.Executable`. A Ctrl-C may lose the results of a run that is watched here."""
        runs = super().start(buffers)
        return map(waiting.watched_call, (lambda: next(runs),)) if self._is_inline else runs

    def expect(self, types: Sequence[Any]) -> None:
        """Declare the results' types, so that their shardings are known.

        Raises: Unnamed for results that XLA splits in a way that no spec says.
        """
        said = self._loaded.get_output_shardings()  # None for one device
        whole = [xla.HloSharding.replicate()] * len(types)
        found = whole if said is None else map(xla.HloSharding.from_proto, said)
        pairs = list(zip(types, found, strict=True))
        named = [_named(self.mesh, type, hlo) for type, hlo in pairs]
        if None in named:
            unnamed = [at for at, sharding in enumerate(named) if sharding is None]
            raise Unnamed({at: _nearest(self.mesh, *pairs[at]) for at in unnamed})
        self.shardings = tuple(s for s in named if s is not None)
        self.smallest = min(range(len(types)), key=lambda at: types[at].nbytes)
        both = zip(types, self.shardings, strict=True)
        self._handlers = [_handler(type.shape, type.dtype, s) for type, s in both]
        self._wrap = methodcaller("consume_with_handlers", self._handlers)

    def collectives(self) -> list[Collective]:
        """The exchanges between devices that XLA has put into the program."""
        (module,) = self._loaded.hlo_modules()
        lines = map(_COLLECTIVE.match, module.to_string().splitlines())
        return [_collective(line) for line in lines if line is not None]

    def serialize(self) -> bytes:
        """Bytes that `load` takes."""
        payload = _client(self.mesh).serialize_executable(self._loaded)
        return client.checked(payload)


INLINE_FLOPS: Final = 10_000
"""With fewer, XLA:CPU runs a program of one device in the thread that starts it (jaxlib 0.10: below
1,000). That thread would wait for other processes without an end."""


def _is_inline(loaded: Any) -> bool:
    members = cluster()
    if members is None or members.devices > 1:
        return False
    return float(loaded.cost_analysis().get("flops", 0)) < INLINE_FLOPS


_COLLECTIVE: Final = re.compile(
    r"\s*(?:ROOT )?%\S+ = (?P<types>.*?) "
    r"(?P<kind>all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)(-start)?\("
    r"(?P<rest>.*)"
)


def _collective(line: re.Match[str]) -> Collective:
    """What a line of an HLO module says."""
    named = re.findall(rf"{INSTRUCTION}(\d+)", line["rest"])
    return Collective(line["kind"], hlo.nbytes(line["types"]), tuple(sorted(set(map(int, named)))))


class Unnamed(Exception):
    """XLA has split results along parts of a mesh's axis, or unequally.

    nearest: by position, the sharding to ask for instead, which splits such axes not at all.
    """

    def __init__(self, nearest: dict[int, Sharding]) -> None:
        super().__init__(nearest)
        self.nearest = nearest


def compile(module: ir.Module, mesh: Mesh) -> Partitioned:
    """Compile a module whose values have shardings over a mesh."""
    loaded = _client(mesh).compile_and_load(module, _devices(mesh), _options(mesh))
    return Partitioned(loaded, mesh)


def load(data: bytes, mesh: Mesh) -> Partitioned:
    """The executable that was serialised. Raises: client.CorruptExecutable."""
    payload = client.unchecked(data)
    try:
        loaded = _client(mesh).deserialize_executable(payload, _devices(mesh), _options(mesh))
    except (client.ExecutionError, ValueError) as error:
        raise client.CorruptExecutable(f"load: {error}") from error
    return Partitioned(loaded, mesh)


def place(array: np.ndarray, sharding: Sharding, within: Within | None = None) -> Any:
    """A buffer with a part of the array, which nobody will write to, on each device.

    within: where the array lies in the whole, if it is this process's part only. On a CPU a part
    that lies in one piece is not copied.
    """
    parts, devices = [], []
    named = _sharding(sharding)
    shape = array.shape if within is None else within.shape
    for device, region in named.addressable_devices_indices_map(shape).items():
        own = region
        if within is not None:
            own = slices_in(region_of(region, shape), within.start)
        parts.append(np.asarray(array[own], order="C"))
        devices.append(device)
    kind = _array_type(shape, array.dtype)
    return _jax.batched_device_put(kind, named, parts, devices, committed=True, enable_x64=True)


def parts(buffer: Any) -> Iterator[tuple[tuple[slice, ...], Any]]:
    """This process's parts of an array, each once: its region, and a buffer of one device."""
    seen = set()
    for shard in buffer.addressable_shards:
        key = tuple((s.start, s.stop) for s in shard.index)
        if key not in seen:
            seen.add(key)
            yield shard.index, shard.data


def _first(buffer: Any) -> Any:
    return buffer.addressable_shards[0].data


def first_part(buffer: Any) -> Any:
    """The part on the mesh's first device, as a buffer that programs of one device may overwrite.

    On a CPU it is that device's memory, which a program that would overwrite it copies.
    """
    part = _first(buffer)
    if client.platform() == "cpu":
        return client.to_device(client.host_view(part), owned=True)
    return client.copy(part)


def copy_sharded(buffer: Any, sharding: Sharding) -> Any:
    """A second buffer with the same contents."""
    always = _jax.ArrayCopySemantics.ALWAYS_COPY
    places, named = [_devices(sharding.mesh)], [_sharding(sharding)]
    made = _jax.batched_copy_array_to_devices_with_sharding([buffer], places, named, [always])
    return made[0]


_lock: Final = threading.Lock()
_clients: Final[dict[int, Any]] = {}


def _client(mesh: Mesh) -> Any:
    """The client with a mesh's devices."""
    if client.platform() != "cpu":
        return session().client
    if processes.clients:
        return processes.clients[0]
    # As many threads as devices: one for each device of each run that may be under way.
    needed = (max(mesh.devices) + 1) * (RUNS_UNDER_WAY + 1)
    with _lock:
        found = _clients.get(needed)
        if found is None:
            found = _clients[needed] = cpu_client(needed)
            watch_forks(found.live_arrays, (found,))
        return found


@cache
def _all_of(mesh: Mesh) -> tuple[Any, ...]:
    there = _numbered(_client(mesh))
    if max(mesh.devices) >= len(there):
        raise ValueError(f"{mesh}: there are {len(there)} devices")
    found = tuple(there[i] for i in mesh.devices)
    members = cluster()
    if members is not None and members.rank not in {device.process_index for device in found}:
        raise ValueError(f"{mesh}: process {members.rank} has none of its devices")
    return found


def _numbered(there: Any) -> list[Any]:
    """A client's devices in the order of their numbers: those of process 0 first.

    Each process has spare ones, for their threads (see `_client`).
    """
    members = cluster()
    if members is None:
        return list(there.devices())
    of_each: list[list[Any]] = [[] for _ in range(members.size)]
    for device in there.devices():
        of_each[device.process_index].append(device)
    return [device for devices in of_each for device in devices[: members.devices]]


def join(members: Cluster, seconds: float, watch: Watch) -> Messages:
    """Connect with the other processes of a cluster. See `processes.join`."""
    if _clients:
        text = "a mesh is in use already: call it before anything is split"
        raise ProcessError(f"initialize: {text}")
    return processes.join(members, members.devices * (RUNS_UNDER_WAY + 1), seconds, watch)


@cache
def _devices(mesh: Mesh) -> Any:
    return _jax.DeviceList(_all_of(mesh))


@cache
def _sharding(sharding: Sharding) -> Any:
    """jax's object for a sharding."""
    made, mesh = jax().sharding, sharding.mesh
    devices = np.empty(mesh.size, object)
    devices[:] = _all_of(mesh)
    spec = made.PartitionSpec(*(axes or None for axes in sharding.spec))
    return made.NamedSharding(made.Mesh(devices.reshape(mesh.shape), mesh.names), spec)


@cache
def _array_type(shape: Shape, dtype: np.dtype) -> Any:
    return jax().core.ShapedArray(shape, dtype)


def _handler(shape: Shape, dtype: np.dtype, sharding: Sharding) -> Any:
    kind, named = _array_type(shape, dtype), _sharding(sharding)
    try:
        return _jax.array_result_handler(kind, named, committed=True, _skip_checks=True)
    except TypeError:  # newer versions never check, and lack `_skip_checks`
        return _jax.array_result_handler(kind, named, committed=True)


@cache
def _options(mesh: Mesh) -> Any:
    options = session().options()
    options.num_partitions = mesh.size
    numbers = np.array([[device.id for device in _all_of(mesh)]])
    options.device_assignment = xla.DeviceAssignment.create(numbers)  # not known by the devices
    return options


def _named(mesh: Mesh, type: TensorType, hlo: Any) -> Sharding | None:
    """The sharding of ours that XLA's is; None if no spec says it, or if its parts are unequal."""
    if hlo.is_replicated() or not type.ndim:
        return replicated(mesh, type.ndim)
    counts = _counts(type, hlo)
    if any(n % k for n, k in zip(type.shape, counts, strict=True)):
        return None
    for spec in _specs(mesh, counts, frozenset(mesh.names)):
        found = interned(mesh, spec)
        if _sharding(found)._to_xla_hlo_sharding(type.ndim) == hlo:
            return found
    return None


def _nearest(mesh: Mesh, type: TensorType, hlo: Any) -> Sharding:
    """A sharding that splits the axes which XLA splits in a way that a spec says."""
    possible = [
        k if n % k == 0 and next(_specs(mesh, [k], frozenset(mesh.names)), None) else 1
        for n, k in zip(type.shape, _counts(type, hlo), strict=True)
    ]
    spec = next(_specs(mesh, possible, frozenset(mesh.names)), None)
    return replicated(mesh, type.ndim) if spec is None else interned(mesh, spec)


def _counts(type: TensorType, hlo: Any) -> list[int]:
    """Into how many parts XLA splits each axis."""
    return [int(n) for n in hlo.tile_assignment_dimensions()[: type.ndim]]


def _specs(mesh: Mesh, counts: Sequence[int], names: frozenset[str]) -> Iterator[tuple[Names, ...]]:
    """The specs that split each axis of an array into `counts` parts."""
    if not counts:
        yield ()
        return
    for n in range(len(names) + 1):
        for axes in permutations(sorted(names, key=mesh.names.index), n):
            if mesh.parts(axes) == counts[0]:
                for rest in _specs(mesh, counts[1:], names - set(axes)):
                    yield (axes, *rest)
