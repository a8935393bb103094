"""A scan is the loop that Python would run, by the interpreter and by XLA, either way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ops.scanning import Nodes, scan
from lazytensor.core.runtime import scheduler
from lazytensor.core.settings import settings

RNG = np.random.default_rng(0)
LINES, FLAGS = RNG.standard_normal((5, 3)), RNG.random(5) < 0.5
START, SCALE = np.zeros(3), np.array([0.5, -1.0, 2.0])


def body(time: Node, given: Nodes, state: Nodes, shared: Nodes) -> tuple[Nodes, Nodes]:
    (line, flag), (total,), (scale,) = given, state, shared
    new = ops.select(flag, ops.add(total, ops.multiply(line, scale)), total)
    return [new], [new, ops.reshape(time, shape=(1,))]


def by_hand(backwards: bool) -> Sequence[np.ndarray]:
    total, tables = START, [np.zeros((5, 3)), np.zeros((5, 1), np.int64)]
    for time in range(5)[:: -1 if backwards else 1]:
        if FLAGS[time]:
            total = total + LINES[time] * SCALE
        tables[0][time], tables[1][time] = total, time
    return total, *tables


@pytest.mark.parametrize("tier", ["compile", "interpret"])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_scan_is_a_loop(tier: str, backwards: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    given, state, shared = [LINES, FLAGS], [START], [SCALE]
    leaves = [[ops.leaf(x) for x in xs] for xs in (given, state, shared)]
    made = scan("totals", body, *leaves, backwards=backwards)
    found = [scheduler.observe(x) for x in (*made.state, *made.tables)]
    for value, wanted in zip(found, by_hand(backwards), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-15)  # products contract
