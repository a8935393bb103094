"""What takes one thread long does not keep the others from cutting."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.observe import metrics
from lazytensor.core.runtime import locking
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings

F64 = np.dtype(np.float64)
LONG, SHORT = 2**24, 2**15
PATIENCE = 60.0


def numbers(size: int) -> Node:
    return leaf(np.random.default_rng(0).random(size))


def ordered() -> Node:
    return ops.sort(numbers(LONG), axis=0)


def chained() -> Node:
    """A program with enough operations to keep XLA busy for a while."""
    x = numbers(SHORT)
    for _ in range(150):
        x = ops.tanh(ops.exp(ops.negate(x)))
    return x


def half_ordered() -> Node:
    """A program of which NumPy computes the end."""
    return ops.sort(ops.sin(numbers(LONG)), axis=0)


WAYS: dict[str, tuple[str, Callable[[], Node]]] = {
    "interpreted": ("interpret", ordered),
    "called back": ("compile", ordered),
    "called back at the end": ("compile", half_ordered),
    "compiled": ("compile", chained),
}


@contextmanager
def elsewhere(task: Callable[[], object], of: Node) -> Iterator[None]:
    """Another thread does it, and is computing `of` as the block begins; it has as that ends."""
    thread = threading.Thread(target=task)
    thread.start()
    patience = time.monotonic() + PATIENCE
    while not is_under_way(of):
        assert time.monotonic() < patience
    yield
    thread.join()


def is_under_way(node: Node) -> bool:
    with locking.lock:
        return locking.are_elsewhere([node])


@pytest.mark.parametrize("way", WAYS)
def test_a_thread_cuts_while_another_one_computes(way: str) -> None:
    settings.tier, make = WAYS[way]
    long = make()
    short = [ops.add(numbers(SHORT), numbers(SHORT)) for _ in range(4)]
    fetch(short[0])  # compiled, where that is the tier
    with elsewhere(lambda: fetch(long), long):
        apart = [fetch(node) is not None and is_under_way(long) for node in short[1:]]
    assert any(apart)  # a busy machine may put this thread off until the other one is done
    assert fetch(long).shape == long.type.shape


@pytest.mark.parametrize("way", WAYS)
def test_who_needs_what_another_thread_computes_waits_for_it(way: str) -> None:
    settings.tier, make = WAYS[way]
    expected, long = fetch(make()), make()
    cache.clear()
    metrics.reset()
    with elsewhere(lambda: fetch(long), long):
        got = fetch(ops.negate(long))
        assert not is_under_way(long)
    np.testing.assert_allclose(got, -expected, rtol=1e-12)
    assert not long.operands  # settled, and by one
    assert metrics.counts["compiles"] <= 2


def test_all_wait_for_a_program_that_one_compiles() -> None:
    """With leaves of their own: nobody needs what the others compute."""
    nodes = [chained() for _ in range(4)]
    threads = [threading.Thread(target=sync, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert metrics.counts["compiles"] == 1
    for node in nodes[1:]:
        assert np.array_equal(fetch(node), fetch(nodes[0]))


def test_slots_that_change_while_a_program_is_compiled_for_others() -> None:
    """An executable that assumes the ones is not run with the others."""

    def scaled(by: float) -> Node:
        return ops.multiply(chained(), scalar(by, F64))

    half, quarter = scaled(0.5), scaled(0.25)
    with elsewhere(lambda: fetch(half), half):
        quarters = fetch(quarter)
    for by in (0.5, 0.25, 0.125):
        np.testing.assert_allclose(fetch(scaled(by)), quarters * (by / 0.25), rtol=1e-12)
    np.testing.assert_allclose(fetch(half), quarters * 2, rtol=1e-12)


def test_numbers_of_one_thread_are_not_taken_by_another_ones_run() -> None:
    """The same program, known to both, whose computing is outside of the lock."""
    settings.tier = "interpret"
    shared, factors, rounds = numbers(SHORT), (2.0, 3.0, 5.0), 500
    expected = fetch(shared)
    wrong: list[float] = []

    def multiply(by: float) -> None:
        for _ in range(rounds):
            made = fetch(ops.multiply(shared, scalar(by, F64)))
            if not np.array_equal(made, expected * by):
                wrong.append(by)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=multiply, args=(by,)) for by in factors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert not wrong
