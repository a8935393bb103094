"""Cuts on a mesh: their identity, their arguments, their results.

Data flow: leaves hold `Sharded` values → their shardings are part of the program and of its key →
the backend compiles it for the mesh, and its partitioner splits everything between → results are
`Sharded` values again. Invariants:

- What has no sharding is whole on every device. It is put there once, and stays.
- A program whose leaves are all whole, and that constrains nothing, runs on the first device.
- A device other than the first is a mesh of one. What has no sharding is put there for each run.
- A program has the devices of one mesh. Several meshes may name these devices. What is pending on
  other devices, or on one, is another program.
- The host runs none of these programs: its results would not be split.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.buffers.cell import SHOWS, Show
from lazytensor.core.device.backend import (
    Executable,
    backend,
    gathered,
    is_apart,
    is_host,
    on_host,
)
from lazytensor.core.device.device_names import name_of
from lazytensor.core.device.padded import Padded
from lazytensor.core.device.processes import cluster
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.errors import ShardingError
from lazytensor.core.ir.graph import NumberedGraph, numbered, reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import SLOTS, Cut, Program, program_of
from lazytensor.core.ir.sharding import Mesh, Sharding, first_axis, replicated
from lazytensor.core.ir.source_location import describe
from lazytensor.core.ops import sharding_constraint
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.run import Run
from lazytensor.core.settings import settings

MARK: Final = b"sharded"
"""It ends what numbers of 32 bits say, as its length is no multiple of four."""
Shardings = tuple[Sharding | None, ...]
used: Final[list[Mesh]] = []
"""The last mesh that something was split over, if there is one: before that nothing is asked."""


def may_split() -> bool:
    """Whether a value may be split."""
    return bool(used) or settings.devices > 1


class Placement(NamedTuple):
    """Where the values of a graph are, and the graph's key with that. spread: see `Program`."""

    key: bytes
    shardings: Shardings = ()
    spread: Mesh | None = None


def placement(graph: NumberedGraph) -> Placement:
    """Where a graph's values are. Large leaves are split here, if the user has asked for that."""
    if not may_split():
        return Placement(graph.key)
    over = _spread(graph.leaves, graph.outputs)
    shardings = _of_leaves(graph.leaves)
    return Placement(_key_with(graph.key, shardings, over), shardings, over)


def traced(outputs: Sequence[Node]) -> Cut:
    """The program that computes the outputs, with the shardings of its inputs."""
    graph = numbered(reachable(outputs), outputs)
    found = placement(graph)
    program = program_of(graph, found.shardings, found.spread)
    return Cut(program, graph.nodes, graph.leaves, graph.slots)


def together(nodes: Sequence[Node], outputs: list[Node]) -> list[Node]:
    """Of the outputs, which need `nodes` first, those that are on the same devices as the first."""
    if len(outputs) < 2 or settings.devices > 1:
        return outputs
    devices = _devices_of_each(nodes)
    first = devices.get(outputs[0], ())
    return [output for output in outputs if devices.get(output, first) == first]


def devices_of(node: Node) -> tuple[int, ...]:
    """The devices that a node's value is bound to, pending or not; empty if there are none."""
    if not may_split():
        return ()
    if node.value is not None:
        return _devices(node)
    return _devices_of_each(reachable([node]))[node]


def _devices_of_each(nodes: Iterable[Node]) -> dict[Node, tuple[int, ...]]:
    """The devices of pending nodes, operands before what needs them."""
    devices: dict[Node, tuple[int, ...]] = {}
    for node in nodes:
        found = [devices.get(x, ()) if x.value is None else _devices(x) for x in node.operands]
        if node.op is sharding_constraint:
            found.append(node.attrs[0].mesh.devices)
        devices[node] = next(filter(None, found), ())
    return devices


def _devices(leaf: Node) -> tuple[int, ...]:
    """The devices that a leaf's value is bound to; empty if there are none."""
    value = leaf.value
    if value.__class__ is not Sharded or not value.sharding.is_bound:
        return ()
    devices: tuple[int, ...] = value.sharding.mesh.devices
    return devices


def seen(node: Node) -> np.ndarray | None:
    """What a pending node shows of a split leaf, in an array of its own; None for others.

    A program for each place and size that is looked at would take far longer.
    """
    shows: list[Show] = []
    while node.value is None and node.op in SHOWS:
        base, *starts = node.operands
        if any(x.op not in SLOTS for x in starts):
            return None
        data = [np.asarray(x.value, x.type.dtype) for x in starts]
        shows.insert(0, SHOWS[node.op](*data, **node.op.attrs_of(node.attrs)))
        node = base
    if node.value.__class__ is not Sharded or is_elsewhere(node.value):
        return None
    return gathered(node.value, lambda whole: reduce(lambda x, show: show(x), shows, whole))


