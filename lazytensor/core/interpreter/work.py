"""How much NumPy would compute for a program, estimated from its text.

The size of an array that is only viewed, or of which parts are replaced, does not count: it may be
a data set with many rows, or a simulation with many times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lazytensor.core.ir.attribute import Definition
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.program import INPUTS, Program, size_of
from lazytensor.core.ir.trait import SHOWING, Trait
from lazytensor.core.ops.contraction import convolution


class Work(NamedTuple):
    """How much a program computes.

    `operations`: those in the bodies of composites and of loops are counted one by one. `elements`:
    all that are computed, replaced parts of arrays included. `largest`: elements of the largest
    array that is computed or computed from. `convolves`: whether there are convolutions.
    """

    operations: int
    elements: int
    largest: int
    convolves: bool


def extent_of(program: Program) -> Work:
    """How much this program computes."""
    lines = program.instructions
    elements = 0
    met = {i for i in program.outputs if Trait.REPLACES not in lines[i][0].traits}
    for i, (op, operands, _, type) in enumerate(lines):
        if Trait.REPLACES in op.traits:
            part = lines[operands[1]][3]
            elements += part.size
            met.update(operands[1:])
        elif op not in INPUTS and not op.traits & SHOWING:
            elements += size_of(type)
            met.update((i, *operands[Trait.PICKS in op.traits :]))
    largest = max((size_of(lines[i][3]) for i in met), default=0)
    return Work(operations_of(program), elements, largest, has_op(program, convolution))


def operations_of(program: Program) -> int:
    """How many operations a program has, those in bodies included."""
    inner = sum(operations_of(body) for body in _bodies(program))
    composites = sum(isinstance(line[0], Composite) for line in program.instructions)
    return program.size - composites + inner


def has_op(program: Program, wanted: Op) -> bool:
    """Whether a program has an op, in the bodies of composites and of loops too."""
    if any(line[0] is wanted for line in program.instructions):
        return True
    return any(has_op(body, wanted) for body in _bodies(program))


def _bodies(program: Program) -> Iterator[Program]:
    """The bodies of its composites and loops."""
    lines = program.instructions
    for op, operands, attrs, _ in lines:
        for value in attrs:
            if isinstance(value, Definition):
                yield from value.programs
        if isinstance(op, Composite):
            yield op.program(tuple(lines[i][3] for i in operands), op.attrs_of(attrs))
