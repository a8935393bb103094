"""Whole programs from the examples, unmodified: ours against NumPy on the same source."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy

import lazytensor
import lazytensor.numpy
from benchmarks import peers
from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.program import example
from benchmarks.row import Effort
from benchmarks.warming import warm_up


class WrongResult(AssertionError):
    """A program was fast but not right."""


@dataclass(frozen=True)
class Solver:
    """An example with its arguments: `start` makes the data and `solve` the field."""

    example: str
    start: Callable[[ModuleType], tuple[Any, ...]]
    solve: Callable[..., Any]
    steps: int
    quick_steps: int
    tolerance: float
    peer: Callable[..., Any]


SOLVERS = {
    "jacobi": Solver(
        "jacobi",
        lambda m: m.plate(700),
        lambda m, A, B, steps: m.jacobi(A, B, steps),
        steps=1000,
        quick_steps=100,
        tolerance=1e-12,
        peer=peers.jacobi,
    ),
    "gray-scott": Solver(
        "gray_scott",
        lambda m: m.soup(512),
        lambda m, U, V, steps: m.simulate(U, V, steps),
        steps=500,
        quick_steps=100,
        tolerance=1e-9,
        peer=peers.gray_scott,
    ),
    "black-scholes": Solver(
        "black_scholes",
        lambda m: m.book(2000),
        lambda m, spot, volatility, steps: m.revalue(spot, volatility, steps),
        steps=8,
        quick_steps=2,
        tolerance=5e-3,
        peer=peers.black_scholes,
    ),
}


def timed_run(solver: Solver, module: ModuleType, steps: int) -> tuple[float, Any]:
    """Seconds from ready data to a checksum that is a Python float, and the field."""
    data = solver.start(module)
    float(sum(a[0].sum() for a in data))  # ready means computed
    start = time.perf_counter()
    field = solver.solve(module, *data, steps)
    float(field.sum())
    return time.perf_counter() - start, field


def contest(name: str, effort: Effort) -> Figures:
    """Ours against NumPy (and jax.jit by hand), by turns, when all is compiled."""
    solver = SOLVERS[name]
    steps = solver.quick_steps if effort.quick else solver.steps
    theirs = example(solver.example, numpy)
    ours = example(solver.example, lazytensor.numpy)
    difference = _difference(solver, theirs, ours, steps)
    contestants = {
        "ours": lambda: timed_run(solver, ours, steps)[0],
        "numpy": lambda: timed_run(solver, theirs, steps)[0],
    }
    if effort.peers:
        contestants["jax"] = solver.peer(theirs, solver.start(theirs), steps)
    warm_up(contestants["ours"])
    interleaved(contestants, 1, warmup=0)
    lazytensor.metrics.reset()
    samples = interleaved(contestants, effort.rounds(5), warmup=0)
    counts = lazytensor.metrics.snapshot()
    figures = {
        "ours": figure(samples["ours"]),
        "NumPy": figure(samples["numpy"]),
        "NumPy / ours": ratio(samples["numpy"], samples["ours"]),
        "compiles when warm": count(counts["compiles"]),
        "cuts a run": count(counts["cuts"] / len(samples["ours"])),
        "fallbacks": count(counts["fallbacks"]),
        "difference": count(difference),
    }
    if effort.peers:
        figures["jax.jit"] = figure(samples["jax"])
        figures["jax.jit / ours"] = ratio(samples["jax"], samples["ours"])
    return figures


def _difference(solver: Solver, theirs: ModuleType, ours: ModuleType, steps: int) -> float:
    """The largest difference between the fields; too large a one is an error."""
    wanted = numpy.asarray(timed_run(solver, theirs, steps)[1])
    given = numpy.asarray(timed_run(solver, ours, steps)[1])
    if given.dtype != wanted.dtype or given.shape != wanted.shape:
        raise WrongResult(f"{given.dtype}{given.shape} instead of {wanted.dtype}{wanted.shape}")
    difference = float(numpy.abs(given - wanted).max())
    if not difference <= solver.tolerance:
        raise WrongResult(f"{solver.example}: differs from NumPy by {difference:.3g}")
    return difference
