"""The cost of laziness itself: recording an operation, and cutting a program known already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import lazytensor
import lazytensor.numpy as lnp
from benchmarks.figures import Figures, count, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort
from lazytensor.core import cell

BATCH = 200  # few enough that no automatic cut falls into a batch
NODES = 1000
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "x + y": lambda np, x, y: [x + y for _ in range(BATCH)],
    "x * 2.0": lambda np, x, y: [x * 2.0 for _ in range(BATCH)],
    "np.sin(x)": lambda np, x, y: [np.sin(x) for _ in range(BATCH)],
}


def record(operation: str, effort: Effort) -> Figures:
    """One small operation: recorded by us, run by jax.numpy. The computing is not timed."""
    run = OPERATIONS[operation]
    lazy = [lnp.ones(8, dtype=lnp.float32), lnp.ones(8, dtype=lnp.float32)]
    eager = [jnp.ones(8, dtype=jnp.float32), jnp.ones(8, dtype=jnp.float32)]

    def ours() -> float:
        lazytensor.sync()
        kept: list[Any] = []
        seconds = seconds_of(lambda: kept.extend(run(lnp, *lazy)))
        lazytensor.sync()
        return seconds / BATCH

    def jax_eager() -> float:
        kept: list[Any] = []
        seconds = seconds_of(lambda: kept.extend(run(jnp, *eager)))
        jax.block_until_ready(kept)
        return seconds / BATCH

    before = lazytensor.metrics.snapshot()["automatic_cuts"]
    samples = interleaved({"ours": ours, "jax": jax_eager}, effort.rounds(60), warmup=3)
    automatic = lazytensor.metrics.snapshot()["automatic_cuts"] - before
    return {
        "ours": figure(samples["ours"]),
        "jax.numpy": figure(samples["jax"]),
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

    lazytensor.settings.tier = "compile"  # arrays as small as these would be interpreted
    cell.ELEMENTS_BOUND = 2**40  # the question is one large program, not where a loop is cut
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
