"""The cost of laziness itself: recording an operation, and cutting a program known already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy

import lazytensor
import lazytensor.numpy as lnp
from benchmarks.figures import Figures, count, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort
from lazytensor.core.ir.recording import thread

BATCH = 200  # few enough that no automatic cut falls into a batch
NODES = 1000
Batch = Callable[[Any, Any, Any, Any, Any], Any]
"""A batch of calls, given the library, two arrays x and y, a row v of theirs, and a mask m."""

OPERATIONS: dict[str, Batch] = {
    "x + y": lambda np, x, y, v, m: [x + y for _ in range(BATCH)],
    "x * 2.0": lambda np, x, y, v, m: [x * 2.0 for _ in range(BATCH)],
    "np.sin(x)": lambda np, x, y, v, m: [np.sin(x) for _ in range(BATCH)],
}


def write_row(np: Any, x: Any, y: Any, v: Any, m: Any) -> None:
    """`x[0] = v`."""
    for _ in range(BATCH):
        x[0] = v


def write_part(np: Any, x: Any, y: Any, v: Any, m: Any) -> None:
    """`x[1:-1] = v`."""
    for _ in range(BATCH):
        x[1:-1] = v


def add_real_row(np: Any, x: Any, y: Any, v: Any, m: Any) -> Any:
    """`x + r` with a small array `r` of NumPy's own, as small arrays are."""
    r = numpy.ones(x.shape[-1:], numpy.float32)
    return [x + r for _ in range(BATCH)]


def multiply_real_matrix(np: Any, x: Any, y: Any, v: Any, m: Any) -> Any:
    """`r @ x` with a small matrix `r` of NumPy's own."""
    r = numpy.ones((2, x.shape[0]), numpy.float32)
    return [np.matmul(r, x) for _ in range(BATCH)]


def add_in_place(np: Any, x: Any, y: Any, v: Any, m: Any) -> Any:
    """`x += y`, of which jax.numpy makes `x = x + y`."""
    for _ in range(BATCH):
        x += y
    return x


CALLS: dict[str, Batch] = {
    "x[2]": lambda np, x, y, v, m: [x[2] for _ in range(BATCH)],
    "x[1:-1]": lambda np, x, y, v, m: [x[1:-1] for _ in range(BATCH)],
    "x[:, 1]": lambda np, x, y, v, m: [x[:, 1] for _ in range(BATCH)],
    "x[1:-1, 1:-1]": lambda np, x, y, v, m: [x[1:-1, 1:-1] for _ in range(BATCH)],
    "x[0] = v": write_row,
    "x[1:-1] = v": write_part,
    "x += y": add_in_place,
    "x.sum()": lambda np, x, y, v, m: [x.sum() for _ in range(BATCH)],
    "x.sum(axis=0)": lambda np, x, y, v, m: [x.sum(axis=0) for _ in range(BATCH)],
    "x.mean()": lambda np, x, y, v, m: [x.mean() for _ in range(BATCH)],
    "x.max(axis=1)": lambda np, x, y, v, m: [x.max(axis=1) for _ in range(BATCH)],
    "np.where(m, x, y)": lambda np, x, y, v, m: [np.where(m, x, y) for _ in range(BATCH)],
    "np.concatenate": lambda np, x, y, v, m: [np.concatenate([x, y]) for _ in range(BATCH)],
    "np.maximum(x, 0)": lambda np, x, y, v, m: [np.maximum(x, 0) for _ in range(BATCH)],
    "np.sqrt(x)": lambda np, x, y, v, m: [np.sqrt(x) for _ in range(BATCH)],
    "x > 0": lambda np, x, y, v, m: [x > 0 for _ in range(BATCH)],
    "x @ y": lambda np, x, y, v, m: [x @ y for _ in range(BATCH)],
    "x.T": lambda np, x, y, v, m: [x.T for _ in range(BATCH)],
    "x.reshape(-1)": lambda np, x, y, v, m: [x.reshape(-1) for _ in range(BATCH)],
    "x.astype(int32)": lambda np, x, y, v, m: [x.astype(np.int32) for _ in range(BATCH)],
    "m * x": lambda np, x, y, v, m: [m * x for _ in range(BATCH)],
    "x + NumPy's row": add_real_row,
    "NumPy's matrix @ x": multiply_real_matrix,
}
"""Common calls."""

