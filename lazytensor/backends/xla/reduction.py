"""Lowerings of the reductions.

XLA:CPU gives a sum or a maximum of floats to a library that is fast along the last axis, and up to
twenty times slower than XLA's own loops along the others (4 ms for f64[10,100000] over axis 0,
against 0.2). The library does not know `a - (-b)` and `-min(-a, -b)`, which are the same numbers.
Its maximum loses NaN; with the search for them it is still faster than the loop, but for f64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import i64, i64s
from lazytensor.backends.xla.elementwise import compare
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Lowering, Value
from lazytensor.backends.xla.expansion import expansion
from lazytensor.core import ops
from lazytensor.core.dtypes import BF16, BOOL, F16, F32, F64, FLOATS, S32, S64, U8
from lazytensor.core.node import Node
from lazytensor.core.ops.reduction import identity
from lazytensor.core.shapes import without
from lazytensor.core.types import TensorType, tensor_type

Ints = tuple[int, ...]
Combine = Callable[[Emitter, TensorType, Value, Value], Value]

NARROW: Final = frozenset([F16, BF16])
"""Dtypes whose sums and products are computed in f32."""
WIDE_ROW: Final = 32 * 1024
"""Bytes of a kept last axis from which the library is slow in every case we measured."""
SHORT_LINE: Final = 64
FEW: Final = 4096
"""Elements up to which a line, or all lines together, are searched in one go."""


def direct(name: str) -> Combine:
    """One instruction."""
    return lambda e, type, a, b: e.op(name, type, a, b)


def inverted(name: str, inverse: str) -> Combine:
    """The instruction that does the same with its operands, or one of them, inverted."""

    def combine(e: Emitter, type: TensorType, a: Value, b: Value) -> Value:
        if name == "subtract":
            return e.op(name, type, a, e.op(inverse, type, b))
        both = e.op(name, type, e.op(inverse, type, a), e.op(inverse, type, b))
        return e.op(inverse, type, both)

    return combine


COMBINE: Final[dict[str, Combine]] = {
    "sum": direct("add"),
    "prod": direct("multiply"),
    "max": direct("maximum"),
    "min": direct("minimum"),
    "and": direct("and"),
    "or": direct("or"),
    "xor": direct("xor"),
}
_OWN_LOOP: Final[dict[str, Combine]] = {
    "sum": inverted("subtract", "negate"),
    "max": inverted("minimum", "negate"),
    "min": inverted("maximum", "negate"),
}


def reduction(kind: str) -> Lowering:
    """A row: one reduce."""

    def lower(e: Emitter, type: TensorType, x: Value, *, axes: tuple[int, ...]) -> Value:
        many = tuple(axis for axis in axes if x.type.shape[axis] != 1)
        if not many:
            return e.reshape(x, type.shape)
        wide = F32 if type.dtype in NARROW else type.dtype
        found = _reduce(e, e.convert(x, wide), many, kind)
        return e.reshape(e.convert(found, type.dtype), type.shape)

    return lower


def _reduce(e: Emitter, x: Value, axes: Ints, kind: str) -> Value:
    """`x` reduced over `axes`, in the way that is fastest for its type."""
    if x.type.dtype in FLOATS and kind in _OWN_LOOP and client.platform() == "cpu":
        if _across(x.type, axes) or (kind != "sum" and x.type.dtype == F64):
            return reduce(e, x, axes, kind, _OWN_LOOP[kind])
        found = reduce(e, x, axes, kind, COMBINE[kind])
        return found if kind == "sum" else _with_nan(e, found, x, axes)
    if len(axes) == sum(n != 1 for n in x.type.shape):  # everything: faster as one line
        x, axes = e.reshape(x, (x.type.size,)), (0,)
    return reduce(e, x, axes, kind, COMBINE[kind])


def reduce(e: Emitter, x: Value, axes: Ints, kind: str, combine: Combine) -> Value:
    """One reduce instruction."""
    unit = tensor_type(x.type.dtype)
    result = x.type.with_shape(without(x.type.shape, axes))
    start = e.constant(identity(kind, x.type.dtype), x.type.dtype)
    body = ([unit, unit], lambda a, b: [combine(e, unit, a, b)])
    return e.region_op("reduce", [result], [x, start], [body], dimensions=i64s(axes))[0]


def _with_nan(e: Emitter, found: Value, x: Value, axes: Ints) -> Value:
    """`found`, but NaN where there is one to reduce: the library loses some."""
    flags = compare("NE")(e, x.type.with_dtype(BOOL), x, x)
    spoiled = reduce(e, flags, axes, "or", COMBINE["or"])
    return e.op("select", found.type, spoiled, e.full(np.nan, found.type), found)


def _across(type: TensorType, axes: Ints) -> bool:
    """Whether to reduce in XLA's own loop: whole lines of the kept last axes are combined."""
    kept = math.prod(type.shape[max(axes) + 1 :])
    if kept == 1:
        return False
    return len(axes) == 1 or kept * type.dtype.itemsize >= WIDE_ROW