def _of_leaves(leaves: Sequence[Node]) -> Shardings:
    """Per leaf its sharding, None for one that is bound to no device; empty if all are such."""
    values = [leaf.value for leaf in leaves]
    found = tuple(x.sharding if x.__class__ is Sharded else None for x in values)
    bound = tuple(s if s is not None and s.is_bound else None for s in found)
    return bound if any(bound) else ()


def _spread(leaves: Sequence[Node], outputs: Sequence[Node]) -> Mesh | None:
    """The mesh that the user has asked for arrays to be split over by themselves.

    None where no array of a program is large; all large leaves are split here.
    """
    if settings.devices < 2:
        return None
    mesh = _line(settings.devices)
    used[:] = [mesh]
    for leaf in leaves:
        wanted = first_axis(mesh, leaf.type.shape, leaf.type.nbytes)
        if wanted is not None and leaf.value.__class__ not in (Sharded, Failure):
            leaf.value = Sharded(backend().place(on_host(leaf.value), wanted), wanted)
    there = any(leaf.value.__class__ is Sharded for leaf in leaves)
    types = [node.type for node in outputs]
    is_large = any(first_axis(mesh, t.shape, t.nbytes) is not None for t in types)
    return mesh if there or is_large else None


@cache
def _line(devices: int) -> Mesh:
    return Mesh((devices,), ("devices",))


def _key_with(key: bytes, shardings: Shardings, spread: Mesh | None) -> bytes:
    """The key of a graph whose leaves have these shardings, and whose results are spread."""
    if not shardings and spread is None:
        return key
    numbers = [-1 if s is None else s.number for s in shardings]
    return key + MARK + array("i", [0 if spread is None else spread.size, *numbers]).tobytes()


def check(found: Cut) -> None:
    """Raises: ShardingError if an operation has operands on the devices of two meshes."""
    for at, meshes in found.program.homes.items():
        if len(meshes) > 1:
            first, second = map(_said, meshes[:2])
            name, where = found.program.instructions[at][0].name, describe(found.places()[at])
            text = f"an operation ({name}) has operands on {first} and on {second}"
            hint = "move one with lazytensor.shard or to_device"
            raise ShardingError(f"{text}: {hint} (recorded at {where})")


def _said(mesh: Mesh) -> str:
    return name_of(mesh.devices[0]) if mesh.size == 1 else str(mesh)


def arguments(leaves: Sequence[Node], shared: Iterable[bool], mesh: Mesh) -> list[Any]:
    """The leaves' buffers on the mesh, copies of those that the program must not overwrite."""
    buffers = []
    for leaf, is_shared in zip(leaves, shared, strict=True):
        value = leaf.value
        if value.__class__ is not Sharded or value.sharding.mesh.devices != mesh.devices:
            if is_elsewhere(value):
                text = f"an array on {value.sharding.mesh} is used with one on {mesh}"
                raise ShardingError(f"{text}: move it with lazytensor.shard, in every process")
            sharding = replicated(mesh, leaf.type.ndim)
            value = placed(value, sharding)
            if not sharding.is_bound:  # else the leaf's next use would have to be there, too
                leaf.value = value
        if is_shared:
            buffers.append(backend().copy_sharded(value.buffer, value.sharding))
        else:
            buffers.append(value.buffer)
    return buffers


def placed(value: Any, wanted: Sharding) -> Sharded:
    """A leaf's value on a mesh. The host takes no part where one device gives it to another."""
    there, buffer = backend(), value
    if wanted.mesh.size == 1 and is_apart() and not is_host(value):
        if value.__class__ is Sharded and value.sharding.is_replicated:
            buffer = next(there.parts(value.buffer))[1]
        if buffer.__class__ not in (Sharded, Padded):
            return Sharded(there.copy_sharded(buffer, wanted), wanted)
    return Sharded(there.place(on_host(value), wanted), wanted)


def given(run: Run) -> Iterator[np.ndarray]:
    """The values that a run puts whole on every device: other processes must have the same."""
    for leaf in run.found.leaves:
        if leaf.value.__class__ is not Sharded:
            yield on_host(leaf.value)
    yield from run.entry.history.data(run.packed)


def is_elsewhere(value: Any) -> bool:
    """Whether other processes have parts of a leaf's value that this one lacks."""
    if cluster() is None or value.__class__ is not Sharded:
        return False
    return not value.sharding.is_replicated


def slots(data: Iterable[Any], mesh: Mesh) -> list[Any]:
    """Packed slots, on every device."""
    return [backend().place(x, replicated(mesh, x.ndim)) for x in data]


def results(program: Program, executable: Executable, values: list[Any]) -> list[Any]:
    """The results of a run, with their shardings if they are on a mesh.

    Those of one device that are computed of nothing that is bound to it go to the first device.
    """
    if not executable.shardings:
        return values
    made = list(map(Sharded, values, executable.shardings))
    if program.meshes[0].size == 1:
        for at, line in enumerate(program.results):
            if line not in program.homes:
                made[at] = backend().first_part(made[at].buffer)
    return made
