"""Loops that move: a column written at each step, and updates without end."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from types import ModuleType
from typing import Any

import numpy

import lazytensor
import lazytensor.numpy
from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.process import python
from benchmarks.row import Effort

FEW, MANY = 100, 10_000


def write_columns(np: ModuleType, size: int, writes: int, *, cut: bool) -> float:
    """Seconds a write of `a[:, j] = v` for moving `j`, the result included."""
    a = np.zeros((size, size))
    v = np.arange(size) * 1.0
    float(a[0, 0] + v[0])
    start = time.perf_counter()
    for i in range(writes):
        a[:, i % size] = v
        if cut:
            lazytensor.sync()
    float(a[-1, -1])
    seconds = time.perf_counter() - start
    if writes >= size and not bool((a[-1] == size - 1.0).all()):
        raise AssertionError("a column is missing")
    return seconds / writes


def _columns(size: int, writes: int, rounds: int, *, cut: bool) -> tuple[Figures, float]:
    lazy = lazytensor.numpy
    lazytensor.metrics.reset()
    samples = interleaved(
        {
            "ours": lambda: write_columns(lazy, size, writes, cut=cut),
            "numpy": lambda: write_columns(numpy, size, writes, cut=False),
        },
        rounds,
    )
    pairs = zip(samples["ours"], samples["numpy"], strict=True)
    name = f"{size}²" + (", cut at each" if cut else "")
    return {
        f"{name}: beyond NumPy's copy": figure([ours - theirs for ours, theirs in pairs]),
        f"{name}: NumPy": figure(samples["numpy"]),
    }, lazytensor.metrics.snapshot()["compiles"]


def moving_column(effort: Effort) -> Figures:
    """What one `a[:, j] = v` costs beyond what NumPy takes to copy the column."""
    rounds = effort.rounds(7)
    small, compiles_small = _columns(200, 2_000, rounds, cut=False)
    large, compiles_large = _columns(2_000, 2_000, rounds, cut=False)
    each, compiles_each = _columns(200, 400, rounds, cut=True)
    return {
        **small,
        "200²: compiles": count(compiles_small),
        **large,
        "2000²: compiles": count(compiles_large),
        **each,
        "200², cut at each: compiles": count(compiles_each),
    }


def memory(effort: Effort) -> Figures:
    """Peak resident memory of few and of many in-place updates, each in its own process."""
    few, many = [], []
    for _ in range(effort.rounds(3)):
        few.append(python("-m", "benchmarks.loops", str(FEW)).answer["peak MB"])
        many.append(python("-m", "benchmarks.loops", str(MANY)).answer["peak MB"])
    return {
        f"{FEW} updates": figure(few, "MB"),
        f"{MANY:,} updates": figure(many, "MB"),
        "growth": ratio(many, few),
    }


def update(a: Any, times: int) -> Any:
    """Half a megabyte updated in place, again and again."""
    for _ in range(times):
        a += 1.0
        a[1:-1] *= 0.5
    return a


def main() -> None:
    """The process whose memory is measured; XLA is there in both, so that only the loop differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("updates", type=int)
    updates = parser.parse_args().updates
    import jax.numpy as jnp

    jnp.sin(jnp.ones(8)).block_until_ready()
    a = update(lazytensor.numpy.zeros((256, 256)), updates)
    checksum = float(a.sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (2**20 if sys.platform == "darwin" else 2**10)
    print(json.dumps({"peak MB": megabytes, "checksum": checksum}))


if __name__ == "__main__":
    main()