def arg_reduction(kind: str) -> Lowering:
    """A row: the index of an extreme."""
    across = expansion(lambda x: _extreme_across(x, kind))
    blocks = expansion(lambda x: _extreme_of_blocks(x, kind))

    def lower(e: Emitter, type: TensorType, x: Value, *, axis: int) -> Value:
        if x.type.dtype in NARROW:
            x = e.convert(x, F32)
        if x.type.dtype == BOOL:
            x = e.convert(x, U8)
        n, after = x.type.shape[axis], math.prod(x.type.shape[axis + 1 :])
        if not type.size:
            return e.full(0, type)
        lines = e.reshape(x, (type.size // after, n, after))
        if after > 1:
            found = across(e, type, lines)
        elif n > SHORT_LINE and x.type.size > FEW:
            found = blocks(e, type, e.reshape(lines, lines.type.shape[:2]))
        else:
            found = _extreme_of_short(e, lines, kind)
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


def _extreme_across(x: Node, kind: str) -> Node:
    """Per line along the middle axis of `x[m,n,k]`: the first index where the extreme is."""
    reduce = ops.reduce_max if kind == "max" else ops.reduce_min
    m, n, k = x.type.shape
    index = S32 if n < 2**31 else S64
    extreme = ops.reshape(reduce(x, axes=(1,)), shape=(m, 1, k))
    there = ops.equal(x, extreme)
    if x.type.dtype in FLOATS:  # NaN is the extreme of a line with NaN, and equals nothing
        there = ops.or_(there, ops.not_equal(x, x))
    places = ops.iota(dtype=index, shape=(1, n, 1), axis=1)
    first = ops.reduce_min(ops.select(there, places, ops.scalar(n, index)), axes=(1,))
    node: Node = ops.convert(first, dtype=S64)
    return node


def _extreme_of_blocks(x: Node, kind: str) -> Node:
    """Per line of `x[m,n]`: find the block whose extreme is the line's, then search that block.

    That reads `x` once. The last block overlaps the one before where n is not a multiple.
    """
    reduce, search = (ops.reduce_max, ops.argmax) if kind == "max" else (ops.reduce_min, ops.argmin)
    m, n = x.type.shape
    width = block_width(n)
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
    start = ops.minimum(ops.multiply(block, ops.scalar(width, S64)), ops.scalar(n - width, S64))
    places = ops.add(start, ops.iota(dtype=S64, shape=(1, width), axis=1))
    inside = search(ops.take_along(x, places, axis=1), axis=1)
    node: Node = ops.add(ops.reshape(start, shape=(m,)), inside)
    return node


def block_width(n: int) -> int:
    """A width near the square root of `n`, of which `n` is a multiple if there is such a one."""
    root = math.isqrt(n)
    widths = range(root, 2 * root)
    return next((width for width in widths if n % width == 0), root)


LOWERINGS.update(
    {
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
)
