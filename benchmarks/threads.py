"""Two threads that each have their own arrays, against one that has all of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import ModuleType
from typing import Any, Final

import numpy

import lazytensor.numpy
from benchmarks.figures import Figures, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort, Row

Task = Callable[[ModuleType, Any], float]
PARTS: Final = 8
SETTLING: Final = 20
"""Rounds before the first that counts: compiles, and trials of both tiers."""


def ordered(np: ModuleType, x: Any) -> float:
    """Run by NumPy, as XLA sorts slowly."""
    return float(np.sum(np.sort(x)[::1000]))


def decomposed(np: ModuleType, x: Any) -> float:
    """Run by LAPACK."""
    return float(np.linalg.eigvalsh(x[:40_000].reshape(200, 200)).max())


def fused(np: ModuleType, x: Any) -> float:
    """Run by XLA."""
    return float(np.sum(np.sqrt(x * x + 1.0) * np.exp(-x)))


def gathered(np: ModuleType, x: Any) -> float:
    """Run by XLA, with a look at indices that are data."""
    at = (x * x.size).astype(np.int64)
    return float(np.sum(x[at] * x))


def looped(np: ModuleType, x: Any) -> float:
    """A loop over parts that are small, and NumPy's own arrays."""
    total = 0.0
    for i in range(0, 100_000, 1000):
        total += float((x[i : i + 1000] * 2.0).sum())
    return total


TASKS: dict[str, Task] = {
    task.__name__: task for task in (ordered, decomposed, fused, gathered, looped)
}


def contest(task: Task, effort: Effort) -> Figures:
    """What two threads take, and what one takes, for all of some arrays, NumPy's and ours."""
    rng = numpy.random.default_rng(0)
    made = [rng.random(1_000_000) for _ in range(PARTS)]
    ours = [lazytensor.numpy.array(x) for x in made]
    with ThreadPoolExecutor(2) as pool:
        runs = {
            "NumPy": lambda: list(pool.map(partial(task, numpy), made)),
            "ours": lambda: list(pool.map(partial(task, lazytensor.numpy), ours)),
            "NumPy, one thread": lambda: [task(numpy, x) for x in made],
            "ours, one thread": lambda: [task(lazytensor.numpy, x) for x in ours],
        }
        for _ in range(SETTLING):
            results = [run() for run in runs.values()]
        numpy.testing.assert_allclose(results, [results[0]] * len(results), rtol=1e-9)
        timed = {name: partial(seconds_of, run) for name, run in runs.items()}
        samples = interleaved(timed, effort.rounds(11))
    return {name: figure(seconds) for name, seconds in samples.items()} | {
        "NumPy / ours": ratio(samples["NumPy"], samples["ours"]),
        "one / two threads": ratio(samples["ours, one thread"], samples["ours"]),
    }


def rows() -> list[Row]:
    """A row a task."""
    return [
        Row(
            f"threads-{name}",
            f"{task.__doc__} 1 M elements each of {PARTS}, two threads".replace("\n", " "),
            "≥ 0.9× NumPy's two threads",
            lambda m: m["NumPy / ours"] >= 0.9,
            partial(contest, task),
        )
        for name, task in TASKS.items()
    ]
