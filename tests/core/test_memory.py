"""What recording keeps: small nodes, and nothing that was dropped."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import numpy as np
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core import binaries, ops
from lazytensor.core.ir.op import leaf
from lazytensor.core.runtime import background

NODE_BYTES = 160
"""Bytes of a pending node of two operands, the tuple of these included."""
RECORDS = 1_000_000


@pytest.mark.skipif(binaries.mode != binaries.COMPILED, reason="nodes are larger in Python")
def test_a_pending_node_is_small() -> None:
    x = leaf(np.ones(3))
    node = ops.add(x, x)
    assert sys.getsizeof(node) + sys.getsizeof(node.operands) <= NODE_BYTES
    assert not gc.is_tracked(node), "the collector looks at each node"


def operations() -> None:
    """Operations of three kinds, none of which is computed."""
    x = lnp.ones(8)
    for _ in range(500):
        x = (x + 1.0) * x


def cuts() -> None:
    """Values that are asked for."""
    x = lnp.ones(8)
    for _ in range(20):
        x = x * 0.5
        float(x[0])


def writes() -> None:
    """Writes through views."""
    x = lnp.ones(8)
    for i in range(100):
        x[i % 8] += 1.0


@pytest.mark.parametrize("work", [operations, cuts, writes])
def test_what_is_dropped_leaves_no_objects(
    work: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazytensor.settings, "small", 0)

    def blocks() -> int:
        for _ in range(10):
            work()
        lazytensor.sync()
        background.drain()
        lazytensor.metrics.reset()  # which forgets the log of cuts
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(3):  # programs are known then
        before = blocks()
    for _ in range(6):
        after = blocks()
    assert after - before < 60  # less than one object for each time


def test_a_million_records_leave_memory_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "small", 0)
    x = lnp.ones(8)

    def record(count: int) -> int:
        for _ in range(count):
            x + 1.0
        gc.collect()
        return sys.getallocatedblocks()

    record(RECORDS // 100)
    before = record(RECORDS // 100)
    assert record(RECORDS) - before < 1000
