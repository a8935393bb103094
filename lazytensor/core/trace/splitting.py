"""Splitting arrays over the devices of a mesh, and how they are split."""

from __future__ import annotations

from math import prod

import numpy as np

from lazytensor.core import ops
from lazytensor.core.device.backend import Within, backend, on_host
from lazytensor.core.device.processes import cluster
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import SLOTS
from lazytensor.core.ir.sharding import (
    Mesh,
    Region,
    Sharding,
    Spec,
    on,
    region_of,
    sharding,
    slices_in,
)
from lazytensor.core.ir.types import Shape, tensor_type
from lazytensor.core.runtime import peers, scheduler
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.sharded import devices_of, is_elsewhere, placed, used


def split(node: Node, wanted: Sharding) -> Node:
    """The node's value, split so. What has a value is moved now, all else when it is computed."""
    used[:] = [wanted.mesh]
    if node.op in SLOTS:
        node = leaf(np.asarray(node.value, node.type.dtype))
    value = node.value
    if value is None and devices_of(node) not in ((), wanted.mesh.devices):
        scheduler.sync(node, cause="sharding")  # a program has the devices of one mesh
        value = node.value
    if value is None or value.__class__ is Failure:
        return ops.sharding_constraint(node, sharding=wanted)
    if value.__class__ is Sharded and value.sharding.mesh.devices == wanted.mesh.devices:
        is_so = value.sharding is wanted
        return node if is_so else ops.sharding_constraint(node, sharding=wanted)
    if is_elsewhere(value):
        value = scheduler.fetch(node)
    if peers.members:
        peers.placed(on_host(value), wanted.mesh)
    return leaf(placed(value, wanted), node.type)


def moved(node: Node, device: int) -> Node:
    """The node's value on one device. What is pending on another one is computed there first."""
    if device:
        return split(node, on(device, node.type.ndim))
    if not devices_of(node):
        return node
    found = of(node)
    if found is not None and found.is_replicated:
        return leaf(backend().first_part(node.value.buffer), node.type)
    return leaf(scheduler.fetch(node), node.type)


def joined(own: np.ndarray, mesh: Mesh, spec: Spec) -> Node:
    """The node of a split array of which each process has a part, this one `own`.

    Raises: as `sharding`; ValueError if this process's devices do not have one block of the whole.
    """
    named = sharding(mesh, spec, (0,) * own.ndim, "from_local")
    counts = tuple(map(mesh.parts, named.spec))
    block = own_block(named, counts)
    if block is None:
        text = f"this process's devices have no single block of an array split by {spec!r}"
        raise ValueError(f"from_local: {text} over {mesh}")
    for axis, (n, (first, last)) in enumerate(zip(own.shape, block, strict=True)):
        if n % (last - first):
            text = f"axis {axis} of a part of shape {own.shape} does not split over"
            raise ShapeError(f"from_local: {text} {last - first} devices of this process")
    sizes = [n // (last - first) for n, (first, last) in zip(own.shape, block, strict=True)]
    whole = tuple(n * count for n, count in zip(sizes, counts, strict=True))
    start = tuple(n * first for n, (first, _) in zip(sizes, block, strict=True))
    return placed_within(own, named, Within(whole, start))


def placed_within(own: np.ndarray, named: Sharding, where: Within) -> Node:
    """The node of a split array of which this process has the block `own`."""
    used[:] = [named.mesh]
    value = Sharded(backend().place(own, named, where), named)
    return leaf(value, tensor_type(own.dtype, where.shape))


def own_block(named: Sharding, shape: Shape) -> Region | None:
    """The block of an array that this process's devices have; None if it is not one block."""
    members, regions = cluster(), named.regions(shape)
    if members is not None:
        first = members.rank * members.devices
        own = range(first, first + members.devices)
        regions = {region: there for region, there in regions.items() if set(own) & set(there)}
    axes = list(zip(*regions, strict=True))
    block = tuple((min(axis)[0], max(axis)[1]) for axis in axes)
    size = sum(prod(stop - start for start, stop in region) for region in regions)
    return block if size == prod(stop - start for start, stop in block) else None


def own_part(node: Node) -> np.ndarray:
    """This process's part of a node's value, in an array of its own.

    Raises: ValueError if it is not one block.
    """
    value = node.value
    if value.__class__ is not Sharded or not is_elsewhere(value):
        return scheduler.fetch(node)
    block = own_block(value.sharding, node.type.shape)
    if block is None:
        text = f"this process's devices have no single block of an array with {value.sharding}"
        raise ValueError(f"to_local: {text}")
    made, there = np.empty([stop - start for start, stop in block], node.type.dtype), backend()
    start = [first for first, _ in block]
    for place, part in there.parts(value.buffer):
        made[slices_in(region_of(place, node.type.shape), start)] = there.host_view(part)
    return made


def of(node: Node) -> Sharding | None:
    """How a node's value, computed now if it is pending, is split; None if it is on one device."""
    if node.value is None or node.value.__class__ is Failure:
        scheduler.sync(node, cause="sharding")
    return node.value.sharding if node.value.__class__ is Sharded else None
