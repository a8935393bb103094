"""Lowerings of the reductions.

XLA:CPU gives sums and extremes of floats to a library. The library's sums along the last axis are
as fast as NumPy's and more accurate. Over other axes they are up to 20 times slower than XLA's own
loops, and its extremes lose NaN. XLA does not recognize `a - (-b)` and `-min(-a, -b)`, so it uses
its own loop for them. That loop is vectorised across lines only, so a long line is first cut into
short ones (see `_along`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla import workarounds
from lazytensor.backends.xla.attributes import element_type, i64, i64s
from lazytensor.backends.xla.builder import PORTABLE, Value
from lazytensor.backends.xla.elementwise.arithmetic import compare
from lazytensor.backends.xla.emitter import Emitter, Lowering, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.backends.xla.lowerings.transposition import transpose
from lazytensor.backends.xla.workarounds import Combine
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, COMPLEX, F16, F32, FLOATS, S32, S64, U8
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.shapes import without
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.reduction import identity

Ints = tuple[int, ...]

HALF_DTYPES: Final = frozenset([F16, BF16])
"""Dtypes that are reduced in f32."""
WIDE_ROW: Final = 32 * 1024
"""Bytes of a kept last axis from which the library was slower in every measured case."""
SHORT_LINE: Final = 24
ONE_GO_ELEMENTS: Final = 4096
"""Elements of all lines together up to which they are reduced by one instruction."""
SEARCHED: Final = 16
SEARCHED_LINE_ELEMENTS: Final = 2**14
"""Elements of a line: up to SEARCHED it is searched by one reduction, from here on by blocks."""
LINE_LENGTHS: Final = (8, 16, 32, 20, 10, 12, 25)
"""Lengths of the short lines into which long ones are cut, the best first."""


def _direct(name: str) -> Combine:
    return lambda e, type, a, b: e.op(name, type, a, b)


def _chosen(direction: str) -> Combine:
    """The operand for which the comparison with the other holds, or NaN."""

    def combine(e: Emitter, type: TensorType, a: Value, b: Value) -> Value:
        flag = type.with_dtype(BOOL)
        first = compare(direction)(e, flag, a, b)
        if type.dtype in FLOATS:
            first = e.op("or", flag, first, compare("NE")(e, flag, a, a))
        return e.op("select", type, first, a, b)

    return combine


COMBINE: Final[dict[str, Combine]] = {
    "sum": _direct("add"),
    "prod": _direct("multiply"),
    "max": _direct("maximum"),
    "min": _direct("minimum"),
    "and": _direct("and"),
    "or": _direct("or"),
    "xor": _direct("xor"),
}
OWN_LOOP: Final[dict[str, Combine]] = {
    **COMBINE,
    "sum": workarounds.added_by_loop,
    "prod": workarounds.multiplied_by_loop,
    "max": workarounds.inverted("minimum"),
    "min": workarounds.inverted("maximum"),
    "and": workarounds.inverted("or"),
    "or": workarounds.inverted("and"),
}
PIECES: Final = (16, 20, 25, 10, 12, 8)
"""Numbers of pieces into which long lines are cut if the same loop computes their elements, the
best first. It is faster than cutting into short lines.
"""
SHOWING: Final = frozenset(["stablehlo.reshape", "stablehlo.slice"])
KNOWN: Final = frozenset(f"stablehlo.{name}" for name in ("add", "subtract", "multiply", "abs"))
"""Operations that the library computes itself in the loop of a sum."""
CHEAP: Final = KNOWN | frozenset(
    f"stablehlo.{name}"
    for name in ("negate", "select", "compare", "convert", "maximum", "minimum", "and", "or", "not")
)
SPREAD: Final = frozenset(["stablehlo.constant", "stablehlo.broadcast_in_dim"])
CHOICE: Final = "stablehlo.select"
STORED: Final = SPREAD | {CHOICE}
"""Operations whose results must be stored before the library adds them up."""
DEPTH: Final = 4
"""Operations before a sum that are examined, in a chain."""
STREAMS: Final = 2
"""Arrays of which one loop may add up pieces; with more it reads from too many places at once."""
_SHORT: Final[dict[str, Combine]] = {**COMBINE, "max": _chosen("GE"), "min": _chosen("LE")}
"""Must differ from `OWN_LOOP`, or XLA joins the two steps of `_along` into one again."""

_OF_BYTES: Final = {"and": "min", "or": "max", "max": "max", "min": "min"}
"""Predicates are reduced as bytes, by these kinds, because many bytes fit into a vector."""


def reduction(kind: str) -> Lowering:
    """A row: one reduction, by the method that is fastest for its type."""

    def lower(e: Emitter, type: TensorType, x: Value, *, axes: Ints) -> Value:
        if x.turned is not None:
            source, turned = x.turned
            rest = [axis for i, axis in enumerate(turned) if i not in axes]
            kept = type.with_shape(tuple(source.type.shape[axis] for axis in sorted(rest)))
            made = lower(e, kept, source, axes=tuple(sorted(turned[axis] for axis in axes)))
            return transpose(e, type, made, axes=tuple(map(sorted(rest).index, rest)))
        several = [axis for axis, n in enumerate(x.type.shape) if n != 1]
        axes = tuple(i for i, axis in enumerate(several) if axis in axes)
        x = e.reshape(x, tuple(x.type.shape[axis] for axis in several))
        if axes:
            as_bytes = type.dtype == BOOL and kind in _OF_BYTES
            wide = F32 if type.dtype in HALF_DTYPES else U8 if as_bytes else type.dtype
            x = e.convert(x, wide)
            x = reduced(e, x, axes, _OF_BYTES[kind] if as_bytes else kind)
        return e.reshape(e.convert(x, type.dtype), type.shape)

    return lower


def reduced(e: Emitter, x: Value, axes: Ints, kind: str) -> Value:
    """`x` reduced over `axes` by the method that is fastest for its type."""
    if e.is_plain and kind in ("max", "min") and x.type.dtype in FLOATS:
        return _or_nan(e, x, axes, kind)
    if e.is_plain and kind in _OF_BITS:
        return _by_bits(e, x, axes, _OF_BITS[kind])
    if e.is_plain or not x.type.size:
        return reduce(e, x, axes, kind, COMBINE[kind])
    if kind != "sum" or _is_in_parts(x, axes):
        return _by_parts(e, x, axes, kind)
    if x.type.dtype in FLOATS and _across(x.type, axes):
        return reduce(e, x, axes, kind, workarounds.added_by_loop)
    if _is_laden(x):
        x = workarounds.loop_of_its_own(e, x)
    return workarounds.loop_of_its_own(e, reduce(e, x, axes, kind, COMBINE[kind]))


_OF_BITS: Final = {"and": "min", "or": "max", "xor": "sum"}
"""Kinds for which no devices exchange results, and what does the same to single bits."""


def _by_bits(e: Emitter, x: Value, axes: Ints, kind: str) -> Value:
    """A reduction of numbers or flags, bit by bit: the bits get an axis of their own."""
    if x.type.dtype == BOOL:
        ones = reduced(e, e.convert(x, U8), axes, kind)
        odd = e.op("and", ones.type, ones, e.full(1, ones.type))
        return compare("NE")(e, odd.type.with_dtype(BOOL), odd, e.full(0, odd.type))
    dtype, width = x.type.dtype, 8 * x.type.dtype.itemsize
    bits = x.type.with_shape((*x.type.shape, width))
    places = e.constant(np.arange(width, dtype=dtype))
    shown = e.op(
        "shift_right_logical",
        bits,
        e.place(x, bits.shape, range(x.type.ndim)),
        e.expand(places, bits.shape),
    )
    found = reduced(e, e.op("and", bits, shown, e.full(1, bits)), axes, kind)
    one = e.op("and", found.type, found, e.full(1, found.type))
    put = e.op("shift_left", one.type, one, e.expand(places, one.type.shape))
    return reduced(e, put, (put.type.ndim - 1,), "sum")


def _or_nan(e: Emitter, x: Value, axes: Ints, kind: str) -> Value:
    """The extreme of floats, by a reducer that partitioners know. XLA:CPU's library loses NaN."""
    found = reduce(e, x, axes, kind, COMBINE[kind])
    flags = compare("NE")(e, x.type.with_dtype(BOOL), x, x)
    undefined = reduce(e, flags, axes, "or", COMBINE["or"])
    return e.op("select", found.type, undefined, e.full(math.nan, found.type), found)


