"""Splitting arrays over the devices of a mesh, and how they are split."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.device.backend import backend, on_host
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import SLOTS
from lazytensor.core.ir.sharding import Sharding
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.guards import Failure
from lazytensor.core.runtime.sharded import used


def split(node: Node, sharding: Sharding) -> Node:
    """The node's value, split so. What has a value is moved now, all else when it is computed."""
    used[:] = [sharding.mesh]
    if node.op in SLOTS:
        node = leaf(np.asarray(node.value, node.type.dtype))
    value = node.value
    if value is None or value.__class__ is Failure:
        return ops.sharding_constraint(node, sharding=sharding)
    if value.__class__ is Sharded and value.sharding.mesh.devices == sharding.mesh.devices:
        is_so = value.sharding is sharding
        return node if is_so else ops.sharding_constraint(node, sharding=sharding)
    placed = Sharded(backend().place(on_host(value), sharding), sharding)
    return leaf(placed, node.type)


def of(node: Node) -> Sharding | None:
    """How a node's value, computed now if it is pending, is split; None if it is on one device."""
    if node.value is None or node.value.__class__ is Failure:
        scheduler.sync(node, cause="sharding")
    return node.value.sharding if node.value.__class__ is Sharded else None
