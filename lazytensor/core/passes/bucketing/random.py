"""Random bits of an array with room: each element's are those that it has without room.

What Philox draws for an element follows from its place among all elements, in rows. So as many as
there is room for are drawn in a line, and each element takes those at its own place.
"""

from __future__ import annotations

from math import prod

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.types import Shape
from lazytensor.core.passes.bucketing.builder import Builder, PaddedValue
from lazytensor.core.passes.bucketing.compare import Grown, Line, Refused, extents, refuse_joined


def drawn(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    """The state and the bits, which are a line: `laid` puts them where they belong."""
    attrs = line.op.attrs_of(line.attrs)
    if attrs["algorithm"] != "PHILOX":
        raise Refused("it draws random numbers that depend on the size of the whole array")
    refuse_joined(line.op, *extents(line.grown))
    count = prod(b.shape(attrs["shape"], line.grown[1]))
    return b.add(line.op, *operands, **attrs | {"shape": (count,)}, grown=line.grown)


def laid(b: Builder, line: Line, bits: PaddedValue) -> PaddedValue:
    """What `line` takes of the results of `drawn`."""
    grown = line.grown
    if not bits.grows:
        raise Refused("where a random stream goes on depends on the size")
    shape = b.shape(line.type.shape, grown)
    end = max(axis for axis, extent in enumerate(grown) if extent is not None) + 1
    if prod(shape[: end - 1]) == 1:  # places are the same with room
        return b.add(ops.reshape, bits, shape=shape, grown=grown)
    rows = (prod(shape[:end]), *shape[end:])  # of axes that lie together, room included
    lines = b.add(ops.reshape, bits, shape=rows, grown=(None,) * len(rows))
    return b.add(ops.gather, lines, _places(b, shape[:end], grown[:end]), axes=(0,), grown=grown)


def _places(b: Builder, shape: Shape, grown: Grown) -> PaddedValue:
    """The place of each element in the array without room, counted in rows."""
    found: PaddedValue | None = None
    for axis, extent in enumerate(grown):
        own = b.add(ops.iota, dtype=S64, shape=shape, axis=axis, grown=grown)
        if found is not None:
            length = b.scalar(shape[axis], S64) if extent is None else b.end(extent.extra)
            before = b.add(ops.multiply, found, length, grown=grown)
            own = b.add(ops.add, before, own, grown=grown)
        found = own
    assert found is not None, "an axis grows"
    return found
