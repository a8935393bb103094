"""Writing a padded program: instructions, slots for sizes, and what says where an axis ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import LazyTensorError
from lazytensor.core.ir.dtypes import S32, S64
from lazytensor.core.ir.op import DATUM, SLOT, Op
from lazytensor.core.ir.program import Instruction
from lazytensor.core.ir.types import Shape, TensorType, tensor_type
from lazytensor.core.ops.reduction import identity
from lazytensor.core.passes.bucketing.compare import Grown, GrownAxis, Refused, extents
from lazytensor.core.passes.scalar_expression import Constant, Slot

Fixed = tuple[int, int]
"""A slot and a position in it, where a rule has relied on a zero."""


def neutral(kind: str, dtype: np.dtype) -> Any:
    """What a reduction begins with, as a Python number."""
    return np.asarray(identity(kind, dtype)).astype(dtype).item()


class PaddedValue(NamedTuple):
    """A value of the padded program: its instruction, its type there, and the axes that grow.

    `scalar` is where a slot's value is from, if it does not vary with the size.
    """

    at: int
    type: Any
    grown: Grown
    scalar: Slot | Constant | None = None

    @property
    def grows(self) -> bool:
        """Whether an axis does."""
        return any(True for _ in extents(self.grown))


class Builder:
    """The instructions so far. A size of `n` or somewhat more has room in `capacity`.

    `given` are the values of the recorded program's slots at present. `slots`: per slot made, where
    its value is from. `origins`: per instruction, the recorded one that it belongs to.
    """

    def __init__(self, size: int, capacity: int, given: Sequence[Any]) -> None:
        self.size = size
        self.capacity = capacity
        self.given = given
        self.lines: list[Instruction] = []
        self.origins: list[int] = []
        self.slots: list[Slot | Constant] = []
        self.fixed: set[Fixed] = set()
        self.origin = 0
        self._ends: dict[int, PaddedValue] = {}
        self._masks: dict[GrownAxis, PaddedValue] = {}

    def line(self, op: Op, operands: Sequence[int], attrs: tuple[Any, ...], type: Any) -> int:
        """One more instruction; its index."""
        self.lines.append((op, tuple(operands), attrs, type))
        self.origins.append(self.origin)
        return len(self.lines) - 1

    def add(self, op: Op, *operands: PaddedValue, grown: Grown, **attrs: Any) -> PaddedValue:
        """An op at parts. Raises: Refused if it does not take them as they are."""
        try:
            signature = op.signature(tuple(x.type for x in operands), attrs)
        except LazyTensorError as error:
            raise Refused(str(error)) from None
        index = self.line(op, [x.at for x in operands], signature.attrs, signature.type)
        return PaddedValue(index, signature.type, grown)

    def room(self, extent: GrownAxis) -> int:
        """How many elements an axis has room for."""
        return extent.factor * self.capacity

    def shape(self, shape: Shape, grown: Grown) -> Shape:
        """A shape with room on the axes that grow."""
        return tuple(
            n if extent is None else self.room(extent)
            for n, extent in zip(shape, grown, strict=True)
        )

    def slot(self, source: Slot | Constant, type: TensorType, varies: bool) -> PaddedValue:
        """A slot; one that varies with the size is data from the start."""
        self.slots.append(source)
        index = self.line(DATUM if varies else SLOT, (), (), type)
        return PaddedValue(index, type, (None,) * type.ndim, None if varies else source)

    def scalar(self, value: Any, dtype: np.dtype) -> PaddedValue:
        """A number that is the same for all sizes."""
        return self.slot(Constant(value), tensor_type(dtype), varies=False)

    def starts(self, place: dict[int, int], ndim: int, grown: bool) -> PaddedValue:
        """Where to begin on some axes, 0 on the others; `grown`: that much past the size."""
        values = tuple(
            place[axis] + self.size * grown if axis in place else 0 for axis in range(ndim)
        )
        return self.slot(Constant(values), tensor_type(S64, (ndim,)), varies=grown)

    def is_zero(self, begin: PaddedValue, axis: int) -> bool:
        """Whether a slot is 0 on an axis, whatever the size; it is relied on then."""
        source = begin.scalar
        if source is None:
            return False
        if isinstance(source, Constant):
            return bool(source.value[axis] == 0)
        if self.given[source.position][axis] != 0:
            return False
        self.fixed.add((source.position, axis))
        return True

    def end(self, extra: int) -> PaddedValue:
        """How long an axis is: s64[]."""
        if extra not in self._ends:
            size = Constant(self.size + extra)
            self._ends[extra] = self.slot(size, tensor_type(S64), varies=True)
        return self._ends[extra]

    def inside(self, extent: GrownAxis, trailing: int) -> PaddedValue:
        """A flag per place on an axis, with `trailing` axes after it: whether it is not beyond."""
        if extent not in self._masks:
            self._masks[extent] = self._mask(extent)
        found = self._masks[extent]
        if not trailing:
            return found
        shape = found.type.shape + (1,) * trailing
        return self.add(ops.reshape, found, shape=shape, grown=(None,) * len(shape))

    def _mask(self, extent: GrownAxis) -> PaddedValue:
        if extent.is_joined:
            inner = extent.inner or 1
            of_own = self.inside(GrownAxis(extent.extra), 1)
            shape = extent.factor // inner, self.capacity, inner
            whole = self.add(ops.broadcast, of_own, shape=shape, grown=(None,) * 3)
            line = (self.room(extent),)
            return self.add(ops.reshape, whole, shape=line, grown=(None,))
        line = (self.capacity,)
        places = self.add(ops.iota, dtype=S32, shape=line, axis=0, grown=(None,))
        end = self.add(ops.convert, self.end(extent.extra), dtype=S32, grown=())
        return self.add(ops.less, places, end, grown=(None,))

    def replaced(self, x: PaddedValue, axes: Sequence[int], number: Any) -> PaddedValue:
        """`x` with a number, or a part that is one, in place of the elements beyond these axes."""
        for axis in axes:
            extent = x.grown[axis]
            if extent is not None:
                flags = self.inside(extent, x.type.ndim - 1 - axis)
                if not isinstance(number, PaddedValue):
                    number = self.scalar(number, x.type.dtype)
                x = self.add(ops.select, flags, x, number, grown=x.grown)
        return x

    def widened(self, x: PaddedValue, axis: int, low: int, high: int) -> PaddedValue:
        """`x` with `low` zeros before an axis and `high` after it; negative counts cut elements."""
        befores, afters = ([0] * x.type.ndim for _ in range(2))
        befores[axis], afters[axis] = low, high
        return self.add(
            ops.pad,
            x,
            self.scalar(0, x.type.dtype),
            low=tuple(befores),
            high=tuple(afters),
            interior=(0,) * x.type.ndim,
            grown=x.grown,
        )
