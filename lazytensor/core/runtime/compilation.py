"""Getting an executable: from disk, or from the compiler, one program at a time."""

from __future__ import annotations

import atexit
from collections.abc import Sequence
from contextlib import nullcontext
from math import inf
from threading import RLock, get_ident
from typing import TYPE_CHECKING, Final

from lazytensor.core.device.backend import backend
from lazytensor.core.ir.recording import user_place
from lazytensor.core.observe import events
from lazytensor.core.observe.recompile_reason import DONATION, Change, change, scalar_change
from lazytensor.core.policy import TRIALS
from lazytensor.core.runtime import equivalent_programs, locking, peers, shape_buckets, sharded
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.run import Run

if TYPE_CHECKING:
    from lazytensor.core.runtime import disk_cache

LASTING: Final = 1e-3
"""Seconds of a run by the host from which it pays to keep them for the next process."""
_compiling: Final = RLock()
"""Held while a program is compiled. A compiler that another one interrupts has untested states, and
one compile uses all processors."""


def obtain(run: Run) -> tuple[str, Change | None]:
    """Make sure of the entry's executable, now; how it was got, and why it had to be compiled."""
    entry = run.entry
    if entry.executable is not None:
        return "loaded from disk", None
    from lazytensor.core.runtime import disk_cache

    backend()  # made with the lock held
    wanted, new = disk_cache.wanted(entry, run.owned), None
    among_others = peers.members and entry.program.meshes
    if among_others:
        entry.agreed = peers.agree(
            entry.program.meshes[0],
            disk_cache.identity(wanted),
            user_place(),
            sharded.given(run),
        )
    with peers.compiling() if among_others else nullcontext():
        found = disk_cache.find(wanted)
        if found is None:
            new = reason(run)
            found = _compiled(run, wanted)
    give(entry, found, wanted, run.owned)
    if run.exact is None:
        equivalent_programs.remember(entry)
    return "loaded from disk" if new is None else "compiled", new


def give(
    entry: Entry, found: disk_cache.Found, wanted: disk_cache.Wanted, owned: Sequence[bool]
) -> None:
    """Give an entry what was found for `wanted`, made when nobody else had the inputs `owned`."""
    entry.donated, entry.owned = wanted.pairs, owned
    if entry.executable is not None:
        entry.trial.renew()
    if found.seconds is not None:
        entry.trial.inform(found.seconds)
    entry.history = found.history
    entry.executable = found.executable  # last, as other threads may be looking for one


def _keep_seconds() -> None:
    """Keep what the tiers take for the next process, where to find it out takes long."""
    lasting = [e for e in cache.entries() if LASTING <= e.trial.by_host < inf and e.executable]
    if lasting:
        from lazytensor.core.runtime import disk_cache

        for entry in lasting:
            disk_cache.keep_seconds(entry)


atexit.register(_keep_seconds)


def _compiled(run: Run, wanted: disk_cache.Wanted) -> disk_cache.Found:
    from lazytensor.core.runtime import disk_cache

    entry = run.entry
    entry.compiled_by = get_ident()
    try:
        with locking.outside(run.outputs), _compiling:
            return disk_cache.make(wanted, entry.program.places, user_place())
    finally:
        entry.compiled_by = 0


def reason(run: Run) -> Change:
    """Why the program is not among the compiled ones."""
    entry, program = run.entry, run.found.program
    if entry.history.changes:
        return scalar_change(program, entry.history, run.packed)
    if entry.disowned == TRIALS:
        text = "an input is no longer shared, and its memory is used for a result"
        return Change(DONATION, text)
    entries = (e for e in cache.entries() if not e.padded)
    mine = run.exact or run
    known = [e.program for e in entries if e is not mine.entry][-events.PROGRAMS_COMPARED :]
    found = change(mine.found.program, known)
    said = shape_buckets.remark(mine)
    return found._replace(text=f"{found.text}{said}") if said else found
