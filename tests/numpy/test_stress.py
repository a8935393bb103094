"""Eight threads record, cut, write and share arrays for seconds, in the nightly run a minute."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as np
from lazytensor.core.settings import settings

THREADS = 8
SECONDS = 60.0 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 3.0
SIZES = (8, 300, 5_000)
PRIME = 1009


@pytest.fixture(autouse=True)
def _everything_is_lazy() -> Iterator[None]:
    before, settings.small = settings.small, 0
    yield
    settings.small = before


class Worker:
    """One thread's work: each of its arrays has all its elements equal, and it knows to what."""

    def __init__(self, seed: int, shared: dict[int, list[tuple[Any, int]]]) -> None:
        self.choose = random.Random(seed)
        self.shared = shared
        self.own: dict[int, list[tuple[Any, int]]] = {n: [] for n in SIZES}
        self.rounds = 0

    def pick(self, size: int) -> tuple[Any, int]:
        """An array of its own, or one that all threads read."""
        return self.choose.choice(self.shared[size] + self.own[size])

    def step(self) -> None:
        """Record a few operations. Now and then write, ask for a value, cut, share, or drop."""
        size = self.choose.choice(SIZES)
        (x, a), (y, b) = self.pick(size), self.pick(size)
        made, value = (x * 3 + y + x[:1]) % PRIME, (a * 4 + b) % PRIME
        action = self.choose.randrange(6)
        if action == 0:
            made[2:5] += 1
            made[2:5] -= 1
        elif action == 1:
            assert int(made[-1]) == value
        elif action == 2:
            lazytensor.sync()
        elif action == 3:
            numpy.testing.assert_array_equal(numpy.asarray(made), value)
        elif action == 4:
            self.shared[size][self.choose.randrange(THREADS)] = made.copy(), value
        self.own[size].append((made, value))
        del self.own[size][: -self.choose.randrange(1, 12)]
        self.rounds += 1

    def work(self, until: float) -> int:
        """Steps until a time; the result is how many."""
        while time.monotonic() < until:
            self.step()
        for size, known in self.own.items():
            for x, value in known:
                numpy.testing.assert_array_equal(numpy.asarray(x), numpy.full(size, value))
        return self.rounds


def test_threads_record_cut_and_share() -> None:
    shared = {n: [(np.full(n, i), i) for i in range(THREADS)] for n in SIZES}
    workers = [Worker(seed, shared) for seed in range(THREADS)]
    until = time.monotonic() + SECONDS
    with ThreadPoolExecutor(THREADS) as pool:
        rounds = list(pool.map(lambda worker: worker.work(until), workers))
    assert min(rounds) > 0
