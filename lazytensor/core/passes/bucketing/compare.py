"""Two programs that differ in sizes only, side by side: which axes grow.

Composites that sizes pass through are opened, as their bodies may depend on a size: so the lines
found here are of primitive ops, or of composites whose types are the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import PARAMETER, Op, element
from lazytensor.core.ir.program import SLOTS, Program
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.control import Region
from lazytensor.core.passes.scalar_expression import Constant, Slot


class GrownAxis(NamedTuple):
    """An axis of `factor` times as many elements as the size that changes, and `extra` more.

    Where `factor` is not 1, other axes were joined with it: `inner` elements of them lie after each
    of its own, None if the elements along the axis are all alike.
    """

    extra: int
    factor: int = 1
    inner: int | None = 1

    @property
    def is_joined(self) -> bool:
        """Whether other axes are part of it."""
        return self.factor != 1

    def is_like(self, other: GrownAxis) -> bool:
        """Whether the two are of one length."""
        return self[:2] == other[:2]


Grown = tuple[Any, ...]
"""Per axis: None, or its extent. Of several results: of each."""
Value = int | tuple[int, ...]


class Refused(Exception):
    """A program that cannot be padded; the text says why."""


def refuse_joined(op: Op, *extents: GrownAxis | None) -> None:
    """Refuse what an op does along axes of which one is joined with others."""
    if any(extent is not None and extent.is_joined for extent in extents):
        raise Refused(f"{op.name} along an axis that grows joined with others")


class Line(NamedTuple):
    """An instruction of the opened program.

    `grown` is of its result, if that is one. `slot` is where a slot's value is from, and `varies`
    whether that is another in the other program. `origin`: the instruction that it belongs to.
    `regions`: what its bodies are, if it is a loop.
    """

    op: Op
    operands: tuple[int, ...]
    attrs: tuple[Any, ...]
    type: Any
    grown: Grown
    origin: int
    slot: Slot | Constant | None = None
    varies: bool = False
    regions: tuple[Opened, ...] = ()


def extents(grown: Grown) -> Iterator[GrownAxis]:
    """All axes that grow, of all results."""
    for part in grown:
        if isinstance(part, GrownAxis):
            yield part
        elif part is not None:
            yield from extents(part)


def is_like(grown: Grown, other: Grown) -> bool:
    """Whether axes grow to the same lengths."""
    for x, y in zip(grown, other, strict=True):
        if x is None or y is None:
            if x is not y:
                return False
        elif not (x.is_like(y) if isinstance(x, GrownAxis) else is_like(x, y)):
            return False
    return True


class Opened(NamedTuple):
    """A program's lines, its outputs among them, and the size that changes."""

    lines: list[Line]
    outputs: tuple[int, ...]
    size: int


class SlottedProgram(NamedTuple):
    """A program and the values of its slots."""

    program: Program
    slots: Sequence[Any]


def opened(new: SlottedProgram, old: SlottedProgram) -> Opened:
    """The lines of `new`, and how they have grown since `old`. Raises: Refused."""
    opening = _Opening(*_size_and_step(new.program, old.program))
    values = opening.walk(new, old)
    outputs = tuple(i for i in map(values.__getitem__, new.program.outputs) if isinstance(i, int))
    return Opened(opening.lines, outputs, opening.size)


def _size_and_step(new: Program, old: Program) -> tuple[int, int]:
    """The size that changes, and by how much: the least that any axis does."""
    pairs = zip(new.instructions, old.instructions, strict=False)
    types = [(line[3], other[3]) for line, other in pairs]
    sizes = [
        pair for both in types if tuple not in map(type, both)
        for pair in zip(both[0].shape, both[1].shape, strict=False) if pair[0] != pair[1]
    ]  # fmt: skip
    if not sizes:
        raise Refused("none of its sizes changes")
    size, other = min(sizes, key=lambda pair: abs(pair[0] - pair[1]))
    return size, size - other


