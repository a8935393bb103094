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
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from lazytensor.core.ir.program import Cut, Program
from lazytensor.core.passes.canonicalize import Normal, normal
from lazytensor.core.passes.scalar_expression import Recipe, Slot, follow
from lazytensor.core.passes.specialize import pack

if TYPE_CHECKING:
    from lazytensor.core.runtime.executor import Run
    from lazytensor.core.runtime.program_cache import Entry

_compiled: Final[WeakValueDictionary[Program, Entry]] = WeakValueDictionary()
"""By normal form: what was compiled first."""


class Twin(NamedTuple):
    """Another program's entry, and how it is run in one's place.

    `leaves`, `outputs`: per parameter and output of the other's, which of one's own it is. `slots`:
    those to be set, and from what; `fixed`: what must be there, in a dtype, to the bit. `values`:
    the other's slots, as far as they are not set.
    """

    entry: Entry
    leaves: tuple[int, ...]
    outputs: tuple[int, ...]
    slots: tuple[tuple[int, Recipe], ...]
    fixed: tuple[tuple[Recipe, np.dtype, bytes], ...]
    values: tuple[Any, ...]

    def translated(self, run: Run) -> Run | None:
        """The same run as one of the other program's; None where a number is another there."""
        given = run.found.slots
        for recipe, dtype, bits in self.fixed:
            if _bits(recipe, given, dtype) != bits:
                return None
        slots = list(self.values)
        for position, recipe in self.slots:
            slots[position] = follow(recipe, given)
        program = self.entry.program
        leaves = [run.found.leaves[i] for i in self.leaves]
        owned = [run.owned[i] for i in self.leaves]
        packed = pack(program, slots)
        self.entry.observe(packed, owned)
        found = Cut(program, [None] * len(program.instructions), leaves, slots)
        outputs = [run.outputs[i] for i in self.outputs]
        return run._replace(
            entry=self.entry, found=found, outputs=outputs, packed=packed, owned=owned,
            recorded=run.found.program,
        )  # fmt: skip


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
