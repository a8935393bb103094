"""Lowerings of the reductions.

XLA:CPU gives a sum or a maximum of floats to a library that is fast along the last axis, and up to
twenty times slower than XLA's own loops along the others (4 ms for f64[10,100000] over axis 0,
against 0.2). The library does not know `a - (-b)` and `-min(-a, -b)`, which are the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from lazytensor.backends.xla import client
from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.elementwise import compare
from lazytensor.backends.xla.emit import LOWERINGS, Emitter, Lowering, Value
from lazytensor.backends.xla.expansion import expansion
from lazytensor.core import ops
from lazytensor.core.dtypes import BF16, BOOL, F16, F32, FLOATS, S32, S64, U8
from lazytensor.core.node import Node
from lazytensor.core.ops.reduction import identity
from lazytensor.core.shapes import without
from lazytensor.core.types import TensorType, tensor_type

Combine = Callable[[Emitter, TensorType, Value, Value], Value]

NARROW: Final = frozenset([F16, BF16])
"""Dtypes whose sums and products are computed in f32."""
WIDE_ROW: Final = 32 * 1024
"""Bytes of a kept last axis from which the library is slow in every case we measured."""
SHORT_LINE: Final = 32
"""Elements up to which a line is searched in one go."""


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
        wide = F32 if type.dtype in NARROW and kind in ("sum", "prod") else type.dtype
        return e.reshape(e.convert(_reduce(e, e.convert(x, wide), many, kind), type.dtype), type.shape)

    return lower


def _reduce(e: Emitter, x: Value, axes: tuple[int, ...], kind: str) -> Value:
    combine = COMBINE[kind]
    if x.type.dtype in FLOATS and kind in _OWN_LOOP and client.platform() == "cpu":
        if _across(x.type, axes):
            combine = _OWN_LOOP[kind]
    elif len(axes) == sum(n != 1 for n in x.type.shape):  # everything: faster as one line
        x, axes = e.reshape(x, (x.type.size,)), (0,)
    unit = tensor_type(x.type.dtype)
    result = x.type.with_shape(without(x.type.shape, axes))
    start = e.constant(identity(kind, x.type.dtype), x.type.dtype)
    body = ([unit, unit], lambda a, b: [combine(e, unit, a, b)])
    return e.region_op("reduce", [result], [x, start], [body], dimensions=i64s(axes))[0]


def _across(type: TensorType, axes: tuple[int, ...]) -> bool:
    """Whether to reduce in XLA's own loop: whole lines of the kept last axes are combined."""
    kept = math.prod(type.shape[max(axes) + 1 :])
    if kept == 1:
        return False
    return len(axes) == 1 or kept * type.dtype.itemsize >= WIDE_ROW


def arg_reduction(kind: str) -> Lowering:
    """A row: the index of an extreme."""
    across = expansion(lambda x, axis: _extreme_across(x, axis, kind))
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
            found = across(e, type, lines, axis=1)
        elif n > SHORT_LINE:
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
    places = e.op("iota", tensor_type(S32, (m, n)), iota_dimension=i64s_axis(1))
    start = [e.constant(identity(kind, dtype), dtype), e.constant(n, S32)]
    results = [tensor_type(dtype, (m,)), tensor_type(S32, (m,))]
    bodies = [([unit, index, unit, index], pick)]
    return e.region_op("reduce", results, [x, places, *start], bodies, dimensions=i64s([1]))[1]
