"""Which tier runs a program now: NumPy, XLA, or XLA with the host's help."""

from __future__ import annotations

from enum import Enum, auto

from lazytensor.core.device.backend import Effort
from lazytensor.core.runtime import background, cost_model, shape_buckets
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
    """What runs this program now. In the background, its executable may be made meanwhile."""
    entry = run.entry
    if entry.job is not None:
        if run.request.compiles:
            background.finish(entry)
        background.take(run)
    if run.found.program.is_beyond_numpy:
        return Tier.COMPILE if entry.executable is None else Tier.XLA
    if _is_shared(run):
        return Tier.PART_ON_HOST
    if run.request.once or settings.tier == "interpret" or is_numpys(entry):
        return Tier.HOST
    if entry.outdated:
        _renew(run)
    if executable_entry(run) is not None:
        if is_improvable(entry):
            background.want(run, effort=Effort.MEASURED)
        return Tier.XLA
    waits = run.request.compiles or cost_model.is_too_slow(entry)
    if settings.tier == "auto" and not waits:
        return _meanwhile(run)
    if run.exact is None and host_instructions(entry):
        return _hosts(entry)
    return Tier.COMPILE


def _hosts(entry: Entry) -> Tier:
    return Tier.HOST if entry.hosted else Tier.PART_ON_HOST


def _meanwhile(run: Run) -> Tier:
    """What runs a program without an executable, which may soon have one."""
    entry = run.entry
    if entry.host:
        if run.exact is None:
            return _hosts(entry)
        shape_buckets.refuse(run.exact, shape_buckets.PART_ON_HOST)
    elif cost_model.is_load_short(entry) and background.load(run):
        return Tier.XLA
    elif entry.job is not None:
        if cost_model.is_overdue(entry):
            background.hurry(entry)
    elif is_due(entry, run.request.proved):
        background.want(run, run.request.proved or cost_model.should_compile(entry))
    return Tier.HOST


def is_due(entry: Entry, proved: bool = False) -> bool:
    """Whether an executable is to be looked for. `proved`: that it pays is known."""
    if entry.refused or entry.twin is not None:
        return False
    return proved or cost_model.should_compile(entry) or cost_model.is_worth_a_look(entry)


def is_improvable(entry: Entry) -> bool:
    """Whether to measure forms, as XLA was found to be faster with the likely ones."""
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
            entry.sharing.open()
    return entry.sharing.interprets()
