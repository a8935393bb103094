"""Twins: a program about to be compiled that is, in another form, compiled already.

Frontends write one computation down in different ways (see `passes/canonicalize.py`). Before a
program is compiled, the compiled ones are searched for its normal form; if one has it, that one is
run from then on: with the same leaves and the same outputs in its order, and with slots that say
the same. The search runs only before a compile, which takes far longer than making a normal form; a
program that has no twin never hears of it.

A slot of the twin's that is a number within its composites, or that the twin computes with before
it is used, cannot be set: then it must be what it was, or the program is compiled after all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

from lazytensor.core.ir.program import Cut, Program
from lazytensor.core.passes.canonicalize import Normal, normal
from lazytensor.core.passes.scalar_expression import Recipe, Slot, follow
from lazytensor.core.passes.specialize import pack
from lazytensor.core.runtime.program_cache import Entry, Twin
from lazytensor.core.runtime.run import Run

_compiled: Final[WeakValueDictionary[Program, Entry]] = WeakValueDictionary()
"""By normal form: what was compiled first."""


def known(run: Run) -> Run | None:
    """The run as one of the twin, where there is one and numbers are as they must be."""
    twin = run.entry.twin
    return None if twin is None else _translated(twin, run)


def searched(run: Run) -> Run | None:
    """The same for a run that is about to be compiled: its twin is searched for."""
    entry = run.entry
    if entry.twin is None and run.exact is None:
        entry.twin = find(entry)
    return known(run)


def _translated(twin: Twin, run: Run) -> Run | None:
    """The same run as one of the other program's; None where a number is another there."""
    given = run.found.slots
    for recipe, dtype, bits in twin.fixed:
        if _bits(recipe, given, dtype) != bits:
            return None
    slots = list(twin.values)
    for position, recipe in twin.slots:
        slots[position] = follow(recipe, given)
    entry = twin.entry
    program = entry.program
    leaves = [run.found.leaves[i] for i in twin.leaves]
    owned = [run.owned[i] for i in twin.leaves]
    packed = pack(program, slots)
    entry.observe(packed, owned)
    return run._replace(
        entry=entry,
        found=Cut(program, [None] * len(program.instructions), leaves, slots),
        outputs=[run.outputs[i] for i in twin.outputs],
        packed=packed,
        owned=owned,
        recorded=run.found.program,
    )


def remember(entry: Entry) -> None:
    """An entry has been compiled: other programs may run in its place."""
    if not entry.program.guards:
        form = normal(entry.program).program
        known = _compiled.get(form)
        if known is None or known.executable is None:
            _compiled[form] = entry


def find(entry: Entry) -> Twin | None:
    """What is compiled and does the same; None if nothing is."""
    if not _compiled or entry.program.guards:
        return None
    mine = normal(entry.program)
    other = _compiled.get(mine.program)
    if other is None or other is entry or other.executable is None:
        return None
    theirs = normal(other.program)
    if len(theirs.leaves) != len(other.program.parameters):
        return None  # one that changes nothing: whatever it is to be is not known here
    return _twin(other, theirs, mine)


def _twin(other: Entry, theirs: Normal, mine: Normal) -> Twin:
    values = _first_slots(other)
    slots, fixed = [], []
    for at, wanted, recipe in zip(mine.program.slots, theirs.slots, mine.slots, strict=True):
        if isinstance(wanted, Slot):
            slots.append((wanted.position, recipe))
        else:
            dtype = mine.program.instructions[at][3].dtype
            fixed.append((recipe, dtype, _bits(wanted, values, dtype)))
    return Twin(
        other,
        _matched(theirs.leaves, mine.leaves),
        _matched(theirs.outputs, mine.outputs),
        tuple(slots),
        tuple(fixed),
        tuple(values),
    )


def _matched(theirs: tuple[int, ...], mine: tuple[int, ...]) -> tuple[int, ...]:
    """Per position there, the position here, both being listed in the order of the normal form."""
    place = dict(zip(theirs, mine, strict=True))
    return tuple(place[i] for i in range(len(place)))


def _first_slots(entry: Entry) -> list[Any]:
    """The values that an entry's slots had when it was first run."""
    first = entry.history.first
    assert first is not None
    program = entry.program
    found: list[Any] = []
    for i, (dtype, at) in program.slot_places.items():
        type = program.instructions[i][3]
        some = first[dtype][at : at + type.size]
        found.append(tuple(some.tolist()) if type.shape else some[0].item())
    return found


def _bits(recipe: Recipe, slots: Sequence[Any], dtype: np.dtype) -> bytes:
    return np.asarray(follow(recipe, slots), dtype).tobytes()