def reduce(e: Emitter, x: Value, axes: Ints, kind: str, combine: Combine) -> Value:
    """`x` reduced over `axes` by one instruction."""
    unit = tensor_type(x.type.dtype)
    result = x.type.with_shape(without(x.type.shape, axes))
    start = e.constant(identity(kind, x.type.dtype), x.type.dtype)
    body = ([unit, unit], lambda a, b: [combine(e, unit, a, b)])
    return e.region_op("reduce", [result], [x, start], [body], dimensions=i64s(axes))[0]


def _is_in_parts(x: Value, axes: Ints) -> bool:
    """Whether a sum is one loop with the computation of its terms, which are not stored."""
    if x.type.ndim - 1 not in axes:
        return False
    if _is_count(x):
        return True
    if not _is_laden(x) or len(set(_streams(x.ir, DEPTH))) > STREAMS:
        return False
    return _is_choice(x) or pieces_of(math.prod(x.type.shape[axis] for axis in axes)) > 0


def _is_choice(x: Value) -> bool:
    """Whether these floats are the results of a `select`."""
    return _maker(x.ir)[0] == CHOICE and x.type.dtype in FLOATS


def _is_count(x: Value) -> bool:
    """Whether these are converted flags, which would be stored as wide numbers."""
    return _is_of_flags(x.ir) and x.type.dtype not in COMPLEX


