"""When programs are compiled for a device that is not the host, and where values lie."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.device.backend import is_host
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.observe import metrics
from lazytensor.core.runtime import background, cost_model
from lazytensor.core.runtime.scheduler import fetch, observe, sync
from lazytensor.core.settings import settings

pytestmark = pytest.mark.usefixtures("moved")


@pytest.fixture(autouse=True)
def _auto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "auto")


def counts(name: str) -> int:
    return int(metrics.snapshot()[name])


def doubled(x: Node) -> Node:
    return ops.add(ops.multiply(x, x), x)


def on_device(array: np.ndarray) -> Node:
    """A leaf whose value is on the device."""
    settings.tier = "compile"
    made = ops.negate(leaf(-array))
    sync(made)
    settings.tier = "auto"
    assert not is_host(made.value)
    return leaf(made.value, made.type)


def test_a_program_that_comes_back_is_compiled_however_short_it_is() -> None:
    before = counts("compiles")
    for _ in range(3):
        assert fetch(doubled(leaf(np.ones(3)))).tolist() == [2.0] * 3
        background.drain()
    assert counts("compiles") == before + 1


def test_one_that_comes_once_is_the_hosts() -> None:
    before = counts("compiles")
    fetch(doubled(leaf(np.ones(3))))
    background.drain()
    assert counts("compiles") == before


def test_what_would_have_to_be_moved_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    x = on_device(np.ones(1000))
    before = counts("compiles")
    monkeypatch.setattr(cost_model, "SECONDS_PER_BYTE", 1.0)
    sync(made := doubled(x))
    assert counts("compiles") == before + 1
    assert not is_host(made.value)


def test_the_host_is_not_timed_where_there_is_an_executable() -> None:
    x = on_device(np.ones(1000))
    for _ in range(2):
        sync(doubled(x))
        background.drain()
    before = counts("interpreted")
    for _ in range(50):
        sync(doubled(x))
    assert counts("interpreted") == before


def test_a_look_leaves_a_value_where_it_is(moved: Counter[str]) -> None:
    x = on_device(np.arange(1000.0))
    for _ in range(4):
        assert observe(x)[3] == 3.0
        assert not is_host(x.value)
    moved.clear()
    settings.tier = "compile"
    sync(doubled(x))
    assert moved["up"] == 0


def test_a_value_is_fetched_once_for_the_user(moved: Counter[str]) -> None:
    x = on_device(np.arange(10.0))
    moved.clear()
    own = fetch(x)
    own[:] = 0.0
    assert moved["down"] == 1
    assert observe(x).tolist() == list(range(10))
