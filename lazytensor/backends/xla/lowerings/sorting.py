"""Lowerings of sorting and searching.

Large arrays are sorted by the host (`HOST`). XLA:CPU sorts integers by plain `<` five times as fast
as by any other order. So floats are sorted as integers of the same order, and argsort sorts words
with the key in the high half and the index in the low half.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from jaxlib.mlir import ir

from lazytensor.backends.xla.attributes import i64
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.elementwise.arithmetic import compare
from lazytensor.backends.xla.emitter import Emitter, HostRules, Rows
from lazytensor.backends.xla.lowerings.expansion import expansion, not_a_number, number
from lazytensor.backends.xla.lowerings.loops import repeat
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, F64, FLOATS, S32, S64, U8, U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import TensorType, tensor_type

S8, S16, U16 = (np.dtype(t) for t in ("int8", "int16", "uint16"))
EXACT_IN_F32: Final = frozenset([BOOL, F16, BF16, F32, S8, U8, S16, U16])
TOP_SHARE: Final = 16
"""XLA's own top-k is used if k is at most 1/16 of a line."""
HOST_SORT_ELEMENTS: Final = 2**15
"""Elements, of all lines together, from which the host's sort pays for the cut."""
_SIGNED: Final = {F16: S16, BF16: S16, F32: S32, F64: S64}


def _key(x: Node, *, ties: bool) -> Node:
    """Integers that order as `x` does, NaN last; if `ties`, 0.0 and -0.0 are equal."""
    dtype = x.type.dtype
    if dtype == BOOL:
        return ops.convert(x, dtype=U8)
    if dtype not in FLOATS:
        return x
    signed = _SIGNED[dtype]
    if ties:
        x = ops.select(ops.equal(x, number(0.0, x)), number(0.0, x), x)
    bits = _fold(ops.bitcast(x, dtype=signed))
    largest = ops.scalar(int(np.iinfo(signed).max), signed)
    return ops.select(not_a_number(x), largest, bits)


def _fold(bits: Node) -> Node:
    """A float's bits as an integer of the same order, and back: its own inverse."""
    dtype = bits.type.dtype
    sign = bits >> (dtype.itemsize * 8 - 1)
    flips = sign & int(np.iinfo(dtype).max)
    return bits ^ flips


def _unkey(key: Node, dtype: np.dtype) -> Node:
    if dtype == BOOL:
        return ops.convert(key, dtype=BOOL)
    return ops.bitcast(_fold(key), dtype=dtype) if dtype in FLOATS else key


def _last(x: Node, axis: int) -> Node:
    """`x` with `axis` and the last axis swapped: its own inverse."""
    axes = list(range(x.type.ndim))
    axes[axis], axes[-1] = axes[-1], axes[axis]
    return ops.transpose(x, axes=tuple(axes))


def _sort_one(x: Node, *, axis: int, descending: bool) -> Node:
    key = _last(_key(x, ties=False), axis)
    line = key.type.ndim - 1
    if descending:
        key = ~key
    key = ops.sort(key, axis=line)
    if descending:
        key = ~key
    return _unkey(_last(key, axis), x.type.dtype)


def _words(x: Node, descending: bool) -> list[Node]:
    """Signed integers of at most 32 bits that order as `x` does, the most significant first."""
    key = _key(x, ties=True)
    if descending:
        key = ~key
    dtype = key.type.dtype
    if dtype == U32:
        return [ops.convert(key, dtype=S64) - 2**31]
    if dtype.itemsize < 8:
        return [ops.convert(key, dtype=S64)]
    if dtype == U64:
        key = ops.bitcast(key ^ 2**63, dtype=S64)
    high = key >> 32
    low = (key & (2**32 - 1)) - 2**31
    return [high, low]


def _order(*keys: Node, descending: bool) -> Node:
    """The indices that sort the last axis by `keys`: a stable sort by each word, the last first."""
    line = keys[0].type.ndim - 1
    shape = keys[0].type.shape
    places = ops.iota(dtype=S64, shape=shape, axis=line)
    low = ops.scalar(2**32 - 1, S64)
    order: Node | None = None
    for word in reversed([word for key in keys for word in _words(key, descending)]):
        word = word if order is None else ops.take_along(word, order, axis=line)
        packed = (word << 32) | places
        found = ops.sort(packed, axis=line) & low
        order = found if order is None else ops.take_along(order, found, axis=line)
    assert order is not None
    return order


def _argsort(x: Node, *, axis: int, descending: bool) -> Node:
    return _last(_order(_last(x, axis), descending=descending), axis)


def _sort_several(*xs: Node, axis: int, keys: int, descending: bool) -> tuple[Node, ...]:
    lines = [_last(x, axis) for x in xs]
    order = _order(*lines[:keys], descending=descending)
    end = xs[0].type.ndim - 1
    return tuple(_last(ops.take_along(x, order, axis=end), axis) for x in lines)


_one, _several = expansion(_sort_one), expansion(_sort_several)


