"""What programs on a mesh exchange between devices, for which of the user's lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from lazytensor.core.device.host_memory import in_words
from lazytensor.core.ir.op import PARAMETER, element
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.sharding import Sharding
from lazytensor.core.ir.source_location import describe
from lazytensor.core.ops.sharding import sharding_constraint
from lazytensor.core.passes.donation import version_of
from lazytensor.core.runtime.program_cache import Entry, cache

WHOLE_SHOWN: Final = 4
"""Results of one program that are listed as whole."""


class Exchange(NamedTuple):
    """An exchange between devices: XLA's name for it, bytes of its results on one device, and for
    which operations it is, at which of your lines."""

    kind: str
    nbytes: int
    lines: tuple[str, ...]


def exchanges(program: Program) -> list[Exchange]:
    """What a program exchanges that has run on a mesh; nothing, if it has not."""
    entry = _entry(program)
    if entry is None or entry.executable is None:
        return []
    return [
        Exchange(kind, nbytes, tuple(dict.fromkeys(_line(entry.program, i) for i in instructions)))
        for kind, nbytes, instructions in entry.executable.collectives()
    ]


def whole_results(program: Program) -> list[str]:
    """The results that every device has whole. Later versions of whole inputs are left out."""
    entry = _entry(program)
    if entry is None or entry.executable is None:
        return []
    found, lines = [], entry.program.instructions
    pairs = zip(entry.program.outputs, entry.executable.shardings, strict=False)
    for at, sharding in pairs:
        is_new = lines[version_of(entry.program, at)][0] is not PARAMETER
        if sharding.is_replicated and is_new and lines[at][3].size >= sharding.mesh.size:
            found.append(f"{lines[at][3]} of {_line(entry.program, at)}")
    return found


def split(program: Program) -> dict[int, Sharding]:
    """Per instruction how it is split, where that is known: inputs, constraints and results."""
    inputs = zip(program.parameters, program.shardings, strict=False)
    found = {at: sharding for at, sharding in inputs if sharding is not None}
    for at, (op, _, attrs, _) in enumerate(program.instructions):
        if op is sharding_constraint:
            found[at] = attrs[0]
    entry = _entry(program) if program.meshes else None
    if entry is not None and entry.program == program and entry.executable is not None:
        found |= dict(zip(program.outputs, entry.executable.shardings, strict=False))
    return found


def described(runs: Counter[Program]) -> Iterator[str]:
    """Lines of text on these programs, each with how often it was run."""
    for program, times in runs.items():
        mesh = program.meshes[0]
        yield f"{times:>6} × {program.size} operations on {mesh}"
        for kind, nbytes, lines in exchanges(program):
            said = ", ".join(lines) or "a result that no spec splits"
            yield f"           {kind} of {in_words(nbytes)}: {said}"
        whole = whole_results(program)
        for text in whole[:WHOLE_SHOWN]:
            yield f"           whole on every device: {text}"
        if len(whole) > WHOLE_SHOWN:
            yield f"           and {len(whole) - WHOLE_SHOWN} more results"


def _entry(program: Program) -> Entry | None:
    """What is known of a program, or of the one that is run in its place."""
    entry = next((e for e in cache.entries() if e.program == program), None)
    return entry if entry is None or entry.twin is None else entry.twin.entry


def _line(program: Program, instruction: int) -> str:
    place = program.places[instruction] if program.places else None
    op, operands, _, _ = program.instructions[instruction]
    if op is element:
        op = program.instructions[operands[0]][0]
    return f"{op.name} at {describe(place)}"