def _is_laden(x: Value) -> bool:
    """Whether these floats are computed from choices, flags or broadcast values.

    For the library each of those would be stored first, a single number as a whole array.
    """
    return x.type.dtype in FLOATS and any(
        _maker(value)[0] in STORED or _is_of_flags(value) for value in _operands(x.ir, DEPTH)
    )


def _is_of_flags(value: ir.Value) -> bool:
    name, maker = _maker(value)
    if name != "stablehlo.convert":
        return False
    flags: bool = maker.operands[0].type.element_type == element_type(BOOL)
    return flags


def _operands(value: ir.Value, depth: int) -> Iterator[ir.Value]:
    """The values from which the library would compute a value, itself included."""
    yield value
    name, maker = _maker(value)
    if depth and name in KNOWN:
        for operand in maker.operands:
            yield from _operands(operand, depth - 1)


def _streams(value: ir.Value, depth: int) -> Iterator[ir.Value]:
    """The arrays that the loop of a value reads, once for each occurrence."""
    name, maker = _maker(value)
    if depth and name in CHEAP:
        for operand in maker.operands:
            yield from _streams(operand, depth - 1)
    elif name not in SPREAD:
        yield value


def _maker(value: ir.Value) -> tuple[str, Any]:
    """The name of the instruction behind `value`'s reshapes and slices, and the instruction; no
    name for an argument of a block."""
    maker = value.owner
    while getattr(maker, "name", "") in SHOWING:
        maker = maker.operands[0].owner
    return getattr(maker, "name", ""), maker


def _across(type: TensorType, axes: Ints) -> bool:
    """Whether lines of kept last axes are combined, and XLA's own loop is faster at it."""
    kept = math.prod(type.shape[max(axes) + 1 :])
    return kept > 1 and (len(axes) == 1 or kept * type.dtype.itemsize >= WIDE_ROW)


def _by_parts(e: Emitter, x: Value, axes: Ints, kind: str) -> Value:
    """The last axes as one line each, then the others."""
    first = x.type.ndim
    while first - 1 in axes:
        first -= 1
    outer = x.type.shape[:first]
    if first < x.type.ndim:
        x = _along(e, e.reshape(x, (*outer, math.prod(x.type.shape[first:]))), kind)
    others = tuple(axis for axis in axes if axis < first)
    if others == tuple(range(len(others))) and len(others) > 1:
        count = math.prod(outer[: len(others)])
        x, others = e.reshape(x, (count, *x.type.shape[len(others) :])), (0,)
    return reduce(e, x, others, kind, OWN_LOOP[kind]) if others else x


