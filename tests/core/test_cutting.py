"""Where graphs are cut: on observation, by `sync`, by themselves at the same point of a loop."""

import gc
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import lazytensor
from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.source_location import describe
from lazytensor.core.observe import metrics
from lazytensor.core.observe.events import events
from lazytensor.core.policy import (
    ELEMENTS_BOUND,
    PROGRAM_NODES_BOUND,
    SHORT_LOOP_NODES,
    TRIALS,
)
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import AUTOMATIC, fetch, observe, sync
from lazytensor.core.settings import settings
from lazytensor.core.trace.automatic_cut import FUSED_NODES
from tests.core.arrays import Array, array, zeros

N = 1000
STEPS = 1500


def counts(name: str) -> int:
    return int(metrics.snapshot()[name])


# What a cut takes in.


def test_nothing_runs_before_it_is_asked_for() -> None:
    x = array(np.arange(4.0))
    y = (x + 1.0).sin()
    x[0] = 3.0
    assert counts("cuts") == 0
    y.numpy()
    assert counts("cuts") == 1


def test_an_observation_computes_everything_live() -> None:
    x = array(np.arange(4.0))
    y, z = x + 1.0, x * 2.0
    y.numpy()
    assert z.node.value is not None
    z.numpy()
    assert counts("cuts") == counts("compiles") == 1


def test_what_is_dead_is_not_computed() -> None:
    x = array(np.arange(4.0))
    y = x + 1.0
    dead = x.sin()
    del dead
    y.numpy()
    (entry,) = cache.entries()
    assert entry.program.size == 1


def test_sync_computes_the_named_and_the_live() -> None:
    x = array(np.arange(4.0))
    y = x + 1.0
    loose = ops.sin(x.node)
    lazytensor.sync(y)
    assert y.node.value is not None
    assert loose.value is None
    sync(loose)
    assert np.array_equal(fetch(loose), np.sin(np.arange(4.0)))


def test_sync_of_nothing_pending_is_no_cut() -> None:
    x = array(np.arange(4.0))
    sync(x.node)
    lazytensor.sync()
    assert counts("cuts") == 0


def test_observing_twice_is_one_cut() -> None:
    x = array(np.arange(4.0)) + 1.0
    assert observe(x.node) is observe(x.node) or np.array_equal(observe(x.node), observe(x.node))
    assert counts("cuts") == 1


def test_an_observed_array_is_read_only_and_a_fetched_one_is_not() -> None:
    x = array(np.arange(4.0)) + 1.0
    with pytest.raises(ValueError, match="read-only"):
        observe(x.node)[0] = 7.0
    x.numpy()[0] = 7.0
    assert x.numpy()[0] == 1.0


# Loops. In each, the programs of the first call are all there are.


def for_loop(x: Array) -> None:
    for _ in range(STEPS):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5


def while_loop(x: Array) -> None:
    i = 0
    while i < STEPS:
        x[1:-1] = (x[:-2] + x[2:]) * 0.5
        i += 1


