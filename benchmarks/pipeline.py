"""A pipeline of three frameworks as one program, against each framework on its own kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy

from benchmarks.figures import Figures, count, figure, interleaved, ratio, seconds_of
from benchmarks.program import example
from benchmarks.row import Effort, Row
from lazytensor import metrics

ROWS = 2_000_000
Once = Callable[[], numpy.ndarray]


def scorer(module: ModuleType, np: Any, device: str) -> Once:
    """Batches of quotes scored by a model."""
    model = module.Surface().to(device)
    batches = [np.asarray(module.quotes(ROWS, seed)) for seed in range(2)]

    def once() -> numpy.ndarray:
        batches.reverse()
        _, report = module.score(np, model, batches[0])
        return numpy.asarray(report)

    return once


def trainer(module: ModuleType, np: Any, device: str) -> Once:
    """Training steps on batches, with a report on each."""
    import torch

    model = module.Surface().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = [np.asarray(module.quotes(ROWS, seed)) for seed in range(2)]

    def once() -> numpy.ndarray:
        batches.reverse()
        return numpy.asarray(module.train(np, model, optimizer, batches[0]))

    return once


def contest(make: Callable[[ModuleType, Any, str], Once], effort: Effort) -> Figures:
    """From quotes, in the arrays of each side, to a report on the host."""
    module = example("pipeline", numpy)
    reports: dict[str, numpy.ndarray] = {}
    batches: dict[str, int] = {}

    def contestant(name: str) -> Callable[[], float]:
        eager = name == "frameworks"
        np, device, _ = module.frameworks(eager)
        once = make(module, np, device)

        def run() -> None:
            reports[name] = once()
            batches[name] = batches.get(name, 0) + 1

        def timed() -> float:
            with module.frameworks(eager)[2]:
                return seconds_of(run)

        return timed

    contestants = {name: contestant(name) for name in ("ours", "frameworks")}
    interleaved(contestants, 4)
    metrics.reset()
    batches.clear()
    samples = interleaved(contestants, effort.rounds(20))
    counts = metrics.snapshot()
    apart = numpy.abs(reports["ours"] - reports["frameworks"]) / numpy.abs(reports["frameworks"])
    return {
        **{name: figure(found) for name, found in samples.items()},
        "frameworks / ours": ratio(samples["frameworks"], samples["ours"]),
        "cuts a batch": count(counts["cuts"] / batches["ours"]),
        "compiles": count(counts["compiles"]),
        "fallbacks": count(counts["fallbacks"]),
        "reports apart": count(float(apart.max())),
    }


def _row(name: str, what: str, make: Any, least: float) -> Row:
    return Row(
        f"pipeline-{name}",
        f"{what}, {ROWS:,} rows: NumPy cleans, torch prices, TensorFlow decides",
        f"≥ {least:g}× the frameworks; 1 cut, nothing compiled",
        lambda m: (
            m["frameworks / ours"] >= least
            and m["cuts a batch"] == 1
            and m["compiles"] == m["fallbacks"] == 0
        ),
        partial(contest, make),
    )


def rows() -> list[Row]:
    """The table of pipelines of several frameworks."""
    return [
        _row("score", "option quotes scored", scorer, 2.0),
        _row("train", "a training step on option quotes", trainer, 1.0),
    ]
