"""What running and compiling cost, and whether compiling a program pays.

A program that is new is interpreted. What interpreting it has cost is added up, and once that
reaches a share of the price of compiling it, it is compiled in the background.
"""

from __future__ import annotations

from typing import Final

from lazytensor.core.device.backend import is_loaded
from lazytensor.core.ir.program import Program
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.tier_timing import WARMING
from lazytensor.core.settings import settings

SECONDS_PER_ELEMENT: Final = 2e-9
"""NumPy's time for an element of an operation's result."""
SECONDS_PER_NODE: Final = 3e-6
"""NumPy's time for an operation on no elements."""
SECONDS_PER_STEP: Final = 1.2e-6
"""The interpreter's time for an operation, beside NumPy's."""
SECONDS_PER_BYTE: Final = 5e-11
"""Time to copy a byte of an array."""
LEAST_SHARE: Final = 0.25
"""Share of NumPy's time that XLA is expected to need where it was never tried."""
FUSED_SHARE: Final = 0.1
"""The same share for long chains of operations, of which only the ends are read and written."""
SECONDS_PER_CALL: Final = 4e-5
"""Time to start a compiled program and to wait for it."""
COMPILE_SECONDS: Final = 0.08
COMPILE_SECONDS_PER_NODE: Final = 3e-3
"""Processor seconds of a compile: a constant, and a part for each operation. Half of 34 measured
programs, of 1 to 450 operations, took between half and twice the sum."""
IMPORT_SECONDS: Final = 0.15
"""Processor seconds of the backend's import."""
BACKGROUND_SHARE: Final = 0.3
"""Share of a compile's price that the host spends on a program before it is compiled. The compile
takes a processor from the host, and a process may end before it pays."""
OVERDUE_SHARE: Final = 2.0
"""The same share after which a compile gets a processor of the host's, if it found none idle."""
TOO_SLOW_SECONDS: Final = 2.0
"""Seconds of the host's run from which XLA is waited for, if that also takes `TOO_SLOW` times as
long as the compile."""
TOO_SLOW: Final = 3.0
DISK_LOOKUP_SECONDS: Final = 0.003
"""Seconds of interpreting after which a program is looked up on disk."""
LOAD_SECONDS: Final = 0.05
"""Seconds to find a program on disk and to load it."""
MANY_SIZES: Final = 16
"""Sizes of a program without room for more, from which each further size is expected once only."""


def price_of(program: Program) -> float:
    """Seconds that compiling a program takes, roughly."""
    return COMPILE_SECONDS + program.size * COMPILE_SECONDS_PER_NODE


def may_import(price: float, seconds: float) -> bool:
    """Whether the backend is there, or all interpreting has cost its import and a compile.

    price: the compile's. seconds: one more run's.
    """
    return is_loaded() or cache.spent + seconds >= BACKGROUND_SHARE * (IMPORT_SECONDS + price)


def estimate(entry: Entry) -> float:
    """Seconds that NumPy needs for a program, by its operations and sizes."""
    return entry.extent.elements * SECONDS_PER_ELEMENT + entry.program.size * SECONDS_PER_NODE


def debt(entry: Entry) -> float:
    """Seconds spent interpreting a program, one more run included."""
    once = entry.spent / entry.runs if entry.spent and entry.runs else estimate(entry)
    return entry.spent + once


def should_compile(entry: Entry) -> bool:
    """Whether compiling a program pays, in the background if the tier is "auto"."""
    if settings.tier != "auto":
        return settings.tier == "compile"
    price = price_of(entry.program)
    if not may_import(price, estimate(entry)):
        return False
    return debt(entry) - entry.runs * SECONDS_PER_CALL > BACKGROUND_SHARE * price


def is_overdue(entry: Entry) -> bool:
    """Whether an executable should long have been there, by what the host has spent meanwhile."""
    return debt(entry) > OVERDUE_SHARE * price_of(entry.program)


def is_worth_a_look(entry: Entry) -> bool:
    """Whether looking a program up on disk costs little against what interpreting it has cost."""
    if entry.sought or not settings.disk or debt(entry) < DISK_LOOKUP_SECONDS:
        return False
    return may_import(0.0, estimate(entry))


def is_load_short(entry: Entry) -> bool:
    """Whether a look on disk, and a load, are short beside the program's first run by the host."""
    if entry.runs or entry.sought or entry.job is not None or not settings.disk:
        return False
    return estimate(entry) > LOAD_SECONDS + (0.0 if is_loaded() else IMPORT_SECONDS)


def is_too_slow(entry: Entry) -> bool:
    """Whether the user waits longer for the host than for a compile and XLA."""
    once = debt(entry) - entry.spent
    return once > TOO_SLOW_SECONDS and once > TOO_SLOW * (price_of(entry.program) + IMPORT_SECONDS)


def gain(entry: Entry, seconds: float, cutting: float = 0.0, room: float = 1.0) -> float | None:
    """How much longer NumPy takes than a run of these seconds; None while it is not known.

    cutting: the part of the seconds in which processors did nothing else. room: how many times as
    much the program computes as what was recorded.
    """
    if entry.executable is not None and not entry.spent:  # compiled at once, being large
        return estimate(entry) - seconds
    timed = entry.trial.gain(seconds * room, cutting * room)
    return None if timed is None else timed / room - detour(entry)


def detour(entry: Entry) -> float:
    """Seconds by which the interpreter is slower than NumPy by itself.

    It looks up its steps. What is written to a part of an array it computes elsewhere and copies,
    where NumPy computes it in place.
    """
    return entry.program.size * SECONDS_PER_STEP + entry.extent.replaced * SECONDS_PER_BYTE


def most_gain(entry: Entry, seconds: float, is_small: bool = False) -> float | None:
    """The most that there is to gain over a run by NumPy in these seconds, were XLA at its best.

    That is NumPy's own time, less the time of XLA and of a cut. None where XLA has had a chance,
    and for the first runs, in which everything is new. is_small: nothing is to gain, as all arrays
    are smaller than those that are recorded.
    """
    least = entry.trial.least()
    if entry.executable is not None or entry.runs <= WARMING or least is None:
        return None
    if is_small:
        return least[1] - seconds - detour(entry)
    program = entry.program
    moved = (len(program.parameters) + len(program.results)) / program.size
    share = min(max(moved, FUSED_SHARE), LEAST_SHARE)
    best = (1.0 - share) * (least[0] - detour(entry))
    return best - SECONDS_PER_CALL - (seconds - least[1])


def comes_once(entry: Entry) -> bool:
    """Whether a program was new, as all programs of a loop are in which each has other sizes."""
    family = None if entry.growth is None else entry.growth.family
    many = family is not None and family.refusals > 0 and family.sizes >= MANY_SIZES
    return many and entry.runs <= 1 and entry.executable is None
