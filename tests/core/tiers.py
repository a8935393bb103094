"""What the trial of a program's two tiers finds, whatever else the machine does meanwhile."""

import numpy as np
import pytest

from lazytensor.core.ir.node import Node
from lazytensor.core.runtime import background, scheduler, tier_timing


def let_xla_be_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a run by XLA takes, the interpreter's is far longer."""
    monkeypatch.setattr(tier_timing, "MARGIN", 0.0)
    monkeypatch.setattr(tier_timing, "TRYING_SHARE", 0.0)  # nothing slower is tried


def let_the_host_be_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the interpreter's run takes, that by XLA is far longer."""
    monkeypatch.setattr(tier_timing, "MARGIN", float("inf"))


def fetched(node: Node) -> np.ndarray:
    """The value; what is compiled in the background because of it has been compiled then."""
    value = scheduler.fetch(node)
    background.drain()
    return value
