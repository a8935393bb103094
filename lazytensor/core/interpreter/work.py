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
from lazytensor.core.ops.contraction import convolution, dot_general
from lazytensor.core.ops.movement import concatenate


class Work(NamedTuple):
    """How much a program computes.

    `operations`: those in the bodies of composites and of loops are counted one by one. `elements`:
    all that are computed, replaced parts of arrays included. `largest`: elements of the largest
    array that is computed or computed from; `widest`: the same without products, what is joined and
    what is looked up, which take little for an element. `convolves`: whether it has convolutions.
    """

    operations: int
    elements: int
    largest: int
    widest: int
    convolves: bool


def extent_of(program: Program) -> Work:
    """How much this program computes."""
    lines = program.instructions
    elements = widest = 0
    met = {i for i in program.outputs if Trait.REPLACES not in lines[i][0].traits}
    for i, (op, operands, _, type) in enumerate(lines):
        if Trait.REPLACES in op.traits:
            part = lines[operands[1]][3]
            elements += part.size
            met.update(operands[1:])
        elif op not in INPUTS and not op.traits & SHOWING:
            elements += size_of(type)
            met.update((i, *operands[Trait.PICKS in op.traits :]))
            if not _is_light(op, _body(program, i)):
                widest = max(widest, size_of(type), *(size_of(lines[j][3]) for j in operands))
    largest = max((size_of(lines[i][3]) for i in met), default=0)
    return Work(operations_of(program), elements, largest, widest, has_op(program, convolution))


def _is_light(op: Op, body: Program | None) -> bool:
    """Whether an op takes little for an element of a large operand. body: that of a composite."""
    if op is dot_general or op is concatenate or Trait.PICKS in op.traits:
        return True
    return body is not None and has_op(body, dot_general)


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
    for i, (_, _, attrs, _) in enumerate(program.instructions):
        for value in attrs:
            if isinstance(value, Definition):
                yield from value.programs
        body = _body(program, i)
        if body is not None:
            yield body


def _body(program: Program, index: int) -> Program | None:
    """The body of an instruction, if that is a composite."""
    lines = program.instructions
    op, operands, attrs, _ = lines[index]
    if not isinstance(op, Composite):
        return None
    return op.program(tuple(lines[j][3] for j in operands), op.attrs_of(attrs))
