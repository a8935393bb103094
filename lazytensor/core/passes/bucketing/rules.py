"""How each op treats axes with room to grow. An op without a row here is not padded.

A rule is called where an operand or the result grows. It gets the line as it was recorded, whose
types and attributes are of the present size, and the operands in the padded program; it emits what
gives the result there. What lies beyond an operand's end is anything, and may be so in the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, FLOATS, S64
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.trait import Trait
from lazytensor.core.passes.bucketing.builder import Builder, PaddedValue, neutral
from lazytensor.core.passes.bucketing.compare import Grown, GrownAxis, Line, Refused, refuse_joined
from lazytensor.core.passes.bucketing.random import drawn, laid
from lazytensor.core.passes.bucketing.reshape import reshaped
from lazytensor.core.passes.bucketing.windows import convolved, slid

Rule = Callable[[Builder, Line, list[PaddedValue]], PaddedValue]


def rule_of(op: Op) -> Rule:
    """What pads an op. Raises: Refused if nothing does."""
    if Trait.ELEMENTWISE in op.traits:
        return _elementwise
    if op not in PAD_RULES:
        raise Refused(f"{op.name} has no rule for it in lazytensor/core/passes/bucketing/rules.py")
    return PAD_RULES[op]


def _attrs(line: Line) -> dict[str, Any]:
    return line.op.attrs_of(line.attrs)


def _axes(grown: Grown) -> list[int]:
    """The axes that grow."""
    return [axis for axis, extent in enumerate(grown) if extent is not None]


def _together(x: GrownAxis | None, y: GrownAxis | None) -> GrownAxis | None:
    """How an axis grows on which both lie. Raises: Refused."""
    if x is None or y is None:
        if x is not y:
            raise Refused("an axis that grows meets one that does not")
        return x
    if not x.is_like(y):
        raise Refused("two axes that grow meet, and one is longer")
    if x.inner is None or y.inner is None:
        return x if y.inner is None else y
    if x.inner != y.inner:
        raise Refused("two axes that grow meet, and other axes are joined with them in other ways")
    return x


# --- elements where they are ---------------------------------------------------------------------


def _elementwise(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    grown = _broadcast_together(operands, len(line.grown))
    return b.add(line.op, *operands, grown=grown, **_attrs(line))


def _broadcast_together(operands: list[PaddedValue], ndim: int) -> Grown:
    """Which axes of the result grow. An axis that does meets its like, or one element."""
    found: list[GrownAxis | None] = [None] * ndim
    for x in operands:
        for axis, extent in enumerate(x.grown, ndim - len(x.grown)):
            if extent is not None:
                found[axis] = _together(found[axis] or extent, extent)
    for x in operands:
        offset = ndim - x.type.ndim
        for axis, n in enumerate(x.type.shape):
            if found[axis + offset] is not None and x.grown[axis] is None and n != 1:
                raise Refused("an axis that grows meets one that does not")
    return tuple(found)


def _iota(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    attrs = _attrs(line)
    refuse_joined(line.op, line.grown[attrs["axis"]])
    shape = b.shape(line.type.shape, line.grown)
    return b.add(line.op, **attrs | {"shape": shape}, grown=line.grown)


# --- elements moved ------------------------------------------------------------------------------


def _broadcast(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (x,) = operands
    offset = len(line.grown) - x.type.ndim
    grown = list(line.grown)
    for axis, (n, extent) in enumerate(zip(x.type.shape, x.grown, strict=True), offset):
        if extent is not None or n != 1:
            grown[axis] = _together(extent, line.grown[axis])
    shape = b.shape(line.type.shape, line.grown)
    return b.add(ops.broadcast, x, shape=shape, grown=tuple(grown))


def _reshape(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (x,) = operands
    grown = reshaped(x.type.shape, x.grown, line.type.shape, line.grown)
    return b.add(ops.reshape, x, shape=b.shape(line.type.shape, line.grown), grown=grown)


def _transpose(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (x,), (axes,) = operands, line.attrs
    return b.add(ops.transpose, x, axes=axes, grown=tuple(x.grown[axis] for axis in axes))


def _slice(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    x, begin = operands
    sizes, strides = line.attrs
    axes, kept = _axes(line.grown), list(line.grown)
    for axis, pair in enumerate(zip(x.grown, line.grown, strict=True)):
        if any(extent is not None and extent.is_joined for extent in pair):
            if not _is_whole(*pair) or not b.is_zero(begin, axis):
                raise Refused("a part of an axis that grows joined with others")
            kept[axis] = x.grown[axis]
    grown = tuple(kept)
    if any(strides[axis] != 1 for axis in axes):
        raise Refused("a slice with steps is as long as what grows")
    whole = set(strides) <= {1}
    for axis in axes:
        extent, length = grown[axis], x.type.shape[axis]
        if extent is not None and extent.is_joined:
            continue
        if not b.is_zero(begin, axis):
            whole = False
            x = b.widened(x, axis, 0, b.capacity)  # or the start would be taken back
        elif length < b.capacity:
            x = b.widened(x, axis, 0, b.capacity - length)
    sizes = b.shape(sizes, line.grown)
    if whole and sizes == x.type.shape:
        return x._replace(grown=grown)
    return b.add(ops.slice, x, begin, sizes=sizes, strides=strides, grown=grown)


def _is_whole(extent: GrownAxis | None, part: GrownAxis | None) -> bool:
    return extent is not None and part is not None and part.is_like(extent)


def _update_slice(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    x, value, begin = operands
    (strides,) = line.attrs
    axes = _axes(value.grown)
    refuse_joined(line.op, *x.grown, *value.grown)
    if any(strides[axis] != 1 or not b.is_zero(begin, axis) for axis in axes):
        raise Refused("what grows is written elsewhere than at the start of an axis")
    inside = None
    for axis in axes:
        extent, room = value.grown[axis], x.type.shape[axis] - value.type.shape[axis]
        assert extent is not None
        if room:
            value = b.widened(value, axis, 0, room)
        if x.grown[axis] == extent:
            continue
        flags = b.inside(extent, 0)
        flags = b.widened(flags, 0, 0, room) if room else flags
        shape = tuple(n if i == axis else 1 for i, n in enumerate(x.type.shape))
        flags = b.add(ops.reshape, flags, shape=shape, grown=_none(x))
        inside = flags if inside is None else b.add(ops.and_, inside, flags, grown=_none(x))
    if inside is not None:
        old = b.add(ops.slice, x, begin, sizes=value.type.shape, strides=strides, grown=value.grown)
        value = b.add(ops.select, inside, value, old, grown=value.grown)
    return b.add(ops.update_slice, x, value, begin, strides=strides, grown=x.grown)


def _none(x: PaddedValue) -> Grown:
    return (None,) * len(x.grown)


def _pad(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    x, value = operands
    attrs = _attrs(line)
    low, high = list(attrs["low"]), list(attrs["high"])
    lengths, grown = b.shape(line.type.shape, line.grown), list(line.grown)
    for axis, extent in enumerate(line.grown):
        own = x.grown[axis]
        if extent is None and own is None:
            continue
        if extent is not None and extent.is_joined and not low[axis] and not high[axis]:
            grown[axis] = _together(own, extent)
            continue
        refuse_joined(line.op, extent, own)
        if extent is None or attrs["interior"][axis]:
            raise Refused("pad makes an axis that grows into one that does not, or parts elements")
        x = b.replaced(x, [axis], value)
        high[axis] = lengths[axis] - x.type.shape[axis] - low[axis]
    attrs |= {"low": tuple(low), "high": tuple(high)}
    return b.add(ops.pad, x, value, grown=tuple(grown), **attrs)


def _concatenate(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (axis,) = line.attrs
    others = _other(operands[0].grown, axis)
    for x in operands[1:]:
        pairs = zip(others, _other(x.grown, axis), strict=True)
        others = tuple([_together(*pair) for pair in pairs])
    long = [i for i, x in enumerate(operands) if x.grown[axis] is not None]
    refuse_joined(line.op, line.grown[axis])
    grown = (*others[:axis], line.grown[axis], *others[axis:])
    if not long:
        return b.add(ops.concatenate, *operands, axis=axis, grown=grown)
    if len(long) > 1:
        raise Refused("concatenate of several arrays that grow")
    (at,) = long
    before, x, after = operands[:at], operands[at], operands[at + 1 :]
    extent = x.grown[axis]
    assert extent is not None
    shift = sum(part.type.shape[axis] for part in before)
    made = b.widened(x, axis, shift, -shift) if shift else x
    made = made._replace(grown=grown)
    strides = (1,) * x.type.ndim
    for parts, begin, past in ((before, 0, False), (after, shift + extent.extra, True)):
        if parts:
            joined = parts[0] if len(parts) == 1 else _joined(b, parts, axis)
            starts = b.starts({axis: begin}, x.type.ndim, past)
            made = b.add(ops.update_slice, made, joined, starts, strides=strides, grown=grown)
    return made


def _joined(b: Builder, parts: list[PaddedValue], axis: int) -> PaddedValue:
    return b.add(ops.concatenate, *parts, axis=axis, grown=parts[0].grown)


def _other(grown: Grown, axis: int) -> Grown:
    return grown[:axis] + grown[axis + 1 :]


# --- sums and searches ---------------------------------------------------------------------------


def _reduction(kind: str, b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (x,), (axes,) = operands, line.attrs
    if any(x.grown[axis] is not None for axis in axes):
        x = b.replaced(x, axes, neutral(kind, x.type.dtype))
    grown = tuple(extent for axis, extent in enumerate(x.grown) if axis not in axes)
    return b.add(line.op, x, axes=axes, grown=grown)


def _arg(kind: str, b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (x,), (axis,) = operands, line.attrs
    refuse_joined(line.op, x.grown[axis])
    x = b.replaced(x, [axis], neutral(kind, x.type.dtype))
    return b.add(line.op, x, axis=axis, grown=_other(x.grown, axis))


def _cumulative(kind: str, b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (x,), attrs = operands, _attrs(line)
    extent = x.grown[attrs["axis"]]
    if attrs["reverse"] or (extent is not None and extent.is_joined):
        x = b.replaced(x, [attrs["axis"]], neutral(kind, x.type.dtype))
    return b.add(line.op, x, grown=x.grown, **attrs)


def _dot_general(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    attrs = _attrs(line)
    batch, contract = attrs["batch"], attrs["contract"]
    both = [list(z.grown) for z in operands]
    for pair in (batch, contract):
        for i, j in zip(*pair, strict=True):
            both[0][i] = both[1][j] = _together(both[0][i], both[1][j])
    x, y = (z._replace(grown=tuple(grown)) for z, grown in zip(operands, both, strict=True))
    x, y = (b.replaced(z, contract[side], 0) for side, z in enumerate((x, y)))
    shared = tuple(x.grown[axis] for axis in batch[0])
    free = [
        tuple(extent for i, extent in enumerate(z.grown) if i not in batch[side] + contract[side])
        for side, z in enumerate((x, y))
    ]
    return b.add(ops.dot_general, x, y, grown=shared + free[0] + free[1], **attrs)


def _last_key(dtype: np.dtype) -> Any:
    """A key that sorts after all others, or beside them: sorts are stable."""
    if dtype in FLOATS:
        return math.nan
    return True if dtype == BOOL else int(np.iinfo(dtype).max)


def _sort(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    attrs = _attrs(line)
    if len(operands) > 1 or (attrs["descending"] and operands[0].grown[attrs["axis"]] is not None):
        raise Refused("a sort that is descending, or of several arrays")
    (x,) = operands
    refuse_joined(line.op, x.grown[attrs["axis"]])
    x = b.replaced(x, [attrs["axis"]], _last_key(x.type.dtype))
    return b.add(line.op, x, grown=x.grown, **attrs)


# --- positions that are data ---------------------------------------------------------------------


def _clamped(b: Builder, indices: PaddedValue, extent: GrownAxis | None) -> PaddedValue:
    """Indices on an axis, too large ones being that of its last element."""
    if extent is None:
        return indices
    refuse_joined(ops.gather, extent)
    one = b.scalar(1, S64)
    last = b.add(ops.subtract, b.end(extent.extra), one, grown=())
    return b.add(ops.minimum, indices, last, grown=indices.grown)


def _gather(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    x, *indices = operands
    (axes,) = line.attrs
    found = [_clamped(b, i, x.grown[axis]) for i, axis in zip(indices, axes, strict=True)]
    ndim = max(i.type.ndim for i in indices)
    front = _broadcast_together(found, ndim)
    rest = tuple(extent for axis, extent in enumerate(x.grown) if axis not in axes)
    return b.add(ops.gather, x, *found, axes=axes, grown=front + rest)


def _scatter(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    """An update whose index is out of range is dropped: so are those that lie beyond an end."""
    x, updates, *indices = operands
    axes, attrs = line.attrs[0], _attrs(line)
    ndim = max(i.type.ndim for i in indices)
    front = _broadcast_together(indices, ndim)
    rest = tuple(extent for axis, extent in enumerate(x.grown) if axis not in axes)
    updates = updates._replace(grown=_all_together(updates.grown, front + rest))
    refuse_joined(line.op, *(x.grown[axis] for axis in axes))
    front = updates.grown[:ndim]
    for axis in (place - ndim for place in _axes(front)):  # counted from the last
        grows = [-axis <= len(index.grown) and index.grown[axis] for index in indices]
        at = next(i for i, found in enumerate(grows) if found)
        index = indices[at]
        place = len(index.grown) + axis
        own = (*index.grown[:place], front[axis], *index.grown[place + 1 :])
        beyond = x.type.shape[axes[at]]
        indices[at] = b.replaced(index._replace(grown=own), [place], beyond)
    return b.add(line.op, x, updates, *indices, grown=x.grown, **attrs)


def _all_together(grown: Grown, other: Grown) -> Grown:
    return tuple([_together(*pair) for pair in zip(grown, other, strict=True)])


def _take_along(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    x, indices = operands
    (axis,) = line.attrs
    indices = _clamped(b, indices, x.grown[axis])
    lines = [
        part._replace(
            type=part.type.with_shape((*part.type.shape[:axis], 1, *part.type.shape[axis + 1 :])),
            grown=(*part.grown[:axis], None, *part.grown[axis + 1 :]),
        )
        for part in (x, indices)
    ]
    grown = list(_broadcast_together(lines, x.type.ndim))
    grown[axis] = indices.grown[axis]
    return b.add(ops.take_along, x, indices, axis=axis, grown=tuple(grown))


def _guarded(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    x, ok = operands
    if ok.grows:
        raise Refused("a check of as many flags as there are elements")
    return b.add(line.op, x, ok, grown=x.grown)


def _element(b: Builder, line: Line, operands: list[PaddedValue]) -> PaddedValue:
    (several,), (place,) = operands, line.attrs
    index = b.line(line.op, [several.at], line.attrs, several.type[place])
    found = PaddedValue(index, several.type[place], several.grown[place])
    return laid(b, line, found) if b.lines[several.at][0] is ops.rng_bit_generator else found


PAD_RULES: Final[dict[Op[Any], Rule]] = {
    ops.element: _element,
    ops.rng_bit_generator: drawn,
    ops.iota: _iota,
    ops.broadcast: _broadcast,
    ops.reshape: _reshape,
    ops.transpose: _transpose,
    ops.slice: _slice,
    ops.update_slice: _update_slice,
    ops.pad: _pad,
    ops.concatenate: _concatenate,
    ops.dot_general: _dot_general,
    ops.convolution: convolved,
    ops.reduce_window: slid,
    ops.gather: _gather,
    ops.take_along: _take_along,
    ops.scatter: _scatter,
    ops.sort: _sort,
    ops.argsort: _sort,
    ops.guarded: _guarded,
    ops.argmax: partial(_arg, "max"),
    ops.argmin: partial(_arg, "min"),
    **{
        getattr(ops, f"reduce_{kind}"): partial(_reduction, kind)
        for kind in ("sum", "prod", "max", "min", "and", "or", "xor")
    },
    **{
        getattr(ops, f"cum{kind}"): partial(_cumulative, kind)
        for kind in ("sum", "prod", "max", "min")
    },
}
"""Per op that is not elementwise: what to emit for it."""