def nested_loops(x: Array) -> None:
    for _ in range(STEPS // 10):
        for _ in range(10):
            x[1:-1] = (x[:-2] + x[2:]) * 0.5


def nested_loops_with_work_in_both(x: Array) -> None:
    for _ in range(STEPS // 4):
        x[:] = x * 0.999
        for _ in range(3):
            x[1:-1] = (x[:-2] + x[2:]) * 0.5


def one_step(x: Array) -> None:
    x[1:-1] = (x[:-2] + x[2:]) * 0.5


def loop_that_calls(x: Array) -> None:
    for _ in range(STEPS):
        one_step(x)


def loop_with_a_branch(x: Array) -> None:
    for i in range(STEPS):
        if i % 3 == 0:
            one_step(x)
        else:
            x[:] = x + 0.25


def two_loops(x: Array) -> None:
    for _ in range(STEPS // 2):
        one_step(x)
    for _ in range(STEPS // 2):
        x[:] = x.sin()


def recursion(x: Array, depth: int = 300) -> None:
    if depth:
        for _ in range(5):
            one_step(x)
        recursion(x, depth - 1)


def produced(x: Array) -> Iterator[Array]:
    for _ in range(STEPS):
        yield (x[:-2] + x[2:]) * 0.5


def generator(x: Array) -> None:
    for inner in produced(x):
        x[1:-1] = inner


def comprehension(x: Array) -> None:
    [one_step(x) for _ in range(STEPS)]


def loop_of_temporaries(x: Array) -> None:
    y = x
    for _ in range(STEPS):
        y = y * 0.5 + 1.0
    x[:] = y


def loop_with_a_varying_scalar(x: Array) -> None:
    for i in range(STEPS):
        x[:] = x * (1.0 - 1.0 / (i + 2))


def loop_over_a_moving_element(x: Array) -> None:
    for i in range(STEPS):
        x[i % N] = 1.0
        x[:] = x * 0.5


LOOPS: dict[Callable[[Array], None], int] = {
    for_loop: 4,
    while_loop: 4,
    nested_loops: 4,
    nested_loops_with_work_in_both: 5,
    loop_that_calls: 4,
    loop_with_a_branch: 6,
    two_loops: 6,
    recursion: 4,
    generator: 4,
    comprehension: 4,
    loop_of_temporaries: 4,
    loop_with_a_varying_scalar: 4,
    loop_over_a_moving_element: 4,
}
"""How many programs there are in the first call: some that find the loop, its own, and the rest."""


class Eager:
    """The same programs in NumPy: `x[:]` copies, as a right-hand side that is recorded does."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __getitem__(self, key: slice) -> "Eager":
        return Eager(self.values[key])

    def __setitem__(self, key: slice | int, value: "Eager | float") -> None:
        self.values[key] = value.values.copy() if isinstance(value, Eager) else value

    def __add__(self, other: "Eager | float") -> "Eager":
        return Eager(self.values + (other.values if isinstance(other, Eager) else other))

    def __mul__(self, other: float) -> "Eager":
        return Eager(self.values * other)

    def sin(self) -> "Eager":
        """Its sine."""
        return Eager(np.sin(self.values))


def damped(x: Array) -> None:
    x[:] = x * 0.5  # the head


def change(x: Array) -> Array:
    y = x[1:-1] * 0.5
    for _ in range(12):
        y = (y + y.sin()) * 0.5
    return y


def time_steps(fields: list[Array], steps: int) -> None:
    """A scheme of three steps: the first rounds are shorter, and have loops of their own."""
    past: list[Array] = []
    for _ in range(steps):
        for x in fields:
            damped(x)
        past = [change(fields[0]), *past[:2]]
        for y in past:
            for x in fields:
                x[1:-1] = x[1:-1] + y * 0.01


@pytest.mark.parametrize("size", [20_000, 30_000, 40_000, 50_000, 70_000, 100_000])
def test_a_loop_is_cut_at_its_head_wherever_enough_is_pending(size: int) -> None:
    """Once it is found, and wherever its function is called from."""
    settings.tier = "interpret"
    fields = [array(np.linspace(0, 1, size)) for _ in range(3)]

    def cuts() -> list[str]:
        places = [event.place for event in events if event.cause == AUTOMATIC]
        return [describe(place).rpartition(":")[2] for place in places]

    (lambda: time_steps(fields, 12))()
    found = len(cuts())
    for _ in range(2):
        time_steps(fields, 12)
        fields[0].numpy()
    head = damped.__code__.co_firstlineno + 1
    assert found >= 3
    assert set(cuts()[3:]) == {f"{head} in damped"}
    assert len(cache.entries()) <= 8


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_loop_has_few_programs_and_the_second_call_none(loop: Callable[..., None]) -> None:
    settings.tier = "interpret"
    values = np.linspace(0, 1, N)
    x, expected = array(values), Eager(values.copy())
    loop(x)
    loop(expected)
    cuts = counts("automatic_cuts")
    assert cuts >= 5
    np.testing.assert_allclose(x.numpy(), expected.values, rtol=1e-12)
    assert len(cache.entries()) <= LOOPS[loop], lazytensor.explain()
    loop(x)
    loop(expected)
    lazytensor.sync()
    loop(x)
    loop(expected)
    np.testing.assert_allclose(x.numpy(), expected.values, rtol=1e-12)
    known = len(cache.entries())
    loop(x)
    x.numpy()
    loop(x)
    x.numpy()
    assert len(cache.entries()) <= known + 1, lazytensor.explain()


def test_a_loop_compiles_in_its_first_cuts_only() -> None:
    x = array(np.linspace(0, 1, N))
    for i in range(STEPS * 2):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5
        if i == STEPS:
            compiled = counts("compiles")
    assert counts("automatic_cuts") >= 5
    assert compiled <= 3
    assert counts("compiles") == compiled


def elementwise(x: Array) -> Array:
    return x * 0.5 + 1.0


def shifted(x: Array) -> Array:
    return x[1:] * 0.5 + x[:-1]


def fed(x: Array) -> Array:
    return x * 0.5 + array(np.ones(x.node.type.size))


@pytest.mark.parametrize(
    ("step", "per_cut"), [(elementwise, FUSED_NODES // 4), (shifted, 1), (fed, 1)]
)
def test_a_graph_grows_longer_where_it_becomes_one_loop_over_memory(
    step: Callable[[Array], Array], per_cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not where iterations would compute elements again, or keep each one's data alive."""
    thread.recorder.bound = 0
    settings.tier = "interpret"
    x = array(np.zeros(1000))
    for _ in range(SHORT_LOOP_NODES):
        x = step(x)
    before = counts("automatic_cuts")  # the loop is found
    for _ in range(10 * per_cut):
        x = step(x)
    assert counts("automatic_cuts") - before in (9, 10, 11)


def test_what_is_pending_stays_bounded() -> None:
    x = array(np.zeros(10))
    for i in range(30_000):
        x[:] = x + 1.0
        if i % 1000 == 999:
            assert depth(x.node) <= 4000
    assert x.numpy()[0] == 30_000


def test_a_loop_of_large_arrays_does_not_make_one_of_small_arrays_wait() -> None:
    settings.tier = "interpret"
    x = array(np.zeros(8_000_000))
    for _ in range(28):
        x = ((x[::-1] + 1.0)[::-1] * 0.5)[::-1] - 1.0
    assert thread.recorder.rounds > TRIALS
    x = array(np.zeros(10))
    for _ in range(3000):
        x = x[::-1] + 1.0
        assert depth(x.node) <= 4000


def depth(node: Node) -> int:
    """How many pending nodes there are from a node down its first operands."""
    found = 0
    while node.value is None:
        node, found = node.operands[0], found + 1
    return found


# Straight lines: too large for one program.


def test_a_long_straight_line_is_several_programs() -> None:
    settings.tier = "interpret"
    nodes = 20_000
    x = leaf(np.ones(3))
    for i in range(nodes // 2):
        x = ops.add(ops.multiply(x, ops.scalar(0.5, x.type.dtype)), leaf(np.full(3, float(i))))
    expected = np.ones(3)
    for i in range(nodes // 2):
        expected = expected * 0.5 + i
    assert np.array_equal(fetch(x), expected)
    assert counts("cuts") == -(-nodes // PROGRAM_NODES_BOUND)


def test_every_chunk_gives_what_later_ones_need() -> None:
    """Long-range operands, results of several, and outputs in each chunk."""
    settings.tier = "interpret"
    base = np.random.default_rng(0).normal(size=8)
    far, nodes, expected = leaf(base), [], []
    early = ops.sin(far)
    x, y = far, base
    for i in range(PROGRAM_NODES_BOUND):
        x, order = ops.sort(ops.add(x, early), ops.negate(far), axis=0, keys=1)
        total = y + np.sin(base)
        index = np.argsort(total, kind="stable")
        y = total[index]
        if i % 400 in (0, 1):
            nodes += [x, order]
            expected += [y, -base[index]]
    sync(x, *nodes)
    np.testing.assert_allclose(fetch(x), y, rtol=1e-10)
    for node, values in zip(nodes, expected, strict=True):
        np.testing.assert_allclose(fetch(node), values, rtol=1e-10)
    assert counts("cuts") >= 4


def test_a_chunk_that_is_compiled() -> None:
    x = leaf(np.ones(3))
    for _ in range(PROGRAM_NODES_BOUND + 10):
        x = ops.add(x, ops.scalar(1.0, x.type.dtype))
    assert fetch(x).tolist() == [PROGRAM_NODES_BOUND + 11.0] * 3
    assert counts("compiles") == 2


@pytest.mark.parametrize("direction", ["deep", "wide"])
def test_a_large_graph_needs_no_recursion(direction: str) -> None:
    """A hundred thousand nodes: recorded, computed, and freed."""
    settings.tier = "interpret"
    limit = sys.getrecursionlimit()
    start = leaf(np.zeros(()))
    one = ops.scalar(1.0, start.type.dtype)
    x = start
    for _ in range(100_000):
        x = ops.add(x, one) if direction == "deep" else ops.add(ops.negate(start), x)
    if direction == "deep":
        assert fetch(x) == 100_000
    assert sys.getrecursionlimit() == limit
    y = start
    for _ in range(100_000):
        y = ops.add(y, one)
    del y, x  # pending: the whole chain goes at once
    gc.collect()


def test_a_new_array_starts_pending() -> None:
    x = zeros(5)
    assert x.node.value is None
    assert x.numpy().tolist() == [0.0] * 5
    assert ELEMENTS_BOUND > 5
