"""What the trial of a program's two tiers finds, whatever else the machine does meanwhile."""

import pytest

from lazytensor.core.runtime import tier_timing


def let_xla_be_better(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a run by XLA takes, the interpreter's is far longer."""
    for near in ("NEAR_SHORT", "NEAR_LONG", "NEAR_LONGEST"):
        monkeypatch.setattr(tier_timing, near, 0.0)
