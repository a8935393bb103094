"""Cuts of one operation: from the second time on no program is made, and nothing else differs."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.op import leaf
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import SMALLEST_BUFFER
from lazytensor.core.runtime import background, cost_model
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import Array, array

TIMES = 4
VALUES = np.arange(4.0)

OPERATIONS: dict[str, tuple[Callable[[Array, Array], Array], np.ndarray]] = {
    "of two": (lambda x, y: x + y, 2 * VALUES + 1),
    "of one, twice": (lambda x, _: x + x, 2 * VALUES),
    "with a number": (lambda x, _: x + 3.0, VALUES + 3),
    "with a scalar": (lambda x, _: Array(Cell(ops.add(x.node, leaf(np.array(5.0))))), VALUES + 5),
}
"""What is the same operation on operands of types that may be the same."""


@pytest.mark.parametrize("order", [*permutations(OPERATIONS)], ids=", ".join)
def test_operations_on_equal_types_are_told_apart(order: tuple[str, ...]) -> None:
    x, y = array(VALUES), array(VALUES + 1)
    for _ in range(TIMES):
        for name in order:
            made, expected = OPERATIONS[name]
            assert np.array_equal(made(x, y).numpy(), expected), name


@pytest.mark.parametrize("tier", ["compile", "auto"])
def test_what_was_met_before_is_not_cut(monkeypatch: pytest.MonkeyPatch, tier: str) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    x, y = array(VALUES), array(VALUES + 1)
    shortest = False
    for _ in range(3000):
        before = metrics.seconds["cutting"]
        (x + y).numpy()
        shortest = before > 0 and metrics.seconds["cutting"] == before
        if shortest:
            break
    assert shortest


def test_what_is_left_to_numpy_is_not_cut_either_and_compiled_when_that_pays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(cost_model, "SECONDS_PER_CALL", 0.0)
    x, y = array(np.arange(5.0)), array(np.ones(5))
    for _ in range(2):
        (x - y).numpy()
    before, counts = metrics.seconds["cutting"], metrics.snapshot()
    (x - y).numpy()
    assert metrics.seconds["cutting"] == before
    assert metrics.snapshot()["interpreted"] == counts["interpreted"] + 1
    for _ in range(20_000):
        assert np.array_equal((x - y).numpy(), np.arange(5.0) - 1)
        background.drain()
        if metrics.snapshot()["compiles"] > counts["compiles"]:
            break
    assert metrics.snapshot()["compiles"] == counts["compiles"] + 1


def test_numbers_may_vary() -> None:
    x = array(VALUES)
    for number in (2.0, 2.0, 2.0, 7.0, 2.0, 9.0, -0.0):
        assert np.array_equal((x * number).numpy(), VALUES * number)
        assert np.array_equal(np.signbit((x * number).numpy()), np.signbit(VALUES * number))


@pytest.mark.parametrize("step", [lambda x, y: x * y, lambda x, y: y * x], ids=["first", "last"])
def test_what_nobody_needs_is_donated_and_nothing_else(step: Callable[..., Array]) -> None:
    x, y = array(np.ones(SMALLEST_BUFFER)), array(np.full(SMALLEST_BUFFER, 2.0))
    for _ in range(12):
        old, before = x.node.value, metrics.seconds["cutting"]
        x = step(x, y)
        sync()
    assert old.is_deleted()
    assert metrics.seconds["cutting"] == before
    kept = x
    for _ in range(TIMES):
        x = step(x, y)
        assert np.array_equal(kept.numpy(), np.full(SMALLEST_BUFFER, 2.0**12))
    assert np.array_equal(x.numpy(), np.full(SMALLEST_BUFFER, 2.0 ** (12 + TIMES)))


def test_a_value_that_the_host_looks_at_often_can_still_be_computed_with() -> None:
    x = array(np.arange(float(SMALLEST_BUFFER)))
    total = [fetch(ops.reduce_sum(x.node, axes=(0,))) for _ in range(TIMES)]
    assert set(map(float, total)) == {SMALLEST_BUFFER * (SMALLEST_BUFFER - 1) / 2}
    x[0] = 5.0
    assert float(fetch(ops.reduce_sum(x.node, axes=(0,)))) == total[0] + 5
    assert x.node.type.dtype == F64
