"""Which inputs a program may overwrite with which outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lazytensor.core.program import Program

SMALLEST: Final = 16 * 1024
"""Bytes under which giving a buffer back to the allocator costs nothing worth saving."""


def donations(program: Program, owned: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    """Pairs (position among the parameters, position among the outputs).

    `owned` says which parameters nobody else needs. A parameter is paired with an output of its
    type that is computed from it position by position, so that it can be overwritten in place; a
    stencil's input is not, since XLA would have to copy it first.
    """
    pairs = []
    taken: set[int] = set()
    for position, index in enumerate(program.parameters):
        type = program.instructions[index][3]
        if not owned[position] or type.nbytes < SMALLEST:
            continue
        aligned = _aligned_uses(program, index)
        for at, output in enumerate(program.outputs):
            if at not in taken and output in aligned and program.instructions[output][3] is type:
                taken.add(at)
                pairs.append((position, at))
                break
    return tuple(pairs)


def _aligned_uses(program: Program, parameter: int) -> set[int]:
    """Instructions that need element `i` of the parameter for their own element `i`, and no other."""
    aligned, moved = {parameter}, set[int]()
    type = program.instructions[parameter][3]
    for i, (op, operands, _, result) in enumerate(program.instructions):
        if not aligned.isdisjoint(operands) or not moved.isdisjoint(operands):
            keeps = operands if op.elementwise else operands[:1] if op.name == "update_slice" else ()
            strays = any(j in moved or (j in aligned and j not in keeps) for j in operands)
            shape = getattr(result, "shape", None)
            (moved if strays or shape != type.shape else aligned).add(i)
    return aligned
