"""Threads: recording and cutting at the same time, over arrays that they share."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.recording import thread as recording
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.observe import metrics
from lazytensor.core.policy import ELEMENTS_BOUND, PENDING_NODES_BOUND
from lazytensor.core.runtime.scheduler import fetch, sync
from lazytensor.core.settings import settings
from tests.core.arrays import Array, array, zeros

WORKERS = 8
N = 4096


@pytest.fixture(params=["interpret", "compile", "auto"])
def tier(request: pytest.FixtureRequest) -> str:
    settings.tier = request.param
    return str(request.param)


def together(task: Callable[[int], object], workers: int = WORKERS) -> list[object]:
    """What each of the threads returns, all let go at the same moment."""
    barrier = threading.Barrier(workers)

    def begin(number: int) -> object:
        barrier.wait()
        return task(number)

    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(begin, range(workers)))


@pytest.mark.usefixtures("tier")
def test_each_thread_gets_its_own_results() -> None:
    shared = array(np.arange(float(N)))
    pending = shared * 2.0  # everybody's, and nobody has computed it

    def work(number: int) -> np.ndarray:
        x = array(np.full(N, float(number)))
        for i in range(12):
            x[1:-1] = (x[:-2] + x[2:]) * 0.5 + shared[1:-1]
            if i % (number + 2) == 0:
                sync()
        return (x + pending).numpy()

    results = together(work)
    for number, got in enumerate(results):
        x = np.full(N, float(number))
        for _ in range(12):
            x[1:-1] = (x[:-2] + x[2:]) * 0.5 + np.arange(float(N))[1:-1]
        assert np.array_equal(got, x + np.arange(float(N)) * 2.0)
    assert np.array_equal(shared.numpy(), np.arange(float(N)))


@pytest.mark.usefixtures("tier")
def test_an_array_of_one_thread_is_observed_in_another() -> None:
    made: list[Array] = []

    def record() -> None:
        x = array(np.arange(float(N)))
        made.append(x * 2.0 + 1.0)
        made.append(made[0].sin())

    thread = threading.Thread(target=record)
    thread.start()
    thread.join()
    assert not recording.recorder.cells
    x, y = made
    assert np.array_equal(x.numpy(), np.arange(float(N)) * 2 + 1)
    np.testing.assert_allclose(y.numpy(), np.sin(np.arange(float(N)) * 2 + 1), atol=1e-12)


def test_all_threads_observe_one_array() -> None:
    x = array(np.arange(float(N)))
    y = x.sin() + x
    results = together(lambda _: y.numpy())
    assert all(np.array_equal(got, results[0]) for got in results)
    assert metrics.snapshot()["cuts"] == 1


@pytest.mark.usefixtures("tier")
def test_reads_of_a_shared_array_while_another_thread_donates() -> None:
    """Views of one cell are remembered for all threads; none may lose its buffer."""
    shared = array(np.arange(float(N)))
    stop = threading.Event()

    def donate() -> None:
        while not stop.is_set():
            x = shared[1:] * 1.0
            sync()
            x[:] = shared[1:] + x
            sync()

    def read(_: int) -> bool:
        for _ in range(60):
            got = (shared[1:] - shared[:-1]).numpy()
            if not np.array_equal(got, np.ones(N - 1)):
                return False
        return True

    donor = threading.Thread(target=donate)
    donor.start()
    try:
        assert all(together(read, 4))
    finally:
        stop.set()
        donor.join()


def test_threads_know_only_their_own_pending_cells() -> None:
    mine = zeros(3)

    def elsewhere() -> list[bool]:
        theirs = zeros(4)
        sync()
        return [mine.node.value is None, theirs.node.value is None]

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == [True, False]
    sync()
    assert mine.node.value is not None


@pytest.mark.usefixtures("tier")
def test_a_thread_cuts_what_it_wrote_to_arrays_that_others_have_pending() -> None:
    shared = zeros(N) + 1.0  # which this thread will not compute

    def elsewhere(writes: int) -> bool:
        for _ in range(writes):
            shared[1:-1] = shared[1:-1] + 1.0
        if writes == 1:
            sync()
        return shared.node.value is None

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere, 1).result() is False
        metrics.reset()
        pool.submit(elsewhere, 2 * PENDING_NODES_BOUND).result()
    assert metrics.snapshot()["automatic_cuts"] >= 2  # a graph without bound else
    assert set(shared.numpy()[1:-1]) == {2.0 + 2 * PENDING_NODES_BOUND}


def test_cuts_of_one_thread_are_counted_together() -> None:
    def work(number: int) -> None:
        for _ in range(20):
            (array(np.zeros(8)) + float(number)).numpy()

    settings.tier = "interpret"
    together(work)
    assert metrics.snapshot()["cuts"] == metrics.snapshot()["interpreted"] == 20 * WORKERS


def test_types_are_interned_once() -> None:
    shapes = [(7, i, 13) for i in range(500)]
    dtype = np.dtype(np.float32)
    tables = together(lambda _: [tensor_type(dtype, shape) for shape in shapes])
    for table in tables:
        assert all(x is y for x, y in zip(table, tables[0], strict=True))  # type: ignore[call-overload]


def test_automatic_cuts_in_every_thread() -> None:
    settings.tier = "interpret"

    def work(number: int) -> np.ndarray:
        x = array(np.linspace(0, 1, 50) + number)
        for _ in range(600):
            x[1:-1] = (x[:-2] + x[2:]) * 0.5
        return x.numpy()

    results = together(work, 4)
    for number, got in enumerate(results):
        x = np.linspace(0, 1, 50) + number
        for _ in range(600):
            x[1:-1] = (x[:-2] + x[2:]) * 0.5
        assert np.array_equal(got, x)
    assert metrics.snapshot()["automatic_cuts"] >= 4


@pytest.fixture
def switching() -> Iterator[None]:
    """Threads change places as often as they can."""
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("switching", "tier")
def test_threads_that_alternate_all_the_time() -> None:
    cells = [Cell(leaf(np.full(N, float(i)))) for i in range(4)]

    def work(number: int) -> float:
        total = 0.0
        for i in range(25):
            x = cells[(number + i) % 4]
            total += float(fetch(ops.reduce_sum(x.node, axes=(0,))))
        return total

    expected = [sum(N * float((number + i) % 4) for i in range(25)) for number in range(WORKERS)]
    assert together(work) == expected


def test_a_thread_cuts_where_it_would_had_nobody_recorded_before() -> None:
    """What others have recorded is no part of its graph, and that is short and one loop."""
    x = array(np.ones(8))
    for _ in range(PENDING_NODES_BOUND):
        x = x + 1.0
    sync()

    def work() -> None:
        y = zeros(ELEMENTS_BOUND)
        for _ in range(4):
            y = y * 2.0 + 1.0

    metrics.reset()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
    assert metrics.counts["automatic_cuts"] == 0
