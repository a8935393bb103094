"""One operation at a time on a million elements: where XLA on a CPU wins, and where it loses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy

import lazytensor
import lazytensor.numpy
from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.functions import OPERATIONS, apart, seconds_of_calls
from benchmarks.row import Effort, Row
from lazytensor.core.device.backend import backend

LONG_ENOUGH = 0.02  # seconds a timed batch should last, so that the clock does not matter
MOST_CALLS = 50
SETTLING = 40  # calls in a row without a compile after which nothing changes any more
MOST_SETTLING = 400


def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` by `jax.jit`, in double precision like NumPy; waits."""
    compiled = jax.jit(partial(function, jnp))

    def call(*arrays: Any) -> Any:
        with jax.enable_x64(True):
            return jax.block_until_ready(compiled(*arrays))

    return call


def computed(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose lazy result is computed and waited for."""

    def call(*arrays: Any) -> Any:
        result = function(*arrays)
        for part in result if isinstance(result, tuple) else (result,):
            _ = part.shape  # else `x[mask]` would be put off until somebody asks how long it is
        lazytensor.sync()  # with `settings.wait`
        return result

    return call


def settle(call: Callable[..., Any], arrays: tuple[Any, ...]) -> None:
    """Call until the program has been compiled, specialised, and compared with NumPy's time."""
    compiles, quiet = -1, 0
    for _ in range(MOST_SETTLING):
        call(*arrays)
        before, compiles = compiles, lazytensor.metrics.snapshot()["compiles"]
        quiet = quiet + 1 if compiles == before and compiles else 0
        if quiet == SETTLING:
            return


def compare(name: str, effort: Effort) -> Figures:
    """One operation, ours against NumPy, both warm."""
    operation = OPERATIONS[name]
    lazytensor.settings.wait = True
    backend()  # importing it is part of the price of the first compile only
    data = operation.inputs(numpy.random.default_rng(0))
    lazy = tuple(lazytensor.numpy.array(array) for array in data)
    plain = partial(operation.function, numpy)
    ours = computed(partial(operation.function, lazytensor.numpy))
    once = min(seconds_of_calls(plain, data, 1) for _ in range(3))
    calls = max(1, min(MOST_CALLS, round(LONG_ENOUGH / once)))
    settle(ours, lazy)
    contestants = {"ours": lambda: seconds_of_calls(ours, lazy, calls)}
    if effort.peers and operation.peer:
        with jax.enable_x64(True):
            device = tuple(jnp.array(array) for array in data)
        by_hand = jitted(operation.function)
        contestants["jax"] = lambda: seconds_of_calls(by_hand, device, calls)
    with apart(name, calls) as other:
        samples = interleaved(contestants | {"numpy": other.turn}, effort.rounds(15))
    figures = {
        "NumPy / ours": ratio(samples["numpy"], samples["ours"]),
        "ours": figure(samples["ours"]),
        "NumPy": figure(samples["numpy"]),
        "fallbacks": count(lazytensor.metrics.snapshot()["fallbacks"]),
    }
    if "jax" in samples:
        figures["jax.jit"] = figure(samples["jax"])
    return figures


def rows() -> list[Row]:
    """A row for each operation; nobody promised a speed, so the target is not to lose to NumPy."""
    return [
        Row(
            name,
            name,
            "≥ 0.9× NumPy",
            lambda m: m["NumPy / ours"] >= 0.9,
            partial(compare, name),
        )
        for name in OPERATIONS
    ]