def _sort(
    e: Emitter, type: Any, *xs: Value, axis: int, keys: int, descending: bool
) -> Value | tuple[Value, ...]:
    if not xs[0].type.size:
        return xs if len(xs) > 1 else xs[0]
    if len(xs) > 1:
        return _several(e, type, *xs, axis=axis, keys=keys, descending=descending)
    plain = xs[0].type.dtype not in FLOATS | {BOOL} and axis == type.ndim - 1 and not descending
    if not plain:
        return _one(e, type, *xs, axis=axis, descending=descending)
    unit = tensor_type(type.dtype)

    def less(a: Value, b: Value) -> list[Value]:
        return [compare("LT")(e, tensor_type(BOOL), a, b)]

    # Stable, because XLA's merge sort is faster here than its unstable sort.
    stable = ir.BoolAttr.get(True)
    bodies = [([unit, unit], less)]
    return e.region_op("sort", [type], xs, bodies, dimension=i64(axis), is_stable=stable)[0]


def _order_statistics(x: Node, *, ranks: tuple[int, ...]) -> Node:
    *outer, _ = x.type.shape
    rank = x.type.ndim
    line = ops.sort(x, axis=rank - 1)
    begin, sizes, strides = (0,) * len(outer), (*outer, 1), (1,) * rank
    parts = [ops.slice(line, ops.starts((*begin, k)), sizes=sizes, strides=strides) for k in ranks]
    return ops.concatenate(*parts, axis=rank - 1)


def _top_k(e: Emitter, type: Any, x: Value, *, k: int) -> tuple[Value, ...]:
    values, places = type
    if not values.size:
        return e.full(0, values), e.full(0, places)
    if x.type.dtype not in EXACT_IN_F32 or k * TOP_SHARE > x.type.shape[-1]:
        return _top_by_order(e, type, x, k=k)
    single = _single(e, x.type.with_dtype(F32), x)
    found = [places.with_dtype(F32), places.with_dtype(S32)]
    order = e.convert(e.ops("chlo.top_k", found, single, k=i64(k))[1], S64)
    return e.lowerings[ops.take_along](e, values, x, order, axis=values.ndim - 1), order


def _in_single(x: Node) -> Node:
    """`x` in f32, with one zero and one NaN, because XLA's own top-k orders by bits."""
    x = ops.convert(x, dtype=F32)
    x = ops.select(ops.equal(x, number(0.0, x)), number(0.0, x), x)
    return ops.select(not_a_number(x), number(math.nan, x), x)


def _largest_by_order(x: Node, *, k: int) -> tuple[Node, Node]:
    line = x.type.ndim - 1
    sizes, strides = (*x.type.shape[:-1], k), (1,) * x.type.ndim
    origin = ops.starts((0,) * x.type.ndim)
    order = ops.slice(_order(x, descending=True), origin, sizes=sizes, strides=strides)
    return ops.take_along(x, order, axis=line), order


_single, _top_by_order = expansion(_in_single), expansion(_largest_by_order)


def _searchsorted(e: Emitter, type: TensorType, line: Value, values: Value, *, side: str) -> Value:
    """Binary search, all values at once, from the largest step to the smallest."""
    n = line.type.size
    if not type.size or not n:
        return e.full(0, type)
    keys, wanted = (_search_key(e, x.type, x) for x in (line, values))
    before = compare("LT" if side == "left" else "LE")
    flags = type.with_dtype(BOOL)
    one = e.full(1, type)

    def step(i: Value, keys: Value, wanted: Value, found: Value, size: Value) -> list[Value]:
        tried = e.op("add", type, found, e.expand(size, type.shape))
        last = e.op("subtract", type, tried, one)
        there = e.lowerings[ops.gather](e, wanted.type, keys, last, axes=(0,))
        inside = compare("LE")(e, flags, tried, e.full(n, type))
        fits = e.op("and", flags, inside, before(e, flags, there, wanted))
        half = e.op("divide", size.type, size, e.constant(2, S64))
        return [keys, wanted, e.op("select", type, fits, tried, found), half]

    largest = 1 << (n.bit_length() - 1)
    state = [keys, wanted, e.full(0, type), e.constant(largest, S64)]
    return repeat(e, n.bit_length(), state, step)[2]


_search_key = expansion(lambda x: _key(x, ties=True))


def _many(x: TensorType, *_: TensorType, **__: Any) -> bool:
    """NumPy sorts by vector instructions, 5 to 10 times faster, and finds ranks without sorting."""
    return x.size >= HOST_SORT_ELEMENTS


def _few_of_many(x: TensorType, *, k: int) -> bool:
    """NumPy finds the k largest without sorting; XLA does so for values exact in f32 only."""
    n = x.shape[-1]
    exact = x.dtype in EXACT_IN_F32
    return not exact and n >= 512 and x.size >= 2**14 and k * TOP_SHARE <= n


HOST: HostRules = {
    ops.sort: _many,
    ops.argsort: _many,
    ops.order_statistics: _many,
    ops.top_k: _few_of_many,
}
ROWS: Rows = {
    ops.sort: _sort,
    ops.argsort: expansion(_argsort),
    ops.order_statistics: expansion(_order_statistics),
    ops.top_k: _top_k,
    ops.searchsorted: _searchsorted,
}
