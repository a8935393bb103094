"""Reshapes of axes that grow: which of the result's axes do, and what is joined with them."""

from __future__ import annotations

from collections.abc import Iterator

from lazytensor.core.ir.types import Shape
from lazytensor.core.passes.bucketing.compare import Grown, GrownAxis, Refused


def reshaped(shape: Shape, grown: Grown, new: Shape, wanted: Grown) -> Grown:
    """How the axes of `new` grow, of which `wanted` says how long they are.

    shape, grown: of the operand. Raises: Refused where an axis of the result has more than one that
    grows in it, or a part of one.
    """
    reading = _Reading(shape, grown)
    found: list[GrownAxis | None] = []
    for n, extent in zip(new, wanted, strict=True):
        if extent is None:
            reading.take(n)
            found.append(None)
        else:
            found.append(reading.grow(extent))
    reading.end()
    return tuple(found)


class _Reading:
    """An operand's axes from the first on, as elements of axes that do not grow (`run`: those that
    were read, and not taken yet) and axes that do (`next`).
    """

    def __init__(self, shape: Shape, grown: Grown) -> None:
        self.axes: Iterator[int | GrownAxis] = iter(
            [n if extent is None else extent for n, extent in zip(shape, grown, strict=True)]
        )
        self.run = 1
        self.next: GrownAxis | None = None
        self._read()

    def _read(self) -> None:
        """Read on to the next axis that grows."""
        self.next = None
        for axis in self.axes:
            if isinstance(axis, GrownAxis):
                self.next = axis
                if axis.inner is not None:
                    self.run *= axis.factor // axis.inner
                return
            self.run *= axis

    def take(self, count: int) -> None:
        """An axis that does not grow."""
        if self.run % count and self.run == 1 and self._is_uniform():
            self._split(count)
        elif self.run % count:
            raise Refused("reshape makes other axes of one that grows")
        else:
            self.run //= count

    def _is_uniform(self) -> bool:
        return self.next is not None and self.next.inner is None

    def _split(self, count: int) -> None:
        """Take `count` elements of the joined axes, with an axis of elements that are all alike."""
        assert self.next is not None
        factor, rest = divmod(self.next.factor, count)
        if rest:
            raise Refused("reshape makes other axes of one that grows")
        self.next = GrownAxis(self.next.extra, factor, 1 if factor == 1 else None)

    def grow(self, wanted: GrownAxis) -> GrownAxis:
        """An axis that grows."""
        axis = self.next
        if axis is None or axis.extra != wanted.extra:
            raise Refused("reshape makes other axes of one that grows")
        if axis.inner is None and self.run == 1 and axis.factor % wanted.factor == 0:
            self.run = axis.factor // wanted.factor
            self._read()
            return wanted
        outer = self.run * (axis.factor if axis.inner is None else 1)
        within, rest = divmod(wanted.factor, outer)
        self.run = axis.inner or 1
        self._read()
        if rest or self.run % within:
            raise Refused("reshape makes other axes of one that grows")
        self.run //= within
        return GrownAxis(wanted.extra, wanted.factor, within)

    def end(self) -> None:
        """There is nothing left."""
        if self.next is not None or self.run != 1:
            raise Refused("reshape makes other axes of one that grows")
