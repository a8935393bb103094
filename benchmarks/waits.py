"""What it costs to ask for a value after a few small operations, as loops that test it do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

import lazytensor
import lazytensor.numpy as lnp
from benchmarks.figures import Figures, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort, Row
from lazytensor.core.runtime import background

ROUNDS = 400
"""Values that are asked for in one sample."""
MOST = 8e-6
"""Seconds for one."""
LEAST = 0.7
"""Of torch eager's speed."""

NUMPY: dict[str, Callable[[Any], float]] = {
    "float(x.max())": lambda x: float(x.max()),
    "float((x + 1).max())": lambda x: float((x + 1.0).max()),
}


def _settled(ask: Callable[[], object]) -> None:
    """Ask until what runs the program is decided, and nothing is compiled beside it."""
    for _ in range(8 * ROUNDS):
        ask()
    background.drain()
    for _ in range(ROUNDS):
        ask()


def _compared(
    ours: Callable[[], float], peer: str, theirs: Callable[[], float], effort: Effort
) -> Figures:
    """What one value takes us and a peer."""

    def each(ask: Callable[[], float]) -> float:
        return seconds_of(lambda: [ask() for _ in range(ROUNDS)]) / ROUNDS

    _settled(ours)
    contestants = {"ours": partial(each, ours), peer: partial(each, theirs)}
    samples = interleaved(contestants, effort.rounds(20))
    return {
        "ours": figure(samples["ours"]),
        peer: figure(samples[peer]),
        f"{peer} / ours": ratio(samples[peer], samples["ours"]),
    }


def of_numpy(name: str, tier: str, effort: Effort) -> Figures:
    """A value of 64 elements, against NumPy. tier: "auto", where NumPy runs it, or "compile"."""
    lazytensor.settings.small = 0  # arrays of this size would be NumPy's own
    lazytensor.settings.tier = tier
    ours, theirs = (partial(NUMPY[name], np.ones((8, 8))) for np in (lnp, numpy))
    return _compared(ours, "NumPy", theirs, effort)


def of_torch(effort: Effort) -> Figures:
    """Five operations on four elements and `item()`, as a policy's gradient is computed."""
    import torch

    import lazytensor.torch  # noqa: F401 -- registers the device

    def ask(device: str) -> Callable[[], float]:
        w, b = torch.ones(4, device=device), torch.ones(4, device=device)

        def value() -> float:
            return float((torch.relu(w * 0.5 + b).sum() - 1.0).item())

        return value

    return _compared(ask("lazytensor"), "torch", ask("cpu"), effort)


def rows() -> list[Row]:
    """The table."""
    return [
        *(
            Row(
                f"{name}, {tier}",
                f"`{name}`, 64 elements, program known, {who} runs it",
                "≤ 8 µs",
                lambda m: m["ours"] <= MOST,
                partial(of_numpy, name, tier),
            )
            for tier, who in (("auto", "NumPy"), ("compile", "XLA"))
            for name in NUMPY
        ),
        Row(
            "torch",
            "five torch operations on four elements, `item()`",
            f"≥ {LEAST:g}× torch",
            lambda m: m["torch / ours"] >= LEAST,
            of_torch,
        ),
    ]
