"""Loops over what grows: the same loop over what has room, for as many rounds as before.

How many these are is an operand. So a body may not depend on a size: it has no ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.control import Region
from lazytensor.core.passes.bucketing.builder import Builder, PaddedValue
from lazytensor.core.passes.bucketing.compare import Grown, Line, Opened, Refused, is_like
from lazytensor.core.passes.scalar_expression import Constant, Slot

Emit = Callable[[Builder, Line, list[PaddedValue]], PaddedValue]


class _Inside(Builder):
    """The instructions of a body."""

    def slot(self, source: Slot | Constant, type: TensorType, varies: bool) -> PaddedValue:
        if varies:
            raise Refused("a loop's body has a number of its own for each size")
        return super().slot(source, type, varies)

    def end(self, extra: int) -> PaddedValue:
        raise Refused("a loop's body depends on where an axis ends")


def looped(b: Builder, line: Line, operands: list[PaddedValue], emit: Emit) -> PaddedValue:
    """`while` or `scan` of parts. Raises: Refused."""
    if line.op is ops.scan:
        return _scanned(b, line, operands, emit)
    if line.op is not ops.while_:
        raise Refused(f"{line.op.name} has bodies that grow")
    state, attrs = [x.grown for x in operands], line.op.attrs_of(line.attrs)
    regions = {}
    for name, opened in zip(("condition", "body"), line.regions, strict=True):
        region: Region = attrs[name]
        made, grown = _body(b, opened, emit, state, region.program.multiple)
        regions[name] = Region(region.name, made)
    if grown != state:
        raise Refused("a loop's state grows in another way than it began")
    results: Any = tuple(state) if len(state) > 1 else state[0]
    return b.add(ops.while_, *operands, grown=results, **regions)


def _scanned(b: Builder, line: Line, operands: list[PaddedValue], emit: Emit) -> PaddedValue:
    attrs = line.op.attrs_of(line.attrs)
    region, given, state = attrs["body"], attrs["given"], attrs["state"]
    end, *rest = (x.grown for x in operands)
    taken = [end, *(grown[1:] for grown in rest[:given]), *rest[given:]]
    made, grown = _body(b, line.regions[0], emit, taken, region.program.multiple)
    if grown[:state] != rest[given : given + state]:
        raise Refused("a loop's state grows in another way than it began")
    results: Any = (*grown[:state], *((rest[0][0], *lines) for lines in grown[state:]))
    attrs["body"] = Region(region.name, made)
    return b.add(ops.scan, *operands, grown=results if len(results) > 1 else results[0], **attrs)


def _body(
    b: Builder, opened: Opened, emit: Emit, state: list[Grown], multiple: bool
) -> tuple[Program, list[Grown]]:
    """A body's program with room, and how its results grow."""
    inside = _Inside(b.size, b.capacity, ())
    parts: list[PaddedValue] = []
    given = iter(state)
    for line in opened.lines:
        part = emit(inside, line, [parts[i] for i in line.operands])
        if line.op is PARAMETER and part.grown != next(given):
            raise Refused("a loop's body takes what grows in another way")
        if not is_like(part.grown, line.grown):
            raise Refused(f"{line.op.name} grows in another way than its operands")
        parts.append(part)
    results = [parts[i] for i in opened.outputs]
    constants = tuple(source.value for source in inside.slots if isinstance(source, Constant))
    made = Program(tuple(inside.lines), tuple(x.at for x in results), multiple, constants)
    return made, [x.grown for x in results]