def _along(e: Emitter, x: Value, kind: str) -> Value:
    """Lines along the last axis: cut into short ones, which are combined into one and reduced."""
    *outer, n = x.type.shape
    last = len(outer)
    if n <= SHORT_LINE or x.type.size <= ONE_GO_ELEMENTS:
        return reduce(e, x, (last,), kind, _SHORT[kind])
    pieces = pieces_of(n)
    if pieces and (kind == "sum" or _is_count(x) or _is_choice(x)):
        return _folded(e, x, kind, pieces)
    lanes = next((lanes for lanes in LINE_LENGTHS if n % lanes == 0), None)
    if lanes is None:
        whole = n - n % LINE_LENGTHS[0]
        zeros, ones = (0,) * last, (1,) * (last + 1)
        even = static_slice(e, x, (*zeros, 0), (*outer, whole), ones)
        rest = static_slice(e, x, (*zeros, whole), (*outer, n - whole), ones)
        left, right = _along(e, even, kind), reduce(e, rest, (last,), kind, _SHORT[kind])
        return COMBINE[kind](e, left.type, left, right)
    parts = e.reshape(x, (*outer, n // lanes, lanes))
    combined = reduce(e, parts, (last,), kind, OWN_LOOP[kind])
    return reduce(e, combined, (last,), kind, _SHORT[kind])


def pieces_of(length: int) -> int:
    """The number of pieces into which a line of that length is cut; 0 if it is not."""
    return next((n for n in PIECES if length % n == 0 and length >= SHORT_LINE * n), 0)


def _folded(e: Emitter, x: Value, kind: str, pieces: int) -> Value:
    """Lines along the last axis: cut into a few long pieces, combined element by element.

    That is one loop with the computation of `x`, which is not stored. Flags are counted in bytes.
    """
    *outer, n = x.type.shape
    narrow = U8 if kind == "sum" and _is_count(x) else x.type.dtype
    parts = e.convert(e.reshape(x, (*outer, pieces, n // pieces)), narrow)
    folded = e.convert(reduce(e, parts, (len(outer),), kind, OWN_LOOP[kind]), x.type.dtype)
    return reduced(e, folded, (len(outer),), kind)


def arg_reduction(kind: str) -> Lowering:
    """A row: the index of an extreme."""
    by_value = expansion(lambda x: _extreme_by_value(x, kind))
    blocks = expansion(lambda x: _extreme_of_blocks(x, kind))

    def lower(e: Emitter, type: TensorType, x: Value, *, axis: int) -> Value:
        if x.type.dtype in HALF_DTYPES:
            x = e.convert(x, F32)
        if x.type.dtype == BOOL:
            x = e.convert(x, U8)
        n, after = x.type.shape[axis], math.prod(x.type.shape[axis + 1 :])
        if not type.size:
            return e.full(0, type)
        lines = e.reshape(x, (type.size // after, n, after))
        if e.platform == PORTABLE:  # few compilers reduce pairs
            found = by_value(e, type, lines)
        elif after == 1 and (n <= SEARCHED or x.type.size <= ONE_GO_ELEMENTS):
            found = _extreme_of_short(e, lines, kind)
        elif after == 1 and n >= SEARCHED_LINE_ELEMENTS:
            found = blocks(e, type, e.reshape(lines, lines.type.shape[:2]))
        else:
            found = by_value(e, type, lines)
        return e.reshape(e.convert(found, S64), type.shape)

    return lower


def _extreme_of_short(e: Emitter, lines: Value, kind: str) -> Value:
    """Per line of `lines[m,n,1]`, by one reduction over pairs (element, index): s32[m]."""
    (m, n, _), dtype = lines.type.shape, lines.type.dtype
    flag, unit, index = tensor_type(BOOL), tensor_type(dtype), tensor_type(S32)
    better = compare("GT" if kind == "max" else "LT")

    def pick(x: Value, i: Value, y: Value, j: Value) -> list[Value]:
        wins, same = better(e, flag, x, y), compare("EQ")(e, flag, x, y)
        if dtype in FLOATS:
            x_nan, y_nan = compare("NE")(e, flag, x, x), compare("NE")(e, flag, y, y)
            number = compare("EQ")(e, flag, y, y)
            wins = e.op("or", flag, wins, e.op("and", flag, x_nan, number))
            same = e.op("or", flag, same, e.op("and", flag, x_nan, y_nan))
        earlier = e.op("and", flag, same, compare("LT")(e, flag, i, j))
        first = e.op("or", flag, wins, earlier)
        return [e.op("select", unit, first, x, y), e.op("select", index, first, i, j)]

    x = e.reshape(lines, (m, n))
    places = e.op("iota", tensor_type(S32, (m, n)), iota_dimension=i64(1))
    start = [e.constant(identity(kind, dtype), dtype), e.constant(n, S32)]
    results = [tensor_type(dtype, (m,)), tensor_type(S32, (m,))]
    bodies = [([unit, index, unit, index], pick)]
    return e.region_op("reduce", results, [x, places, *start], bodies, dimensions=i64s([1]))[1]


def _extreme_by_value(x: Node, kind: str) -> Node:
    """Per line along the middle axis of `x[m,n,k]`: the first index of the extreme."""
    reduce = ops.reduce_max if kind == "max" else ops.reduce_min
    m, n, k = x.type.shape
    index = S32 if n < 2**31 else S64
    extreme = ops.reshape(reduce(x, axes=(1,)), shape=(m, 1, k))
    there = ops.equal(x, extreme)
    if x.type.dtype in FLOATS:  # the extreme of a line with NaN is NaN, which equals nothing
        there = there | ops.not_equal(x, x)
    places = ops.iota(dtype=index, shape=(1, n, 1), axis=1)
    first = ops.reduce_min(ops.select(there, places, ops.scalar(n, index)), axes=(1,))
    return ops.convert(first, dtype=S64)


def _extreme_of_blocks(x: Node, kind: str) -> Node:
    """Per line of `x[m,n]`: find the block whose extreme is the line's, then search that block.

    That reads `x` once. The last block overlaps the one before if n is not a multiple.
    """
    reduce, search = (ops.reduce_max, ops.argmax) if kind == "max" else (ops.reduce_min, ops.argmin)
    m, n = x.type.shape
    width = _block_width(n)
    whole = n // width * width
    origin, strides = ops.starts((0, 0)), (1, 1)
    blocks = ops.slice(x, origin, sizes=(m, whole), strides=strides)
    blocks = ops.reshape(blocks, shape=(m, n // width, width))
    extremes = reduce(blocks, axes=(2,))
    if whole < n:
        last = ops.slice(x, ops.starts((0, n - width)), sizes=(m, width), strides=strides)
        last = ops.reshape(reduce(last, axes=(1,)), shape=(m, 1))
        extremes = ops.concatenate(extremes, last, axis=1)
    block = ops.reshape(search(extremes, axis=1), shape=(m, 1))
    start = ops.minimum(block * width, ops.scalar(n - width, S64))
    places = start + ops.iota(dtype=S64, shape=(1, width), axis=1)
    inside = search(ops.take_along(x, places, axis=1), axis=1)
    return ops.reshape(start, shape=(m,)) + inside


def _block_width(n: int) -> int:
    """A multiple of `LINE_LENGTHS[0]` near the square root of `n`, if possible a divisor."""
    lanes = LINE_LENGTHS[0]
    least = -(-math.isqrt(n) // lanes) * lanes
    return next((w for w in range(least, 3 * least, lanes) if n % w == 0), least)


ROWS: Rows = {
    ops.reduce_sum: reduction("sum"),
    ops.reduce_prod: reduction("prod"),
    ops.reduce_max: reduction("max"),
    ops.reduce_min: reduction("min"),
    ops.reduce_and: reduction("and"),
    ops.reduce_or: reduction("or"),
    ops.reduce_xor: reduction("xor"),
    ops.argmax: arg_reduction("max"),
    ops.argmin: arg_reduction("min"),
}
