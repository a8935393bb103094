"""A call that is a whole cut is run without being recorded, if all is as it was."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import SMALLEST_BUFFER
from lazytensor.core.runtime import replay_call
from lazytensor.core.runtime.executor import Run
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings

VALUES = np.arange(4.0)


@pytest.fixture(autouse=True, params=["interpret", "compile"])
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who runs the programs."""
    monkeypatch.setattr(settings, "tier", request.param)
    return str(request.param)


def _step(x: Node, y: Node) -> tuple[Node, Node, Node]:
    total = ops.add(x, y)
    ok = ops.greater(ops.reduce_sum(total, axes=(0,)), scalar(0.0, F64))
    return total, ops.multiply(x, y), ok


class Steps:
    """A step that is called again and again; `told`: how often it was not recorded."""

    def __init__(self) -> None:
        self.op = Composite("step", _step)
        self.told = 0

    def __call__(self, *operands: Node) -> list[Any]:
        made = replay_call.repeated(self.op, operands, "step")
        if made is not None:
            self.told += 1
            return made
        results = self._recorded(*operands)
        runs: list[Run] = []
        call = replay_call.call(self.op, operands, results)
        cells = [Cell(node) for node in results]
        sync(runs=runs)
        replay_call.learn(call, runs)
        return [cell.node for cell in cells]

    def _recorded(self, *operands: Node) -> list[Node]:
        *results, flag = self.op(*operands)
        ok = ops.guard(flag, error=ValueError, text="refused")
        return [ops.guarded(x, ok) for x in results]


def leaves(size: int = 4) -> tuple[Node, Node]:
    return leaf(np.arange(size, dtype=float)), leaf(np.ones(size))


def test_a_call_met_before_is_not_recorded() -> None:
    step = Steps()
    metrics.reset()
    for i in range(4):
        x, y = leaf(VALUES + i), leaf(VALUES + 1)
        total, product = step(x, y)
        assert np.array_equal(fetch(total), fetch(x) + fetch(y))
        assert np.array_equal(fetch(product), fetch(x) * fetch(y))
    assert step.told == 3
    assert metrics.snapshot()["cuts"] == 4
    assert metrics.snapshot()["compiles"] <= 1


def test_results_are_operands_of_the_next() -> None:
    step = Steps()
    x, y = leaves()
    for _ in range(4):
        x, y = step(x, y)
    a, b = np.arange(4.0), np.ones(4)
    for _ in range(4):
        a, b = a + b, a * b
    assert np.array_equal(fetch(x), a)
    assert np.array_equal(fetch(y), b)
    assert step.told == 3


def test_a_guard_that_is_false_is_raised_as_ever() -> None:
    step = Steps()
    for _ in range(2):
        step(*leaves())
    with pytest.raises(ValueError, match="refused"):
        step(leaf(-VALUES), leaf(-VALUES))
    assert step.told == 1
    for _ in range(2):  # the first one after a failure is recorded
        step(*leaves())
    assert step.told == 2


def _pending_operand(step: Steps) -> None:
    x, y = leaves()
    step(ops.add(x, y), y)


def _pending_elsewhere(step: Steps) -> None:
    x, y = leaves()
    other = Cell(ops.add(x, y))
    step(x, y)
    assert other.node.value is not None


def _cleared(step: Steps) -> None:
    cache.clear()
    step(*leaves())


@pytest.mark.parametrize("change", [_pending_operand, _pending_elsewhere, _cleared])
def test_what_is_not_as_it_was_is_recorded(change: Callable[[Steps], None]) -> None:
    step = Steps()
    for _ in range(2):
        step(*leaves())
    change(step)
    assert step.told == 1


def test_an_operand_given_twice_teaches_nothing() -> None:
    step = Steps()
    x, y = leaves()
    for _ in range(2):
        total, _ = step(y, y)
    assert step.told == 0
    total, _ = step(x, y)
    assert np.array_equal(fetch(total), VALUES + 1)


def test_what_xla_may_overwrite_is_cut_as_ever(tier: str) -> None:
    step = Steps()
    for _ in range(3):
        step(*leaves(SMALLEST_BUFFER))
    assert step.told == (0 if tier == "compile" else 2)
