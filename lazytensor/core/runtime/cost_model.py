"""What running and compiling cost, and whether compiling a program pays.

A program that is new is interpreted. What interpreting it has cost is added up, and once that
reaches a share of the price of compiling it, it is compiled in the background. Where the device is
not the host, a program is compiled once it comes back: what the host computes is far slower, and
moved to the device afterwards.
"""

from __future__ import annotations

from lazytensor.core.binaries import COMPILED, mode
from lazytensor.core.device.backend import is_apart, is_host, is_loaded
from lazytensor.core.policy import (
    COMPILE_SECONDS,
    COMPILE_SECONDS_PER_OPERATION,
    COMPILING_SHARE,
    DEVICE_COMPILE_SECONDS,
    DEVICE_COMPILE_SECONDS_PER_OPERATION,
    LOOP_OPERATIONS,
    SECONDS_PER_BYTE,
    SECONDS_PER_CALL,
    SECONDS_PER_ELEMENT,
    SECONDS_PER_OPERATION,
    SECONDS_PER_RECORDING,
    TRYING_SHARE,
)
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.run import Run
from lazytensor.core.runtime.tier_timing import Costs
from lazytensor.core.settings import settings


def price_of(operations: int) -> float:
    """Seconds that compiling a program of this many operations takes, roughly."""
    if is_apart():
        return DEVICE_COMPILE_SECONDS + operations * DEVICE_COMPILE_SECONDS_PER_OPERATION
    return COMPILE_SECONDS + operations * COMPILE_SECONDS_PER_OPERATION


def estimate(program: Costs) -> float:
    """Seconds that the host needs for a program, by its operations and sizes."""
    return program.elements * SECONDS_PER_ELEMENT + program.size * SECONDS_PER_OPERATION


def once(program: Costs) -> float:
    """Seconds of one run by the host: as measured, or the estimate."""
    is_measured = program.spent and program.runs
    return program.spent / program.runs if is_measured else estimate(program)


def debt(program: Costs) -> float:
    """Seconds spent interpreting a program, one more run included."""
    return program.spent + once(program)


def pays(program: Costs) -> bool:
    """Whether to compile a program: the host has spent a share of the compile's price on it."""
    if is_apart():
        return program.runs > 0
    spent = debt(program) - program.runs * SECONDS_PER_CALL
    return spent > COMPILING_SHARE * price_of(program.operations)


def pays_import(price: float, spent: float) -> bool:
    """Whether all that interpreting has cost is worth the backend's import and a compile.

    price: the compile's. spent: seconds of all programs, one more run included.
    """
    return spent >= COMPILING_SHARE * (COMPILE_SECONDS + price)


def may_import(price: float, seconds: float) -> bool:
    """Whether the backend is there, or its import pays. seconds: one more run's."""
    return pays_import(price, cache.spent + seconds) or is_loaded() or is_apart()


def should_compile(entry: Entry) -> bool:
    """Whether compiling a program pays, in the background if the tier is "auto"."""
    if settings.tier != "auto":
        return settings.tier == "compile"
    return pays(entry) and may_import(price_of(entry.operations), estimate(entry))


def is_overdue(entry: Entry) -> bool:
    """Whether the host has spent on a program twice what it does before a compile begins."""
    return debt(entry) > 2.0 * COMPILING_SHARE * price_of(entry.operations)


def is_worth_a_look(entry: Entry) -> bool:
    """Whether looking a program up on disk costs little against what interpreting it has cost."""
    if entry.sought or not settings.disk or debt(entry) < TRYING_SHARE * COMPILE_SECONDS:
        return False
    return may_import(0.0, estimate(entry))


def is_load_short(entry: Entry) -> bool:
    """Whether a look on disk, and a load, are short beside the program's first run by the host."""
    if entry.runs or entry.sought or entry.job is not None or not settings.disk:
        return False
    return estimate(entry) > COMPILE_SECONDS * (1.0 if is_loaded() else 2.0)


def is_too_slow(run: Run) -> bool:
    """Whether the user waits longer for the host than for a compile and XLA, by far."""
    if is_apart():
        return once(run.entry) + _fetching(run) > price_of(run.entry.operations) + COMPILE_SECONDS
    return outlasts_compile(run.entry)


def outlasts_compile(entry: Entry) -> bool:
    """Whether a run by this host takes several times as long as a compile."""
    return COMPILING_SHARE * once(entry) > price_of(entry.operations) + COMPILE_SECONDS


def _fetching(run: Run) -> float:
    """Seconds to move to the host what a program needs from the device."""
    there = sum(leaf.type.nbytes for leaf in run.found.leaves if not is_host(leaf.value))
    return there * SECONDS_PER_BYTE


def recording_seconds(program: Costs) -> float:
    """Seconds that recording, cutting and starting a program take."""
    each = SECONDS_PER_RECORDING if mode == COMPILED else SECONDS_PER_OPERATION
    return program.size * each + SECONDS_PER_CALL


def comes_once(entry: Entry) -> bool:
    """Whether a program was new, as all programs of a loop are in which each has other sizes."""
    family = None if entry.growth is None else entry.growth.family
    many = family is not None and family.refusals > 0 and family.sizes >= LOOP_OPERATIONS
    return many and entry.runs <= 1 and entry.executable is None
