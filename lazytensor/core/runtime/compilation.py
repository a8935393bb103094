"""Getting an executable: from disk, or from the compiler, one program at a time."""

from __future__ import annotations

from threading import RLock, get_ident
from typing import Final

from lazytensor.core.device.backend import backend
from lazytensor.core.observe import events
from lazytensor.core.observe.recompile_reason import DONATION, Change, change, scalar_change
from lazytensor.core.runtime import cost_model, equivalent_programs, locking, shape_buckets
from lazytensor.core.runtime.program_cache import DISOWNED_RUNS, cache
from lazytensor.core.runtime.run import Run

TRIED: Final = 8
"""Operations up to which a program from disk is timed against NumPy: it runs few longer ones."""
_compiling: Final = RLock()
"""Held while a program is compiled. A compiler that another one interrupts has untested states, and
one compile uses all processors."""


def obtain(run: Run) -> tuple[str, Change | None]:
    """Make sure of the entry's executable; how it was got, and why it had to be compiled."""
    entry = run.entry
    if entry.executable is not None or load(run):
        return "loaded from disk", None
    new = _reason(run)
    from lazytensor.core.runtime import disk_cache

    backend()  # made with the lock held
    entry.compiled_by = get_ident()
    try:
        with locking.outside(run.outputs), _compiling:
            disk_cache.compile_and_store(entry, run.owned, entry.program.places)
    finally:
        entry.compiled_by = 0
    _remember(run)
    return "compiled", new


def load(run: Run) -> bool:
    """Load the entry's executable from disk; whether it was there."""
    # A program that compiles nothing does not wait for these imports.
    from lazytensor.core.runtime import disk_cache

    entry = run.entry
    loaded = disk_cache.load(entry, run.owned)
    if loaded:
        cache.loaded += 1
        _remember(run)
        # Without this time it would never be compared with NumPy.
        if not entry.runs and entry.program.size <= TRIED:
            entry.trial.interpreted(cost_model.estimate(entry))
    return loaded


def _remember(run: Run) -> None:
    """Let other programs run in the place of this one, if it was recorded as it is."""
    if run.exact is None:
        equivalent_programs.remember(run.entry)


def _reason(run: Run) -> Change:
    """Why the program is not among the compiled ones."""
    entry, program = run.entry, run.found.program
    if entry.history.changes:
        return scalar_change(program, entry.history, run.packed)
    if entry.disowned == DISOWNED_RUNS:
        text = "an input is no longer shared, and its memory is used for a result"
        return Change(DONATION, text)
    entries = (e for e in cache.entries() if not e.padded)
    mine = run.exact or run
    known = [e.program for e in entries if e is not mine.entry][-events.PROGRAMS_COMPARED :]
    found = change(mine.found.program, known)
    said = shape_buckets.remark(mine)
    return found._replace(text=f"{found.text}{said}") if said else found
