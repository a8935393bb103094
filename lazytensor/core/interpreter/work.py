"""How much a program computes as NumPy would do it, as far as its text says.

What is only seen through views, or has parts replaced, may be as large as it likes: the rows of a
data set, the times of a simulation.
"""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.ir.program import INPUTS, Program, size_of
from lazytensor.core.ir.trait import SHOWING, Trait


class Work(NamedTuple):
    """How much a program computes.

    `elements`: of all that is computed, parts that replace others among them. `largest`: elements
    of the largest array that is computed of, or with. `replaced`: bytes of parts of arrays.
    """

    elements: int
    largest: int
    replaced: int


def extent_of(program: Program) -> Work:
    """How much this program computes."""
    lines = program.instructions
    elements = replaced = 0
    met = {i for i in program.outputs if Trait.REPLACES not in lines[i][0].traits}
    for i, (op, operands, _, type) in enumerate(lines):
        if Trait.REPLACES in op.traits:
            part = lines[operands[1]][3]
            elements += part.size
            replaced += part.nbytes
            met.update(operands[1:])
        elif op not in INPUTS and not op.traits & SHOWING:
            elements += size_of(type)
            met.update((i, *operands[Trait.PICKS in op.traits :]))
    return Work(elements, max((size_of(lines[i][3]) for i in met), default=0), replaced)
