"""The policy in use, over programs of a trace. A policy to be judged is a class like it."""

from __future__ import annotations

from benchmarks.replay.trace import Trace
from lazytensor.core.runtime import cost_model
from lazytensor.core.runtime.tier_timing import Costs


class InUse:
    """The library's own decisions (`cost_model.py`, `tier_timing.py`)."""

    def __init__(self, trace: Trace) -> None:
        self._programs = [Costs(made.size, made.size, made.elements) for made in trace.programs]
        self._spent = 0.0
        self._is_imported = False

    def is_due(self, program: int) -> bool:
        """Whether compiling pays, and the import of the backend does if it is not there."""
        known = self._programs[program]
        if not cost_model.pays(known):
            return False
        price = cost_model.price_of(known.size)
        spent = self._spent + cost_model.estimate(known)
        self._is_imported = self._is_imported or cost_model.pays_import(price, spent)
        return self._is_imported

    def urgency(self, program: int) -> float:
        """What the host has spent."""
        return self._programs[program].spent

    def interprets(self, program: int) -> bool:
        """What the trial of both tiers says."""
        return self._programs[program].trial.interprets()

    def interpreted(self, program: int, seconds: float) -> None:
        """Note a run by the host."""
        known = self._programs[program]
        known.trial.interpreted(seconds)
        known.spent += seconds
        known.runs += 1
        self._spent += seconds

    def compiled(self, program: int, seconds: float) -> None:
        """Note a run by XLA."""
        known = self._programs[program]
        known.runs += 1
        if known.trial.is_open():
            known.trial.compiled(seconds)
        else:
            known.trial.ran()
