"""The torch device: what recording an operation costs, and a training step against torch eager."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from benchmarks.figures import Figures, count, figure, interleaved, ratio, seconds_of
from benchmarks.row import Effort, Row
from lazytensor import metrics, sync

BATCH = 200
LAYERS, WIDTH, ROWS_A_STEP = 24, 64, 32


def record(gradients: bool, effort: Effort) -> Figures:
    """`x + y` of small tensors: recorded by us, run by torch. The computing is not timed."""
    import torch

    import lazytensor.torch  # noqa: F401 -- registers the device

    def contestant(device: str) -> Callable[[], float]:
        x, y = (torch.ones(8, device=device, requires_grad=gradients) for _ in range(2))

        def once() -> float:
            sync()
            kept: list[Any] = []
            seconds = seconds_of(lambda: kept.append([x + y for _ in range(BATCH)]))
            sync()
            return seconds / BATCH

        return once

    contestants = {name: contestant(name) for name in ("lazytensor", "cpu")}
    samples = interleaved(contestants, effort.rounds(60), warmup=3)
    return {
        "ours": figure(samples["lazytensor"]),
        "torch": figure(samples["cpu"]),
        "ours / torch": ratio(samples["lazytensor"], samples["cpu"]),
    }


def step(effort: Effort) -> Figures:
    """A whole training step, from the batch to the updated parameters; both from one start."""
    import torch
    from torch import nn

    import lazytensor.torch  # noqa: F401 -- registers the device

    torch.manual_seed(0)
    parts = [
        part
        for _ in range(LAYERS)
        for part in (nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH))
    ]
    model = nn.Sequential(*parts)
    batch = torch.randn(ROWS_A_STEP, WIDTH)
    losses: dict[str, Any] = {}

    def contestant(device: str) -> Callable[[], float]:
        net = copy.deepcopy(model).to(device)
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=True)
        x = batch.to(device)

        def train() -> None:
            optimizer.zero_grad()
            losses[device] = net(x).square().mean()
            losses[device].backward()
            optimizer.step()

        def once() -> float:
            return seconds_of(lambda: (train(), losses[device].item()))

        return once

    contestants = {name: contestant(name) for name in ("lazytensor", "cpu")}
    interleaved(contestants, 6)
    metrics.reset()
    samples = interleaved(contestants, effort.rounds(40))
    counts = metrics.snapshot()
    mine, theirs = (losses[name].item() for name in ("lazytensor", "cpu"))
    return {
        "ours": figure(samples["lazytensor"]),
        "torch": figure(samples["cpu"]),
        "ours / torch": ratio(samples["lazytensor"], samples["cpu"]),
        "compiles": count(counts["compiles"]),
        "cuts a step": count(counts["cuts"] / (effort.rounds(40) + 1)),
        "loss apart": count(abs(mine - theirs) / abs(theirs)),
    }


def rows() -> list[Row]:
    """The table of the torch frontend."""
    return [
        Row(
            f"torch-record{'-grad' if gradients else ''}",
            f"record `x + y`, 8 elements f32{', with autograd' if gradients else ''}",
            f"≤ {limit * 1e6:g} µs",
            lambda m, limit=limit: m["ours"] <= limit,
            lambda effort, gradients=gradients: record(gradients, effort),
        )
        for gradients, limit in ((False, 4.5e-6), (True, 7e-6))
    ] + [
        Row(
            "torch-step",
            f"{LAYERS} × (Linear {WIDTH}, GELU, LayerNorm), batch {ROWS_A_STEP}, AdamW step",
            "≤ 0.4× torch, nothing compiled",
            lambda m: m["ours / torch"] <= 0.4 and m["compiles"] == 0,
            step,
        )
    ]
