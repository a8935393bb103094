"""One kernel, ours in this process: first calls, then by turns when everything is compiled."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import lazytensor
import lazytensor.numpy
from benchmarks.figures import Figures, count, figure, interleaved, ratio
from benchmarks.npbench.kernel import Call, Kernel, agree
from benchmarks.npbench.timed import Timed, apart, by_numpy, take_memory_for
from benchmarks.warming import warm_up
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.arrays.array import Lazy

COUNTED = ("nodes", "compiles", "cuts", "interpreted", "fallbacks")
MOST_ROUNDS = 25


class WrongResult(AssertionError):
    """A kernel ran, and does not validate."""


def wait(results: list[Any]) -> None:
    """Return when all is computed, and the host could read it; nothing is copied."""
    lazytensor.sync()
    for result in results:
        if isinstance(result, Lazy):
            scheduler.observe(result.node)


def peer(kernel: Kernel, data: Mapping[str, Any]) -> Timed | None:
    """What was written for JAX by hand, compiled; None if there is no such thing, or it fails."""
    import jax

    jax.config.update("jax_enable_x64", True)
    function = kernel.by_hand()
    if function is None:
        return None
    made = Timed(Call(kernel, function, jax.numpy.array), data, jax.block_until_ready)
    try:
        made()
    except (TypeError, ValueError, RuntimeError, NameError) as error:  # written for another JAX
        print(f"{kernel.name}: its JAX version fails: {error!r:.200}", file=sys.stderr)
        return None
    return made


def measure(kernel: Kernel, preset: str, seconds: float, *, peers: bool = False) -> Figures:
    """A kernel's figures. seconds: about how long the steady state is measured."""
    data = kernel.data(preset)
    ours = Timed(Call(kernel, kernel.function(swapped=True), lazytensor.numpy.array), data, wait)
    reference = by_numpy(kernel, data)
    with apart(kernel, preset) as other:
        first = {"numpy": other.turn()}
        take_memory_for(data)
        first["ours"] = ours()
        reference()
        _check(kernel, reference, ours)
        warm_up(ours)
        compiles = lazytensor.metrics.snapshot()["compiles"]
        pair = other.turn() + ours()
        _check(kernel, reference, ours)
        rounds = max(1, min(MOST_ROUNDS, int(seconds / pair)))
        lazytensor.metrics.reset()
        samples = interleaved({"ours": ours, "numpy": other.turn}, rounds, warmup=0)
        counts = lazytensor.metrics.snapshot()
        by_hand = peer(kernel, data) if peers else None
        turns = {} if by_hand is None else {"jax": by_hand, "numpy": other.turn}
        rivals = interleaved(turns, rounds)
    figures = {
        "NumPy": figure(samples["numpy"]),
        "ours": figure(samples["ours"]),
        "speed": ratio(samples["numpy"], samples["ours"]),
        "first NumPy": figure([first["numpy"]]),
        "first ours": figure([first["ours"]]),
        "compiles before": count(compiles),
        **{name: count(round(counts[name] / rounds, 2)) for name in COUNTED},
    }
    if rivals:
        figures["jax speed"] = ratio(rivals["numpy"], rivals["jax"])
    return figures


def _check(kernel: Kernel, theirs: Timed, ours: Timed) -> None:
    """Raises: WrongResult."""
    wrong = agree(kernel, theirs.results, ours.results)
    if wrong:
        raise WrongResult(wrong)
