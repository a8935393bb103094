"""Which tier runs a program now: the host, or XLA."""

from __future__ import annotations

from enum import Enum, auto

from lazytensor.core.device.backend import Effort, is_apart
from lazytensor.core.runtime import background, cost_model
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.run import Run
from lazytensor.core.settings import settings


class Tier(Enum):
    """What runs a program."""

    HOST = auto()
    """NumPy runs the whole of it."""
    XLA = auto()
    """There is an executable."""
    COMPILE = auto()
    """An executable is to be made, or was found on disk just now."""


def tier_of(run: Run) -> Tier:
    """What runs this program now. In the background, its executable may be made meanwhile."""
    entry = run.entry
    if entry.job is not None:
        if run.request.compiles:
            background.finish(entry)
        background.take(run)
    if run.found.program.needs_backend:
        return Tier.COMPILE if entry.executable is None else Tier.XLA
    if run.request.once or settings.tier == "interpret":
        return Tier.HOST
    if is_improvable(entry):
        background.want(run, effort=Effort.MEASURED)
    if is_numpys(entry):
        return Tier.HOST
    if entry.outdated:
        _renew(run)
    if executable_entry(run) is not None:
        return Tier.XLA
    waits = run.request.compiles or cost_model.is_too_slow(run)
    if settings.tier == "auto" and not waits:
        return _meanwhile(run)
    return Tier.COMPILE


def _meanwhile(run: Run) -> Tier:
    """What runs a program without an executable, which may soon have one."""
    entry = run.entry
    if cost_model.is_load_short(entry) and background.load(run):
        return Tier.XLA
    if entry.job is not None:
        if cost_model.is_overdue(entry):
            background.hurry(entry)
    elif is_due(entry):
        background.want(run, cost_model.should_compile(entry))
    return Tier.HOST


def is_due(entry: Entry) -> bool:
    """Whether an executable is to be looked for."""
    if entry.refused or entry.twin is not None:
        return False
    return cost_model.should_compile(entry) or cost_model.is_worth_a_look(entry)


def is_timed(entry: Entry) -> bool:
    """Whether the next run by XLA is timed, results waited for, to compare it with the host's."""
    if settings.tier != "auto" or entry.program.meshes or is_apart():
        return False
    return entry.trial.is_open()


def is_settled(entry: Entry) -> bool:
    """Whether XLA runs the program from now on."""
    if settings.tier != "auto" or is_apart():
        return True
    return entry.trial.is_decided() and not entry.trial.interprets()


def is_improvable(entry: Entry) -> bool:
    """Whether to measure forms, now that both tiers were timed, XLA with the likely ones.

    Also if the host was faster than those: the fastest forms may beat it.
    """
    executable = entry.executable
    if executable is None or not executable.is_provisional or entry.job is not None:
        return False
    return entry.trial.is_decided()


def _renew(run: Run) -> None:
    """Have an executable made that overwrites more of its inputs."""
    run.entry.outdated = False
    if settings.tier == "auto":
        background.want(run)
    else:
        run.entry.executable = None


def is_numpys(entry: Entry) -> bool:
    """Whether NumPy is known to be faster, or is to be timed now."""
    return settings.tier == "auto" and entry.trial.interprets()


def executable_entry(run: Run) -> Entry | None:
    """The entry whose executable has this run's results, maybe among others; None if none has."""
    if run.entry.executable is not None:
        return run.entry
    return cache.superset(run.found.program, run.packed)
