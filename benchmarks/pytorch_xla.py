"""PyTorch/XLA as a peer, in an environment of its own: it needs another torch than ours does."""

from __future__ import annotations

import os
from typing import Final

from benchmarks.contestant import Contestant, take_turns
from benchmarks.figures import seconds_of

NAME: Final = "PyTorch/XLA"
PYTHON: Final = os.environ.get("PYTORCH_XLA", "")
"""The interpreter of an environment with torch_xla, transformers, numpy and ml_dtypes."""


def contestant(name: str) -> Contestant | None:
    """Whoever trains this task of `training.py` with it; None if there is no such environment."""
    if not PYTHON:
        return None
    call = f"from benchmarks.pytorch_xla import work; work({name!r})"
    return Contestant(call, PYTHON, PJRT_DEVICE=os.environ.get("PJRT_DEVICE", "CPU"))


def work(name: str) -> None:
    """Be that contestant: a turn is a training step."""
    import torch
    import torch_xla

    from benchmarks import training

    torch.manual_seed(0)
    train = training.trainer(getattr(training, name)(), torch_xla.device())

    def step() -> None:
        loss = train()
        torch_xla.sync()
        loss.item()

    take_turns(lambda: seconds_of(step))
