"""Splitting arrays over the devices of a mesh, and how they are split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from lazytensor.core.ir.sharding import Mesh, Region, Sharding, Spec, sharding
from lazytensor.core.ir.types import Shape, tensor_type
from lazytensor.core.runtime import peers, scheduler
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.sharded import is_elsewhere, used


def split(node: Node, wanted: Sharding) -> Node:
    """The node's value, split so. What has a value is moved now, all else when it is computed."""
    used[:] = [wanted.mesh]
    if node.op in SLOTS:
        node = leaf(np.asarray(node.value, node.type.dtype))
    value = node.value
    if value is None or value.__class__ is Failure:
        return ops.sharding_constraint(node, sharding=wanted)
    if value.__class__ is Sharded and value.sharding.mesh.devices == wanted.mesh.devices:
        is_so = value.sharding is wanted
        return node if is_so else ops.sharding_constraint(node, sharding=wanted)
    if is_elsewhere(value):
        value = scheduler.fetch(node)
    host = on_host(value)
    peers.placed(host)
    return leaf(Sharded(backend().place(host, wanted), wanted), node.type)


def joined(own: np.ndarray, mesh: Mesh, spec: Spec) -> Node:
    """The node of a split array of which each process has a part, this one `own`.

    Raises: as `sharding`; ValueError if this process's devices do not have one block of the whole.
    """
    used[:] = [mesh]
    named, where = _within(mesh, spec, own.shape)
    return leaf(
        Sharded(backend().place(own, named, where), named), tensor_type(own.dtype, where.shape)
    )


def _within(mesh: Mesh, spec: Spec, own: Shape) -> tuple[Sharding, Within]:
    """How the whole is split of which this process's part has the shape `own`, and where that is."""
    named = sharding(mesh, spec, (0,) * len(own), "from_local")
    counts = tuple(map(mesh.parts, named.spec))
    block = _block(region for region in _own_regions(named, counts))
    if block is None:
        text = f"this process's devices have no single block of an array split by {spec!r}"
        raise ValueError(f"from_local: {text} over {mesh}")
    for axis, (n, (first, last)) in enumerate(zip(own, block, strict=True)):
        if n % (last - first):
            text = (
                f"axis {axis} of a part of shape {own} does not split over {last - first} devices"
            )
            raise ShapeError(f"from_local: {text} of this process")
    sizes = [n // (last - first) for n, (first, last) in zip(own, block, strict=True)]
    whole = tuple(n * count for n, count in zip(sizes, counts, strict=True))
    start = tuple(n * first for n, (first, _) in zip(sizes, block, strict=True))
    return named, Within(whole, start)


def _own_regions(named: Sharding, shape: Shape) -> Iterator[Region]:
    """The regions of an array that this process's devices have."""
    members = cluster()
    for region, devices in named.regions(shape).items():
        if members is None or any(i // members.devices == members.rank for i in devices):
            yield region


def _block(regions: Iterable[Region]) -> Region | None:
    """The block that regions of one shape, each another, make up; None if they leave gaps."""
    there = list(regions)
    block = tuple(
        (min(start for start, _ in axis), max(stop for _, stop in axis))
        for axis in zip(*there, strict=True)
    )
    size = sum(prod(stop - start for start, stop in region) for region in there)
    return block if size == prod(stop - start for start, stop in block) else None


def own_part(node: Node) -> np.ndarray:
    """This process's part of a node's value, in an array of its own.

    Raises: ValueError if it is not one block.
    """
    value = node.value
    if value.__class__ is not Sharded or not is_elsewhere(value):
        return scheduler.fetch(node)
    block = _block(_own_regions(value.sharding, node.type.shape))
    if block is None:
        text = f"this process's devices have no single block of an array with {value.sharding}"
        raise ValueError(f"to_local: {text}")
    made = np.empty([stop - start for start, stop in block], node.type.dtype)
    for region, part in backend().parts(value.buffer):
        moved = zip(region, node.type.shape, block, strict=True)
        ends = ((s.indices(n)[:2], start) for s, n, (start, _) in moved)
        made[tuple(slice(a - start, b - start) for (a, b), start in ends)] = backend().host_view(
            part
        )
    return made


def of(node: Node) -> Sharding | None:
    """How a node's value, computed now if it is pending, is split; None if it is on one device."""
    if node.value is None or node.value.__class__ is Failure:
        scheduler.sync(node, cause="sharding")
    return node.value.sharding if node.value.__class__ is Sharded else None
