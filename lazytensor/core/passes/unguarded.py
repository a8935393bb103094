"""A program without its guards, for where nothing can be raised."""

from __future__ import annotations

from lazytensor.core.ir.program import INPUTS, Instruction, Program
from lazytensor.core.ir.recording import Place
from lazytensor.core.ops.guard import guarded


def unguarded(
    program: Program, places: tuple[Place | None, ...]
) -> tuple[Program, tuple[Place | None, ...]]:
    """The program with what its outputs need besides guards, and all of its inputs.

    places: where each instruction was recorded; those of the kept ones come with the program.
    """
    shown = list(range(len(program.instructions)))
    for i, (op, operands, _, _) in enumerate(program.instructions):
        if op is guarded:
            shown[i] = shown[operands[0]]
    needed = {shown[i] for i in program.outputs}
    for i in reversed(range(len(shown))):
        op, operands, _, _ = program.instructions[i]
        if i in needed:
            needed.update(shown[j] for j in operands)
        elif op in INPUTS:
            needed.add(i)
    kept = sorted(needed)
    new = {i: at for at, i in enumerate(kept)}

    def moved(i: int) -> Instruction:
        op, operands, attrs, type = program.instructions[i]
        return op, tuple(new[shown[j]] for j in operands), attrs, type

    outputs = tuple(new[shown[i]] for i in program.outputs)
    found = Program(
        tuple(map(moved, kept)), outputs, program.multiple, program.constants, program.shardings
    )
    return found, tuple(places[i] for i in kept)
