"""Programs of which NumPy has the end, where that is found to be faster."""

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.ir.program import cut
from lazytensor.core.observe import events
from lazytensor.core.policy import TRIALS
from lazytensor.core.runtime import tier_timing
from lazytensor.core.runtime.executor import ON_HOST
from lazytensor.core.runtime.host_partition import may_share
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.settings import settings

N = 1000
ROUNDS = 4 * TRIALS


def chosen_mean(values: np.ndarray, bound: float) -> np.ndarray:
    """The mean of the values below a bound, and their number."""
    x = leaf(values)
    flags = ops.less(x, scalar(bound, x.type.dtype))
    return fetch(ops.chosen_mean(x, flags, axes=(0,)))


@pytest.mark.parametrize("margin", [np.inf, 0.0], ids=["shared", "not shared"])
def test_the_end_is_numpys_if_that_is_faster(
    monkeypatch: pytest.MonkeyPatch, margin: float
) -> None:
    values = np.arange(float(N))
    for bound in (2.0, 5.0):
        chosen_mean(values, bound)  # compiled, as every program of these tests
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(tier_timing, "MARGIN", margin)
    monkeypatch.setattr(tier_timing, "TRYING_SHARE", 1e9)
    monkeypatch.setattr(tier_timing, "QUICKER", 0.0)  # it does not warm up
    for i in range(1, ROUNDS + 1):
        assert chosen_mean(values, float(i)) == (i - 1) / 2
    events.clear()
    assert chosen_mean(values, 3.0) == 1.0
    shared = [event for event in events.events if event.how == ON_HOST]
    assert len(shared) == (1 if margin else 0)
    parts = [entry.program for entry in cache.entries() if entry.program.size == 1]
    assert [len(part.outputs) for part in parts] == [1]


def test_only_an_end_is_shared() -> None:
    x = leaf(np.arange(float(N)))
    mean = ops.chosen_mean(x, ops.less(x, scalar(3.0, x.type.dtype)), axes=(0,))
    for output, shared in ((mean, 1), (ops.exp(mean), 0)):
        program = cut(reachable([output]), [output]).program
        assert len(may_share(program)) == shared
