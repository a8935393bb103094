"""One kernel in this process: first calls, then by turns when everything is compiled."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy

import lazytensor
import lazytensor.numpy
from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.npbench.kernel import Call, Kernel, agree
from benchmarks.warming import warm_up
from lazytensor.core import runtime
from lazytensor.frontends.numpy.array import Lazy

COUNTED = ("nodes", "compiles", "cuts", "interpreted", "fallbacks")
MOST_ROUNDS = 25


class WrongResult(AssertionError):
    """A kernel ran, and does not validate."""


class Contestant:
    """One library's calls. `seconds` are of the last call, results waited for."""

    def __init__(self, call: Call, data: Mapping[str, Any], ready: Callable[[list[Any]], None]):
        self.call = call
        self.data = data
        self.ready = ready
        self.results: list[Any] = []

    def __call__(self) -> float:
        self.results = []  # the last call's memory is free again before the next takes any
        arguments = self.call.arguments(self.data)
        start = time.perf_counter()
        returned = self.call.function(*arguments.values())
        self.results = self.call.results(returned, arguments)
        self.ready(self.results)
        return time.perf_counter() - start


def wait(results: list[Any]) -> None:
    """Return when all is computed, and the host could read it; nothing is copied."""
    lazytensor.sync()
    for result in results:
        if isinstance(result, Lazy):
            runtime.observe(result.node)


def peer(kernel: Kernel, data: Mapping[str, Any]) -> Contestant | None:
    """What was written for JAX by hand, compiled; None if there is no such thing, or it fails."""
    import jax

    jax.config.update("jax_enable_x64", True)
    function = kernel.by_hand()
    if function is None:
        return None
    made = Contestant(Call(kernel, function, jax.numpy.array), data, jax.block_until_ready)
    try:
        made()
    except (TypeError, ValueError, RuntimeError, NameError) as error:  # written for another JAX
        print(f"{kernel.name}: its JAX version fails: {error!r:.200}", file=sys.stderr)
        return None
    return made


def measure(kernel: Kernel, preset: str, seconds: float, *, peers: bool = False) -> Figures:
    """A kernel's figures, spending about so many seconds on the steady state."""
    data = kernel.data(preset)
    theirs = Contestant(Call(kernel, kernel.function(), numpy.copy), data, lambda _: None)
    swapped = kernel.function(swapped=True)
    ours = Contestant(Call(kernel, swapped, lazytensor.numpy.array), data, wait)
    first = {"numpy": theirs(), "ours": ours()}
    _check(kernel, theirs, ours)
    warm_up(ours)
    compiles = lazytensor.metrics.snapshot()["compiles"]
    pair = theirs() + ours()
    _check(kernel, theirs, ours)
    rounds = max(1, min(MOST_ROUNDS, int(seconds / pair)))
    lazytensor.metrics.reset()
    contestants = {"ours": ours, "numpy": theirs}
    samples = interleaved(contestants, rounds, warmup=0)
    counts = lazytensor.metrics.snapshot()
    figures = {
        "NumPy": figure(samples["numpy"]),
        "ours": figure(samples["ours"]),
        "speed": ratio(samples["numpy"], samples["ours"]),
        "first NumPy": figure([first["numpy"]]),
        "first ours": figure([first["ours"]]),
        "compiles before": count(compiles),
        **{name: count(round(counts[name] / rounds, 2)) for name in COUNTED},
    }
    by_hand = peer(kernel, data) if peers else None
    if by_hand is not None:
        samples = interleaved({"jax": by_hand, "numpy": theirs}, rounds, warmup=1)
        figures["jax speed"] = ratio(samples["numpy"], samples["jax"])
    return figures


def _check(kernel: Kernel, theirs: Contestant, ours: Contestant) -> None:
    """Raises: WrongResult."""
    wrong = agree(kernel, theirs.results, ours.results)
    if wrong:
        raise WrongResult(wrong)
