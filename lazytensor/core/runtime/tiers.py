"""Which tier runs a program now: NumPy, XLA, or XLA with the host's help."""

from __future__ import annotations

from enum import Enum, auto

from lazytensor.core.runtime import cost_model, disk_lookup
from lazytensor.core.runtime.compilation import load
from lazytensor.core.runtime.host_partition import host_instructions, may_share
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.run import Run
from lazytensor.core.settings import settings


class Tier(Enum):
    """What runs a program."""

    HOST = auto()
    """NumPy runs the whole of it."""
    PART_ON_HOST = auto()
    """NumPy runs those instructions that it is faster at; the rest becomes programs of its own."""
    XLA = auto()
    """There is an executable."""
    COMPILE = auto()
    """An executable is to be made, or was found on disk just now."""


def tier_of(run: Run) -> Tier:
    """What runs this program now."""
    entry = run.entry
    if run.found.program.is_beyond_numpy:
        return Tier.COMPILE if entry.executable is None else Tier.XLA
    if _is_shared(run):
        return Tier.PART_ON_HOST
    if run.request.once or settings.tier == "interpret" or is_numpys(entry):
        return Tier.HOST
    if executable_entry(run) is not None:
        return Tier.XLA
    if not _is_due(run):
        return Tier.HOST
    if run.exact is None and host_instructions(entry):
        return Tier.HOST if entry.hosted else Tier.PART_ON_HOST
    return Tier.COMPILE


def is_numpys(entry: Entry) -> bool:
    """Whether NumPy is known to be faster, or is to be timed now."""
    return settings.tier == "auto" and entry.trial.interprets()


def executable_entry(run: Run) -> Entry | None:
    """The entry whose executable has this run's results, maybe among others; None if none has."""
    if run.entry.executable is not None:
        return run.entry
    return cache.superset(run.found.program, run.packed)


def _is_due(run: Run) -> bool:
    """Whether an executable is to be had for this run; one that is on disk is loaded."""
    if run.request.proved or cost_model.should_compile(run.entry):
        return True
    return disk_lookup.is_worth_a_look(run.entry) and load(run)


def _is_shared(run: Run) -> bool:
    """Whether NumPy has the end of this run: it is the faster one there, or is to be timed."""
    entry = run.entry
    if settings.tier != "auto" or entry.executable is None or not entry.trial.is_decided():
        return False
    if run.recorded is not None:
        return False  # a variant has no nodes of its instructions
    if entry.shared is None:
        entry.shared = may_share(entry.program)
        if entry.shared:
            entry.sharing.interpreted(0.0)  # nothing is known of it, so it is to be tried
    return entry.sharing.interprets()