FUNCTIONAL: dict[str, Batch] = {
    "x[0] = v": lambda np, x, y, v, m: [x.at[0].set(v) for _ in range(BATCH)],
    "x[1:-1] = v": lambda np, x, y, v, m: [x.at[1:-1].set(v) for _ in range(BATCH)],
}
"""What jax.numpy has instead of those that write."""


def operands(np: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The arrays of a batch."""
    x, y, v = (np.ones(n, dtype=np.float32) for n in (shape, shape, shape[-1:]))
    return x, y, v, np.ones(shape, dtype=bool)


def record(operation: str, shape: tuple[int, ...], effort: Effort) -> Figures:
    """One small operation: recorded by us, run by jax.numpy and NumPy. Waiting is not timed."""
    run = (OPERATIONS | CALLS)[operation]
    run_eager = FUNCTIONAL.get(operation, run)
    lazytensor.settings.small = 0  # not recording what is so small is another question
    lazy, eager, real = (operands(np, shape) for np in (lnp, jnp, numpy))

    def ours() -> float:
        lazytensor.sync()
        kept: list[Any] = []
        seconds = seconds_of(lambda: kept.append(run(lnp, *lazy)))
        lazytensor.sync()
        return seconds / BATCH

    def jax_eager() -> float:
        kept: list[Any] = []
        seconds = seconds_of(lambda: kept.append(run_eager(jnp, *eager)))
        jax.block_until_ready(kept)
        return seconds / BATCH

    def by_numpy() -> float:
        kept: list[Any] = []
        return seconds_of(lambda: kept.append(run(numpy, *real))) / BATCH

    before = lazytensor.metrics.snapshot()["automatic_cuts"]
    contestants = {"ours": ours, "jax": jax_eager, "NumPy": by_numpy}
    samples = interleaved(contestants, effort.rounds(60), warmup=3)
    automatic = lazytensor.metrics.snapshot()["automatic_cuts"] - before
    return {
        "ours": figure(samples["ours"]),
        "NumPy": figure(samples["NumPy"]),
        "jax.numpy": figure(samples["jax"]),
        "ours / NumPy": ratio(samples["ours"], samples["NumPy"]),
        "ours / jax": ratio(samples["ours"], samples["jax"]),
        "automatic cuts": count(automatic),
    }


def thousand_nodes() -> list[Any]:
    """Ten chains of a hundred operations on tiny arrays, none of them computed."""
    chains = [lnp.ones(8) for _ in range(10)]
    lazytensor.sync()
    for step in range(NODES // len(chains) // 4):
        scale = 1.0 + 1e-3 * step
        chains = [lnp.sin(x * scale + 0.5) * y for x, y in zip(chains, chains[::-1], strict=True)]
    return chains


def dispatch(effort: Effort) -> Figures:
    """`sync()` of a program compiled before: cut, look up, dispatch. Tiny arrays take no time."""

    def once() -> float:
        kept = thousand_nodes()
        seconds = seconds_of(lazytensor.sync)
        float(kept[0].sum())
        return seconds

    lazytensor.settings.small = 0
    lazytensor.settings.tier = "compile"  # arrays as small as these would be interpreted
    thread.recorder.bound = 2**40  # the question is one large program, not where a loop is cut
    for _ in range(4):
        once()
    lazytensor.metrics.reset()
    samples = [once() for _ in range(effort.rounds(40))]
    counts = lazytensor.metrics.snapshot()
    return {
        "sync": figure(samples),
        "compiles": count(counts["compiles"]),
        "interpreted a round": count(counts["interpreted"] / len(samples)),
        "nodes a round": count(counts["nodes"] / len(samples)),
        "automatic cuts": count(counts["automatic_cuts"]),
    }
