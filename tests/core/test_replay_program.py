"""Programs that were run before go the short way, and nothing else differs."""

import math
from collections.abc import Callable
from contextlib import nullcontext
from itertools import permutations

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.interpreter.interpreter import REUSE_BYTES
from lazytensor.core.interpreter.ready_program import ReadyProgram
from lazytensor.core.ir.dtypes import F64
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.ir.program import cut
from lazytensor.core.observe import metrics
from lazytensor.core.passes.donation import SMALLEST_BUFFER
from lazytensor.core.runtime import background, cost_model, executor
from lazytensor.core.runtime.run import Run
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import Array, array

TIMES = 4
VALUES = np.arange(4.0)

PROGRAMS: dict[str, tuple[Callable[[Array, Array], Array], np.ndarray]] = {
    "of two": (lambda x, y: x + y, 2 * VALUES + 1),
    "of one, twice": (lambda x, _: x + x, 2 * VALUES),
    "with a number": (lambda x, _: x + 3.0, VALUES + 3),
    "with a scalar": (lambda x, _: Array(Cell(ops.add(x.node, leaf(np.array(5.0))))), VALUES + 5),
    "two of three": (lambda x, y: (x + y) + y, 3 * VALUES + 2),
    "two of two": (lambda x, y: (x + y) + x, 3 * VALUES + 1),
}
"""What is the same operations on operands of types that may be the same."""


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the programs that went the long way."""
    sizes: list[int] = []
    run = executor.run

    def noted(given: Run) -> None:
        sizes.append(given.entry.size)
        run(given)

    monkeypatch.setattr(executor, "run", noted)
    return sizes


def _is_short(long_ways: list[int], run: Callable[[], object]) -> bool:
    before = len(long_ways)
    run()
    return len(long_ways) == before


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("order", [*permutations(PROGRAMS, 3)], ids=", ".join)
def test_programs_on_equal_types_are_told_apart(
    order: tuple[str, ...], tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    x, y = array(VALUES), array(VALUES + 1)
    for _ in range(TIMES):
        for name in order:
            made, expected = PROGRAMS[name]
            assert np.array_equal(made(x, y).numpy(), expected), name


@pytest.mark.parametrize("tier", ["compile", "auto", "interpret"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_met_before_goes_the_short_way(
    name: str, tier: str, monkeypatch: pytest.MonkeyPatch, long_ways: list[int]
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    x, y = array(VALUES), array(VALUES + 1)
    program = PROGRAMS[name][0]
    assert any(_is_short(long_ways, program(x, y).numpy) for _ in range(3000))


def test_several_results_go_the_short_way(
    monkeypatch: pytest.MonkeyPatch, long_ways: list[int]
) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    x = array(VALUES)
    for number in (2.0, 3.0, 4.0):
        y = x * number
        z = y + 1.0
        is_short = _is_short(long_ways, sync)
        assert np.array_equal(y.numpy(), VALUES * number)
        assert np.array_equal(z.numpy(), VALUES * number + 1)
    assert is_short


@pytest.mark.parametrize("is_shared", [False, True])
def test_the_host_takes_memory_that_is_nobody_elses(
    monkeypatch: pytest.MonkeyPatch, long_ways: list[int], is_shared: bool
) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    ones = array(np.ones(REUSE_BYTES))
    for _ in range(3):
        x = ones + 0.0
        sync()
        kept = x.node.value if is_shared else None
        place = x.node.value.ctypes.data
        x.holder.write((x * 2.0).node)
        is_short = _is_short(long_ways, sync)
        assert (x.node.value.ctypes.data == place) is not is_shared
        assert kept is None or (kept == 1.0).all()
    assert is_short


def test_a_false_guard_goes_the_long_way_until_it_is_true_again(
    monkeypatch: pytest.MonkeyPatch, long_ways: list[int]
) -> None:
    monkeypatch.setattr(settings, "tier", "interpret")
    x = array(VALUES)
    shorts = []
    for bound in (9.0, 9.0, 2.0, 2.0, 9.0, 9.0):
        every = ops.reduce_and(ops.less(x.node, ops.scalar(bound, F64)), axes=(0,))
        made = ops.guarded(x.node, ops.guard(every, error=ValueError, text="too large"))
        is_true = bound > VALUES.max()
        with nullcontext() if is_true else pytest.raises(ValueError, match="too large"):
            shorts.append(_is_short(long_ways, lambda made=made: fetch(made)))
    assert shorts == [False, True, False, True]


def test_what_is_left_to_numpy_goes_the_short_way_and_is_compiled_when_that_pays(
    monkeypatch: pytest.MonkeyPatch, long_ways: list[int]
) -> None:
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(cost_model, "SECONDS_PER_CALL", 0.0)
    x, y = array(np.arange(5.0)), array(np.ones(5))
    for _ in range(2):
        (x - y).numpy()
    counts = metrics.snapshot()
    assert _is_short(long_ways, (x - y).numpy)
    assert metrics.snapshot()["interpreted"] == counts["interpreted"] + 1
    # All the runs below may cost the host less than its share of a compile.
    monkeypatch.setattr(cost_model, "COMPILING_SHARE", 0.01)
    for _ in range(20_000):
        assert np.array_equal((x - y).numpy(), np.arange(5.0) - 1)
        background.drain()
        if metrics.snapshot()["compiles"] > counts["compiles"]:
            break
    assert metrics.snapshot()["compiles"] == counts["compiles"] + 1


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_numbers_may_vary(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    x = array(VALUES)
    for number in (2.0, 2.0, 2.0, 7.0, 2.0, 9.0, 0.0, -0.0, 0.0, math.nan, math.nan, 1.0):
        made = (x * number + 1.0 * number).numpy()
        expected = VALUES * number + 1.0 * number
        assert np.array_equal(made, expected, equal_nan=True)
        assert np.array_equal(np.signbit(made), np.signbit(expected))


@pytest.mark.parametrize("tier", ["interpret", "compile"])
def test_starts_of_slices_may_vary(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    x = array(np.arange(20.0))
    for start in (0, 1, 1, 5, 0, 15):
        made = (x[start : start + 4] + 1.0).numpy()
        assert np.array_equal(made, np.arange(start, start + 4) + 1.0)


def test_results_of_the_short_way_can_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that shows an operand, and one that is a slot's number, are nobody else's."""
    monkeypatch.setattr(settings, "tier", "interpret")
    x = array(VALUES)
    for _ in range(TIMES):
        same = Array(Cell(ops.reverse(ops.reverse(x.node, axes=(0,)), axes=(0,))))
        number = Array(Cell(ops.broadcast(ops.scalar(3.0, F64), shape=(2,))))
        sync()
        same[0] = 7.0
        number[0] = 8.0
        assert np.array_equal(same.numpy(), [7.0, 1.0, 2.0, 3.0])
        assert np.array_equal(number.numpy(), [8.0, 3.0])
    assert np.array_equal(x.numpy(), VALUES)


@pytest.mark.parametrize("step", [lambda x, y: x * y, lambda x, y: y * x], ids=["first", "last"])
def test_what_nobody_needs_is_donated_and_nothing_else(
    step: Callable[..., Array], long_ways: list[int]
) -> None:
    x, y = array(np.ones(SMALLEST_BUFFER)), array(np.full(SMALLEST_BUFFER, 2.0))
    for _ in range(12):
        old = x.node.value
        x = step(x, y)
        is_short = _is_short(long_ways, sync)
    assert old.is_deleted()
    assert is_short
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


def test_a_run_has_the_numbers_that_were_taken_for_it() -> None:
    """Another thread may take others before the first one computes."""
    x = leaf(VALUES)
    made = ops.multiply(x, scalar(2.0, F64))
    small = ReadyProgram(cut(reachable([made]), [made]).program)
    assert small.take([2.0])
    assert not small.take([2.0])
    first = small.values_of([VALUES])
    assert small.take([3.0])
    assert np.array_equal(small.run(first)[0], VALUES * 2)
    assert np.array_equal(small.run(small.values_of([VALUES]))[0], VALUES * 3)
    assert small.take([0.0])
    assert small.take([-0.0])
