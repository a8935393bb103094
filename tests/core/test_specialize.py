"""Slots: changing numbers cost at most one compile more, and never change a result."""

import math
import struct
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.dtypes import BF16, C128, F16, F32, F64, S64
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.program import Program, cut
from lazytensor.core.observe import metrics
from lazytensor.core.passes.specialize import SlotHistory, pack
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import array

X = np.linspace(-3, 3, 64)


def compiles() -> float:
    return metrics.snapshot()["compiles"]


def scaled(number: float) -> np.ndarray:
    return fetch(ops.multiply(leaf(X), ops.scalar(number, F64)))


def test_a_number_that_changes_costs_one_compile_more() -> None:
    for i in range(10):
        assert np.array_equal(scaled(0.1 * (i // 3)), X * (0.1 * (i // 3)))
    assert compiles() == 2


def test_a_number_that_does_not_change_costs_none() -> None:
    for _ in range(10):
        scaled(0.1)
    assert compiles() == 1


def test_a_moving_write_costs_one_compile_more() -> None:
    a = array(np.zeros(40))
    for i in range(40):
        a[i] = float(i)
        sync()
    assert np.array_equal(a.numpy(), np.arange(40.0))
    assert compiles() <= 3  # of which one is the observation's


def test_everything_that_varies_costs_two_compiles_more() -> None:
    """A learning rate from the 2nd step on, a counter from the 3rd, a row from the 4th."""
    a = Cell(leaf(np.zeros((20, 3))))
    expected = np.zeros((20, 3))
    row = ops.slice_step
    for i in range(12):
        rate, count, begin = 0.5 if i < 1 else 1 / i, min(i, 2) * 1.0, max(0, i - 4)
        view = a.view(row((begin, 0), (1, 3), (1, 1)))
        change = ops.add(ops.scalar(rate, F64), ops.scalar(count, F64))
        view.write(ops.add(view.node, change))
        expected[begin] += rate + count
        sync()
    assert np.allclose(fetch(a.node), expected, rtol=0, atol=1e-15)
    assert compiles() <= 1 + 2


DTYPES = [F16, BF16, F32, F64, S64, C128]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_numbers_of_one_dtype_cost_two_compiles_more(dtype: np.dtype) -> None:
    for i in range(8):
        x = leaf(np.ones(3, dtype))
        for k in range(5):
            x = ops.add(x, ops.scalar(i if i > k else 0, dtype))
        assert np.all(fetch(x) == sum(i if i > k else 0 for k in range(5)) + 1)
    assert compiles() <= 1 + 2


CONFUSABLE = [0.0, -0.0, math.nan, 1.0, True, 1, 5e-324, math.inf, -math.inf, False, 0]


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("dtype", [F64, C128], ids=str)
def test_numbers_are_never_mistaken_for_one_another(tier: str, dtype: np.dtype) -> None:
    settings.tier = tier
    for number in [*CONFUSABLE, *CONFUSABLE]:
        got = fetch(ops.broadcast(ops.scalar(number, dtype), shape=(2,)))
        assert got.tobytes() == np.full(2, number, dtype).tobytes(), number


def test_nan_payloads_are_kept() -> None:
    (odd,) = struct.unpack("<d", struct.pack("<Q", 0x7FF8_0000_0000_1234))
    for number in (math.nan, odd, math.nan):
        got = fetch(ops.broadcast(ops.scalar(number, F64), shape=(1,)))
        assert got.tobytes() == struct.pack("<d", number)


# Baked, or as data: the same results.

Body = Callable[[np.ndarray, float], np.ndarray]
BODIES: dict[str, tuple[Callable[..., object], Body]] = {
    "x * s + 1e16 - 1e16": (
        lambda x, s: ops.subtract(
            ops.add(ops.multiply(x, s), ops.scalar(1e16, F64)), ops.scalar(1e16, F64)
        ),
        lambda x, s: x * s + 1e16 - 1e16,
    ),
    "x + s - s": (lambda x, s: ops.subtract(ops.add(x, s), s), lambda x, s: x + s - s),
    "x * s / s": (lambda x, s: ops.divide(ops.multiply(x, s), s), lambda x, s: x * s / s),
    "x / s / s": (lambda x, s: ops.divide(ops.divide(x, s), s), lambda x, s: x / s / s),
    "x * s * s": (lambda x, s: ops.multiply(ops.multiply(x, s), s), lambda x, s: x * s * s),
    "s - x": (lambda x, s: ops.subtract(s, x), lambda x, s: s - x),
    "s / x": (lambda x, s: ops.divide(s, x), lambda x, s: s / x),
    "(x + s) + s": (lambda x, s: ops.add(ops.add(x, s), s), lambda x, s: (x + s) + s),
    "x ** s": (lambda x, s: ops.power(ops.abs(x), s), lambda x, s: np.abs(x) ** s),
}
NUMBERS = [3.0, 1e16, 1e-16, 0.1, 7.0, 1e300]
CONTRACTS = {"x * s + 1e16 - 1e16"}  # a multiply and an add may round once
INEXACT = {"x ** s"}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("number", NUMBERS)
def test_baked_and_data_agree_with_numpy(name: str, number: float) -> None:
    record, body = BODIES[name]
    values = np.random.default_rng(1).normal(size=200)
    with np.errstate(all="ignore"):
        expected = body(values, number)

    def run(scalar: float) -> np.ndarray:
        return fetch(record(leaf(values), ops.scalar(scalar, F64)))  # type: ignore[arg-type]

    baked = run(number)
    run(2.0)
    data = run(number)
    assert compiles() == 2
    for got in (baked, data):
        if name in CONTRACTS:
            step = np.spacing(max(1e16, np.abs(values * number).max()))
            np.testing.assert_allclose(got, expected, rtol=0, atol=2 * step)
        elif name in INEXACT:
            np.testing.assert_allclose(got, expected, rtol=1e-14)
        else:
            assert np.array_equal(got, expected, equal_nan=True)


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_division_by_a_number_is_exact(dtype: np.dtype) -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=10_000).astype(dtype)
    for divisor in (3.0, 10.0, 7.0, 0.1, 49.0):
        got = fetch(ops.divide(leaf(values), ops.scalar(divisor, dtype)))
        assert np.array_equal(got, values / dtype.type(divisor)), divisor
        metrics.reset()


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_numbers_in_one_expression_are_rounded_as_numpy_does(dtype: np.dtype) -> None:
    """Ten thousand random divisors: as data, a slot each."""
    rng = np.random.default_rng(3)
    values = rng.normal(size=(10_000,)).astype(dtype)
    divisors = rng.normal(size=20).astype(dtype)
    x = leaf(values)
    nodes = [ops.divide(x, ops.scalar(float(d), dtype)) for d in divisors]
    sync(*nodes)
    for node, divisor in zip(nodes, divisors, strict=True):
        assert np.array_equal(fetch(node), values / divisor)


# The history itself.


def history_of(runs: Iterable[list[float]]) -> tuple[SlotHistory, Program, list[bool]]:
    """Whether each run was allowed by what was known before it."""
    history, allowed = SlotHistory(), []
    for numbers in runs:
        x = leaf(X)
        for number in numbers:
            x = ops.add(x, ops.scalar(number, F64))
        found = cut(reachable([x]), [x])
        packed = pack(found.program, found.slots)
        allowed.append(history.allows(packed))
        if not allowed[-1]:
            history.observe(packed)
    return history, found.program, allowed


def test_what_never_changed_is_baked() -> None:
    history, program, allowed = history_of([[1.0, 2.0, 3.0], [1.0, 5.0, 3.0], [1.0, 6.0, 3.0]])
    assert allowed == [False, False, True]
    assumed = history.assumptions(program)
    assert [float(x[0]) for x in assumed.baked.values()] == [1.0, 3.0]
    assert not assumed.leaders


def test_equal_numbers_that_vary_are_one_operand() -> None:
    history, program, allowed = history_of([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    assert allowed == [False, False, True]
    assert dict(history.assumptions(program).leaders) == {program.slots[1]: program.slots[0]}


def test_equal_numbers_that_part_are_two_operands() -> None:
    history, program, allowed = history_of([[1.0, 1.0], [2.0, 2.0], [3.0, 4.0], [4.0, 3.0]])
    assert allowed == [False, False, False, True]
    assumed = history.assumptions(program)
    assert not assumed.leaders
    assert not assumed.baked


def test_the_second_surprise_ends_all_assumptions() -> None:
    history, program, allowed = history_of([[0.0] * 4, [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 2, 3]])
    assert allowed == [False, False, False, True]
    assert history.assumptions(program) == ({}, {})


@pytest.mark.parametrize("pair", [(0.0, -0.0), (math.nan, -math.nan), (0.0, 5e-324)])
def test_bits_are_compared(pair: tuple[float, float]) -> None:
    assert history_of([[pair[0]], [pair[1]]])[2] == [False, False]
    assert history_of([[pair[0]], [pair[0]]])[2] == [False, True]


NUMBERS = [0.0, -0.0, 2.0, 2.0 + 0 * math.pi, float("nan"), 3.0]


@given(st.lists(st.lists(st.sampled_from(NUMBERS), min_size=3, max_size=3), max_size=12))
def test_operands_are_those_of_the_values_whatever_the_last_ones_were(
    runs: list[list[float]],
) -> None:
    """The same objects may come again at once, later, or after others of equal value."""
    _, program, _ = history_of([[0.0, 0.0, 0.0]])
    history = SlotHistory()
    for values in runs:
        packed = pack(program, values)
        expected = history.data(packed) if history.allows(packed) else None
        found = history.operands(program, values)
        assert (found is None) == (expected is None)
        if found is None or expected is None:
            history.observe(packed)
            continue
        assert [x.tobytes() for x in found] == [x.tobytes() for x in expected]


def test_a_slice_start_never_leads_a_number() -> None:
    """Equal indices that part cost nothing: a vector of starts is an operand of its own anyway."""
    a = Cell(leaf(np.zeros((9, 9))))
    for i, j in [(0, 0), (1, 1), (2, 2), (2, 3), (4, 3), (5, 5)]:
        a.view(ops.slice_step((i, j), (1, 1), (1, 1))).write(leaf(np.ones((1, 1))))
        sync()
    assert compiles() == 2
