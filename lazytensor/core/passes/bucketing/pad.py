"""From a program and how it has grown to the one with room for more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.ir.program import INPUTS, Instruction, Program, size_of
from lazytensor.core.passes.bucketing.builder import Builder, Fixed, PaddedValue
from lazytensor.core.passes.bucketing.compare import Grown, Line, Opened, Refused, extents, is_like
from lazytensor.core.passes.bucketing.rules import rule_of
from lazytensor.core.passes.bucketing.while_loop import looped
from lazytensor.core.passes.scalar_expression import Constant, Slot

SMALLEST_CAPACITY: Final = 16
"""The least that there is room for."""
FIRST_CAPACITY: Final = 64
"""The same where that costs next to nothing: two capacities less are two programs less."""
TWO_AXES_ELEMENTS: Final = 2**20
"""Elements of an array that must not have two axes with room: it would take four times as much."""


class Link(NamedTuple):
    """How a run of a program is one of a program with room for `capacity` elements.

    `slots`: per slot of that, where the value is from. `fixed`: where slots have to be zero.
    `guards`: of each guard, its instruction there and the recorded one. `waste`: elements computed
    there, and not in what was recorded.
    """

    capacity: int
    slots: tuple[Slot | Constant, ...]
    fixed: tuple[Fixed, ...]
    guards: tuple[tuple[int, int], ...]
    waste: int


class Roomy(NamedTuple):
    """A program with room. `origins`: per instruction, the recorded one that it belongs to."""

    program: Program
    link: Link
    origins: tuple[int, ...]


def roomy(
    opened: Opened, given: Sequence[Any], varying: set[int], least: int = SMALLEST_CAPACITY
) -> Roomy:
    """The program with room for `least` or more; `given` are its slots, those at `varying` never
    the same.

    Raises: Refused.
    """
    lines = opened.lines
    most = max(extent.extra for line in lines for extent in extents(line.grown))
    capacity = capacity_for(opened.size + most, least)
    b = Builder(opened.size, capacity, given)
    parts: list[PaddedValue] = []
    for line in lines:
        b.origin = line.origin
        operands = [parts[i] for i in line.operands]
        part = _part(b, line, operands, varying)
        if not is_like(part.grown, line.grown):
            raise Refused(f"{line.op.name} grows in another way than its operands")
        two = part.type.__class__ is not tuple and len([*extents(part.grown)]) > 1
        if two and part.type.size > TWO_AXES_ELEMENTS:
            raise Refused(f"{line.op.name} makes a large array that grows on two axes")
        parts.append(part)
    if any(_has_joined(parts[i].grown) for i in opened.outputs):
        raise Refused("a result has an axis that grows joined with others")
    program = Program(tuple(b.lines), tuple(parts[i].at for i in opened.outputs))
    waste = cost(b.lines) - cost([tuple(line[:4]) for line in lines])
    guards = tuple((at, b.origins[at]) for at in program.guards)
    link = Link(capacity, tuple(b.slots), tuple(b.fixed), guards, waste)
    return Roomy(program, link, tuple(b.origins))


def _has_joined(grown: Grown) -> bool:
    return any(extent.is_joined for extent in extents(grown))


def capacity_for(size: int, least: int = SMALLEST_CAPACITY) -> int:
    """Room for a size: `least`, or at most twice as much, so that a loop meets few of them."""
    return max(least, 1 << (size - 1).bit_length())


def _part(b: Builder, line: Line, operands: list[PaddedValue], varying: set[int]) -> PaddedValue:
    op, type = line.op, line.type
    if op is PARAMETER:
        if _has_joined(line.grown):
            raise Refused("an input has an axis that grows joined with others")
        type = type.with_shape(b.shape(type.shape, line.grown))
        return PaddedValue(b.line(op, (), (), type), type, line.grown)
    if line.slot is not None:
        return b.slot(line.slot, type, line.varies or _may_vary(line, varying))
    if line.regions:
        return looped(b, line, operands, partial(_part, varying=set()))
    if not any(x.grows for x in operands) and not any(True for _ in extents(line.grown)):
        return PaddedValue(b.line(op, [x.at for x in operands], line.attrs, type), type, line.grown)
    return rule_of(op)(b, line, operands)


def _may_vary(line: Line, varying: set[int]) -> bool:
    """Whether a number that was recorded is data: a count or a flag may well be of the size."""
    if not isinstance(line.slot, Slot):
        return False
    return line.slot.position in varying or (not line.type.shape and line.type.dtype.kind in "iub")


PRODUCTS: Final = 12
"""Products added up in the time of one element: 46 a nanosecond on two cores, where an element is
read and written in 0.25."""


def cost(lines: Sequence[Instruction | tuple[Any, ...]]) -> int:
    """Elements computed, products added up among them."""
    total = 0
    for op, operands, attrs, type in lines:
        if op in INPUTS:
            continue
        size = size_of(type)
        if op is ops.dot_general:
            x = lines[operands[0]][3]
            terms = math.prod(x.shape[axis] for axis in op.attrs_of(attrs)["contract"][0])
            size *= max(1, terms // PRODUCTS)
        total += size
    return total