class _Opening:
    def __init__(self, size: int, step: int, is_region: bool = False) -> None:
        self.lines: list[Line] = []
        self.size = size
        self.step = step
        self.is_region = is_region

    def region(self, new: Region, old: Region) -> Opened:
        """The lines of a loop's body, of which all numbers are constants."""
        opening = _Opening(self.size, self.step, is_region=True)
        mine, theirs = (SlottedProgram(each.program, each.program.constants) for each in (new, old))
        values = opening.walk(mine, theirs)
        outputs = [i for i in map(values.__getitem__, new.program.outputs) if isinstance(i, int)]
        return Opened(opening.lines, tuple(outputs), self.size)

    def walk(
        self,
        new: SlottedProgram,
        old: SlottedProgram,
        operands: Sequence[int] | None = None,
        origin: int = 0,
    ) -> list[Value]:
        """Add the lines of a program, or of a composite's body at `operands`; their values."""
        if len(new.program.instructions) != len(old.program.instructions):
            raise Refused("a composite of it takes other steps at another size")
        values: list[Value] = []
        inputs = iter(operands or ())
        scalars = iter(zip(new.slots, old.slots, strict=True))
        count = 0
        pairs = zip(new.program.instructions, old.program.instructions, strict=True)
        for i, (line, other) in enumerate(pairs):
            op, at, attrs, type = line
            place = i if operands is None else origin
            if op is not other[0] or at != other[1]:
                raise Refused("its operations are others at another size")
            if op is PARAMETER and operands is not None:
                values.append(next(inputs))
            elif op in SLOTS:
                mine, theirs = next(scalars)
                is_own = operands is None and not self.is_region
                slot = Slot(count) if is_own else Constant(mine)
                count += 1
                varies = repr(mine) != repr(theirs)  # which tells 0.0 from -0.0
                values.append(self._add(Line(op, (), (), type, _still(type), place, slot, varies)))
            elif op is element and isinstance(several := values[at[0]], tuple):
                values.append(several[attrs[0]])
            else:
                given = tuple(map(values.__getitem__, at))
                values.append(self._result(line, other, given, (new, old), place))
        return values

    def _result(
        self,
        line: Any,
        other: Any,
        given: tuple[Any, ...],
        sides: tuple[SlottedProgram, SlottedProgram],
        origin: int,
    ) -> Value:
        op, at, attrs, type = line
        types = [tuple(side.program.instructions[j][3] for j in at) for side in sides]
        same = type == other[3] and attrs == other[2] and types[0] == types[1]
        if isinstance(op, Composite) and not same:
            new, old = (
                op.program(t, op.attrs_of(a)) for t, a in zip(types, (attrs, other[2]), strict=True)
            )
            body = self.walk(
                SlottedProgram(new, new.constants),
                SlottedProgram(old, old.constants),
                given,
                origin,
            )
            results = tuple(i for i in map(body.__getitem__, new.outputs) if isinstance(i, int))
            return results if new.multiple else results[0]
        grown = self._grown(op, type, other[3])
        pairs = [] if same else zip(attrs, other[2], strict=True)
        regions = [self.region(*pair) for pair in pairs if isinstance(pair[0], Region)]
        return self._add(Line(op, given, attrs, type, grown, origin, regions=tuple(regions)))

    def _add(self, line: Line) -> int:
        self.lines.append(line)
        return len(self.lines) - 1

    def _grown(self, op: Op, type: Any, other: Any) -> Grown:
        """How each axis grows, where what is joined with it lies left open."""
        if not isinstance(type, TensorType):
            return tuple([self._grown(op, *pair) for pair in zip(type, other, strict=True)])
        if type.dtype != other.dtype or type.ndim != other.ndim:
            raise Refused(f"{op.name} gives another kind of array at another size")
        pairs = zip(type.shape, other.shape, strict=True)
        return tuple([None if n == m else self._extent(op, n, m) for n, m in pairs])

    def _extent(self, op: Op, n: int, m: int) -> GrownAxis:
        factor, rest = divmod(n - m, self.step)
        if rest or factor < 1 or n % factor:
            raise Refused(f"sizes of {op.name} do not grow together")
        return GrownAxis(n // factor - self.size, factor, 1 if factor == 1 else None)


def _still(type: TensorType) -> Grown:
    return (None,) * type.ndim
