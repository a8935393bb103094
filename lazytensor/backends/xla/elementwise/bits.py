"""Lowerings of the ops on bits, of conversions, and of the integer algorithms."""

from __future__ import annotations

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla.attributes import i64
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.arithmetic import any_of, compare, direct
from lazytensor.backends.xla.emitter import Emitter, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion, number
from lazytensor.backends.xla.lowerings.movement import static_slice
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import (
    BF16,
    BOOL,
    COMPLEX,
    F16,
    F32,
    F64,
    FLOATS,
    FLOATS8,
    INTS,
    NARROW_INTS,
    S32,
    S64,
    SIGNED,
    U8,
    U32,
    U64,
    real_of,
)
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType, tensor_type

MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


def signed_as(dtype: np.dtype) -> np.dtype:
    """The signed integer dtype of the same width."""
    return np.dtype(f"i{dtype.itemsize}")


def unsigned_as(dtype: np.dtype) -> np.dtype:
    """The unsigned integer dtype of the same width."""
    return np.dtype(f"u{dtype.itemsize}")


def _shift_right(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    kind = "arithmetic" if type.dtype in SIGNED else "logical"
    return direct(f"shift_right_{kind}")(e, type, x, y)


def _sign_bit(x: Node) -> Node:
    bits = ops.bitcast(x, dtype=signed_as(x.type.dtype))
    return bits < 0


def _copysign(x: Node, y: Node) -> Node:
    """The sign bit of y over the other bits of x."""
    integer = signed_as(x.type.dtype)
    least = ops.scalar(int(np.iinfo(integer).min), integer)
    size = ops.bitcast(x, dtype=integer) & ~least
    sign = ops.bitcast(y, dtype=integer) & least
    return ops.bitcast(size | sign, dtype=x.type.dtype)


def _next_after(x: Node, y: Node) -> Node:
    """By integers ordered like the floats, so that subnormal numbers count."""
    dtype = x.type.dtype
    integer = signed_as(dtype)
    least = ops.scalar(int(np.iinfo(integer).min), integer)
    zero, one = ops.scalar(0, integer), ops.scalar(1, integer)

    def ordered(v: Node) -> Node:
        bits = ops.bitcast(v, dtype=integer)
        return ops.select(bits < zero, least - bits, bits)

    at, towards = ordered(x), ordered(y)
    step = ops.select(at < towards, one, -one)
    moved = at + step
    bits = ops.select(moved < zero, least - moved, moved)
    sign = ops.bitcast(x, dtype=integer) & least
    bits = ops.select(ops.equal(moved, zero), sign, bits)
    found = ops.select(ops.equal(at, towards), y, ops.bitcast(bits, dtype=dtype))
    return ops.select(ops.not_equal(x, x), x, ops.select(ops.not_equal(y, y), y, found))


def _mulhi(x: Node, y: Node) -> Node:
    dtype = x.type.dtype
    if dtype.itemsize < 8:
        wide = S64 if dtype in SIGNED else U64
        product = ops.convert(x, dtype=wide) * ops.convert(y, dtype=wide)
        upper = product >> (dtype.itemsize * 8)
        return ops.convert(upper, dtype=dtype)
    half, low = number(32, x), number(0xFFFFFFFF, x)
    x1, y1 = x >> half, y >> half
    x0, y0 = x & low, y & low
    carry = ops.bitcast(x0 * y0, dtype=U64) >> 32
    first = x1 * y0 + ops.bitcast(carry, dtype=dtype)
    second = x0 * y1 + (first & low)
    upper = x1 * y1 + (first >> half)
    return upper + (second >> half)


def _ldexp(x: Node, exponent: Node) -> Node:
    """In three steps, each by a power of two that the dtype can represent."""
    dtype = x.type.dtype
    if dtype in (F16, BF16):
        return ops.convert(_ldexp(ops.convert(x, dtype=F32), exponent), dtype=dtype)
    integer = signed_as(dtype)
    mantissa = MANTISSA[dtype.name]
    bias = (1 << (dtype.itemsize * 8 - mantissa - 2)) - 1
    bound = 3 * (bias - 1)
    if exponent.type.dtype.itemsize > 1:
        least = -bound if exponent.type.dtype in SIGNED else 0
        limits = number(least, exponent), number(bound, exponent)
        exponent = ops.clamp(limits[0], exponent, limits[1])
    left = ops.convert(exponent, dtype=integer)
    given = x
    for _ in range(3):
        step = ops.clamp(number(1 - bias, left), left, number(bias - 1, left))
        left = left - step
        bits = (step + bias) << mantissa
        x = x * ops.bitcast(bits, dtype=dtype)
    # XLA multiplies two known factors first. Their product may be infinite, and 0 * inf is NaN.
    return ops.select(ops.equal(given, number(0, given)), given, x)


def _bitcast(e: Emitter, type: TensorType, x: Value, *, dtype: np.dtype) -> Value:
    if x.type.dtype == dtype:
        return x
    if x.type.dtype == BOOL:
        x = e.convert(x, U8)
    if dtype == BOOL:
        bytes_ = _bitcast(e, type.with_dtype(U8), x, dtype=U8)
        return compare("NE")(e, type, bytes_, e.full(0, bytes_.type))
    if x.type.dtype in COMPLEX or dtype in COMPLEX:
        return _bitcast_parts(e, type, x)
    return e.op("bitcast_convert", type, x)


def _bitcast_parts(e: Emitter, type: TensorType, x: Value) -> Value:
    """A bitcast from or to complex numbers, which StableHLO lacks, by their parts."""
    if x.type.dtype in COMPLEX:
        part = tensor_type(real_of(x.type.dtype), (x.type.size, 1))
        column = x.type.with_dtype(part.dtype)
        parts = [e.reshape(e.op(name, column, x), part.shape) for name in ("real", "imag")]
        x = e.op("concatenate", part.with_shape((x.type.size, 2)), *parts, dimension=i64(1))
    target = real_of(type.dtype)
    old, new = x.type.dtype.itemsize, target.itemsize
    size = x.type.size * old // new
    x = e.reshape(x, (size, new // old) if new > old else (x.type.size,))
    shape = (x.type.size, old // new) if old > new else (size,)
    x = e.op("bitcast_convert", tensor_type(target, shape), x)
    if type.dtype not in COMPLEX:
        return e.reshape(x, type.shape)
    x = e.reshape(x, (size // 2, 2))
    halves = [static_slice(e, x, (0, i), (size // 2, 1), (1, 1)) for i in (0, 1)]
    return e.op("complex", type, *(e.reshape(half, type.shape) for half in halves))


def _reduce_precision(
    e: Emitter, type: TensorType, x: Value, *, exponent_bits: int, mantissa_bits: int
) -> Value:
    width = ir.IntegerType.get_signless(32)
    return e.op(
        "reduce_precision",
        type,
        x,
        exponent_bits=ir.IntegerAttr.get(width, exponent_bits),
        mantissa_bits=ir.IntegerAttr.get(width, mantissa_bits),
    )


def _size(x: Node) -> Node:
    """|x| as an unsigned integer."""
    unsigned = unsigned_as(x.type.dtype)
    if x.type.dtype not in SIGNED:
        return x
    return ops.bitcast(ops.abs(x), dtype=unsigned)


def _gcd(e: Emitter, type: TensorType, x: Value, y: Value) -> Value:
    """Euclid's algorithm on all elements at once, until all rests are 0."""
    unsigned = type.with_dtype(unsigned_as(type.dtype))
    sizes = [expansion(_size)(e, v.type.with_dtype(unsigned.dtype), v) for v in (x, y)]
    pair = [e.expand(v, type.shape) for v in sizes]
    flags = unsigned.with_dtype(BOOL)

    def unfinished(a: Value, b: Value) -> list[Value]:
        return [any_of(e, compare("NE")(e, flags, b, e.full(0, unsigned)))]

    def step(a: Value, b: Value) -> list[Value]:
        zero, one = e.full(0, unsigned), e.full(1, unsigned)
        done = compare("EQ")(e, flags, b, zero)
        rest = e.op("remainder", unsigned, a, e.op("select", unsigned, done, one, b))
        return [e.op("select", unsigned, done, a, b), e.op("select", unsigned, done, zero, rest)]

    types = [unsigned, unsigned]
    found = e.region_op("while", types, pair, [(types, unfinished), (types, step)])[0]
    return e.convert(found, type.dtype)


def _lcm(x: Node, y: Node) -> Node:
    """|x| / gcd * |y|, wrapping around; 0 if either is 0."""
    size = _size(x) / _size(ops.gcd(x, y))
    return ops.convert(size * _size(y), dtype=x.type.dtype)


def _convert(e: Emitter, type: TensorType, x: Value, *, dtype: np.dtype) -> Value:
    source = x.type.dtype
    if source == dtype:
        return x
    if source in COMPLEX and dtype not in COMPLEX:
        if dtype == BOOL:
            return compare("NE")(e, type, x, e.full(0, x.type))
        x = e.op("real", x.type.with_dtype(real_of(source)), x)
        return _convert(e, type, x, dtype=dtype)
    if dtype == BOOL:
        return compare("NE")(e, type, x, e.full(0, x.type))
    if source in FLOATS | FLOATS8 and dtype in INTS | NARROW_INTS:
        if source not in (F32, F64):
            x = e.convert(x, F32)
        return _to_integer(e, type, x)
    return e.convert(x, dtype)


def _to_integer(e: Emitter, type: TensorType, x: Value) -> Value:
    """Floats to integers as x86-64 converts them (see `ops.convert`)."""
    if type.dtype == U64:
        return expansion(_to_u64)(e, type, x)
    wide = S64 if type.dtype in (S64, U32) else S32
    info = np.iinfo(wide)
    whole = type.with_dtype(wide)
    flags = type.with_dtype(BOOL)
    low, high = (e.full(float(v), x.type) for v in (info.min, -float(info.min)))
    inside = e.op("and", flags, compare("GE")(e, flags, x, low), compare("LT")(e, flags, x, high))
    found = e.op("select", whole, inside, e.convert(x, wide), e.full(info.min, whole))
    return e.convert(found, type.dtype)


def _to_u64(x: Node) -> Node:
    """The s64 conversion of x below 2**63; from there on of x - 2**63, with the top bit flipped."""
    half = number(2.0**63, x)
    far = x >= half
    near = ops.convert(ops.select(far, x - half, x), dtype=S64)
    bits = ops.bitcast(near, dtype=U64)
    return ops.select(far, bits ^ 2**63, bits)


ROWS: Rows = {
    ops.not_: direct("not"),
    ops.popcount: direct("popcnt"),
    ops.count_leading_zeros: direct("count_leading_zeros"),
    ops.sign_bit: expansion(_sign_bit),
    ops.and_: direct("and"),
    ops.or_: direct("or"),
    ops.xor: direct("xor"),
    ops.shift_left: direct("shift_left"),
    ops.shift_right: _shift_right,
    ops.mulhi: expansion(_mulhi),
    ops.next_after: expansion(_next_after),
    ops.copysign: expansion(_copysign),
    ops.ldexp: expansion(_ldexp),
    ops.bitcast: _bitcast,
    ops.reduce_precision: _reduce_precision,
    ops.gcd: _gcd,
    ops.lcm: expansion(_lcm),
    ops.convert: _convert,
}
