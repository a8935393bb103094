"""Which inputs a program may overwrite with which outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import element
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.sharding import Sharding, first_axis
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ops.sharding import sharding_constraint

SMALLEST_BUFFER: Final = 16 * 1024
"""Bytes under which giving a buffer back to the allocator costs nothing worth saving."""


def donations(program: Program, owned: Sequence[bool]) -> tuple[tuple[int, int], ...]:
    """Pairs (position among the parameters, position among the outputs).

    `owned` says which parameters nobody else needs. A parameter goes to the output that updates
    it in place, if there is one, to a later version of it, or else to any output of its type: even
    where XLA has to copy, a fresh buffer's page faults would cost more.
    """
    lines = program.instructions
    free = {
        index: position
        for position, index in enumerate(program.parameters)
        if owned[position] and lines[index][3].nbytes >= SMALLEST_BUFFER
    }
    pairs: dict[int, int] = {}
    fits = _fitting(program)
    for base_of in (_updated, _ancestor):
        for at, output in enumerate(program.outputs):
            base = base_of(program, output)
            if at not in pairs and base in free and fits(base, at):
                pairs[at] = free.pop(base)
    if program.meshes:
        return tuple((position, at) for at, position in pairs.items())
    for at, output in enumerate(program.outputs):
        if at not in pairs:
            match = next((i for i in free if lines[i][3] is lines[output][3]), None)
            if match is not None:
                pairs[at] = free.pop(match)
    return tuple((position, at) for at, position in pairs.items())


def _fitting(program: Program) -> Callable[[int, int], bool]:
    """Whether an output, by position, may take the place of an instruction: types, shardings."""
    lines = program.instructions
    splits, given = kept_splits(program), _given(program)

    def fits(base: int, at: int) -> bool:
        if lines[base][3] is not lines[program.outputs[at]][3]:
            return False
        return not program.meshes or (at in splits and splits[at] is given.get(base))

    return fits


def _given(program: Program) -> dict[int, Sharding]:
    """Per parameter that is split, by instruction, its sharding."""
    pairs = zip(program.parameters, program.shardings, strict=False)
    return {index: sharding for index, sharding in pairs if sharding is not None}


def kept_splits(program: Program) -> dict[int, Sharding]:
    """By position, the shardings of outputs that the partitioner is not to choose.

    A later version of a parameter is split as that is. So state that a step updates stays where it
    is, and can be updated in place. Large results of a program that is spread are split too. What
    the program itself constrains is as it says.
    """
    lines, found, given = program.instructions, {}, _given(program)
    for at, output in enumerate(program.outputs):
        op, _, attrs, type = lines[output]
        if op is sharding_constraint:
            found[at] = attrs[0]
            continue
        base = version_of(program, output) if given else output
        sharding = given.get(base)
        if sharding is not None and lines[base][3] is type:
            found[at] = sharding
        elif program.spread is not None:
            wanted = first_axis(program.spread, type.shape, type.nbytes)
            if wanted is not None:
                found[at] = wanted
    return found


def version_of(program: Program, index: int) -> int:
    """The instruction that `index` is a later version of, by updates and elementwise operations."""
    while True:
        op, operands, attrs, type = program.instructions[index]
        base: int | None = None
        if op is element:
            index = operands[0]
            base = _base_within(program, index, attrs[0])
        elif Trait.ELEMENTWISE in op.traits or Trait.REPLACES in op.traits:
            base = 0
        elif isinstance(op, Composite):
            base = _base_within(program, index, 0)
        operands = program.instructions[index][1]
        if base is None or program.instructions[operands[base]][3] is not type:
            return index
        index = operands[base]


def _updated(program: Program, index: int) -> int:
    """The instruction that `index` is with parts replaced."""
    while Trait.REPLACES in program.instructions[index][0].traits:
        index = program.instructions[index][1][0]
    return index


def _ancestor(program: Program, index: int) -> int:
    """The instruction that `index` is a later version of: its first operand, and so on.

    An optimizer's outputs are of few types. Were a parameter's buffer given to any of that type,
    XLA would have to copy, as that one's own update still reads it.
    """
    lines = program.instructions
    while True:
        op, operands, attrs, type = lines[index]
        if op is element:
            index, base = operands[0], _base_within(program, operands[0], attrs[0])
        else:
            base = _base_within(program, index, 0) if isinstance(op, Composite) else 0
        operands = lines[index][1]
        if base is None or not operands or lines[operands[base]][3] is not type:
            return index
        index = operands[base]


def _base_within(program: Program, index: int, result: int) -> int | None:
    """Which operand of a composite its result is a later version of, if of any."""
    op, operands, attrs, _ = program.instructions[index]
    if not isinstance(op, Composite):
        return None
    types = tuple(program.instructions[i][3] for i in operands)
    body = op.program(types, op.attrs_of(attrs))
    base = _ancestor(body, body.outputs[result])
    return body.parameters.index(base) if base in body.parameters else None
