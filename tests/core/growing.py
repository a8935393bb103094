"""Functions of an array whose length changes: what is one program for many, and what is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64, S64, U32, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar, starts
from lazytensor.core.ops.scanning import Nodes, scan

W = np.linspace(-1, 1, 9).reshape(3, 3)
ROW = np.array([0.5, -2.0, 3.0])


def data(n: int, seed: int = 0) -> np.ndarray:
    """An array f64[n,3]."""
    return np.random.default_rng(seed + n).normal(size=(n, 3))


def number(value: float, dtype: np.dtype = F64) -> Node:
    return scalar(value, dtype)


def dot(x: Node, y: Node, left: int, right: int) -> Node:
    found: Node = ops.dot_general(x, y, contract=((left,), (right,)))
    return found


def flags(x: Node) -> Node:
    found: Node = ops.greater(x, number(0.0))
    return found


def whole(x: Node) -> Node:
    found: Node = ops.convert(ops.multiply(x, number(100.0)), dtype=S64)
    return found


def length(x: Node) -> int:
    return x.type.shape[0]


def rows(x: Node, begin: int, size: int, step: int = 1) -> Node:
    found: Node = ops.slice(x, starts((begin, 0)), sizes=(size, 3), strides=(step, 1))
    return found


def attention(x: Node) -> Node:
    found: Node = ops.dot_general(ops.softmax(dot(x, x, 1, 1), axis=1), x, contract=((1,), (0,)))
    return found


def batched(x: Node) -> Node:
    found: Node = ops.dot_general(x, x, batch=((0,), (0,)), contract=((1,), (1,)))
    return found


def written(x: Node) -> Node:
    """All of `x` at the start of a larger array."""
    room = ops.broadcast(number(7.0), shape=(80, 3))
    found: Node = ops.update_slice(room, x, starts((0, 0)), strides=(1, 1))
    return found


def last_written(x: Node) -> Node:
    """A row of `x` replaced, which lies elsewhere each time."""
    row, at = leaf(ROW.reshape(1, 3)), starts((length(x) - 1, 0))
    found: Node = ops.update_slice(x, row, at, strides=(1, 1))
    return found


def front_written(x: Node) -> Node:
    """All but the last row of `x` replaced."""
    part = rows(x, 0, length(x) - 1)
    at = starts((0, 0))
    found: Node = ops.update_slice(x, ops.negate(part), at, strides=(1, 1))
    return found


def joined(x: Node) -> Node:
    one, two = leaf(ROW.reshape(1, 3)), leaf(np.stack([ROW, ROW]))
    found: Node = ops.concatenate(one, two, x, one, axis=0)
    return found


def around(x: Node) -> Node:
    found: Node = ops.pad(x, number(9.0), low=(2, 1), high=(1, 0), interior=(0, 0))
    return found


def cropped(x: Node) -> Node:
    found: Node = ops.pad(x, number(9.0), low=(-1, 0), high=(-2, 0), interior=(0, 0))
    return found


def places(x: Node) -> Node:
    """As many indices into a fixed array."""
    count = ops.iota(dtype=S64, shape=(length(x),), axis=0)
    found: Node = ops.modulo(count, number(3, S64))
    return found


def of_mask(x: Node) -> Node:
    """The first columns of a fixed array, as many as there are rows."""
    mask = leaf(np.arange(128.0).reshape(1, 128))
    part = ops.slice(mask, starts((0, 0)), sizes=(1, length(x)), strides=(1, 1))
    found: Node = dot(part, x, 1, 0)
    return found


def of_short(x: Node) -> Node:
    """The same of an array that is shorter than the capacity."""
    mask = leaf(np.arange(80.0).reshape(1, 80))
    part = ops.slice(mask, starts((0, 0)), sizes=(1, length(x)), strides=(1, 1))
    found: Node = dot(part, x, 1, 0)
    return found


def line(x: Node) -> Node:
    found: Node = ops.reshape(x, shape=(3 * length(x),))
    return found


def unline(x: Node, n: int) -> Node:
    found: Node = ops.reshape(x, shape=(n, 3))
    return found


def two(x: Node, axis: int) -> Node:
    """`x` and its double, along a new axis before its rows or after them."""
    n, factors = length(x), leaf(np.array([1.0, -2.0]))
    one, each, both = (
        ((1, n, 3), (2, 1, 1), (2, n, 3)) if axis == 0 else ((n, 1, 3), (1, 2, 1), (n, 2, 3))
    )
    wide = ops.broadcast(ops.reshape(x, shape=one), shape=both)
    found: Node = ops.multiply(wide, ops.reshape(factors, shape=each))
    return found


def stacked(x: Node) -> Node:
    """Two of `x`, one after the other: what lies beyond is in the middle, too."""
    found: Node = ops.reshape(two(x, 0), shape=(2 * length(x), 3))
    return found


def interleaved(x: Node) -> Node:
    """Two of each row of `x`."""
    found: Node = ops.reshape(two(x, 1), shape=(2 * length(x), 3))
    return found


def unstacked(x: Node) -> Node:
    found: Node = ops.reshape(x, shape=(2, length(x) // 2, *x.type.shape[1:]))
    return found


def ones(*shape: int) -> Node:
    found: Node = ops.broadcast(number(1.0), shape=shape)
    return found


def scattered(x: Node, mode: str = "add", at: Node | None = None) -> Node:
    at = places(x) if at is None else at
    found: Node = ops.scatter(ones(5, 3), x, at, axes=(0,), mode=mode)
    return found


def scattered_to_elements(x: Node) -> Node:
    at = ops.reshape(places(x), shape=(length(x), 1)), leaf(np.array([[2, 0, 1]]))
    found: Node = ops.scatter(ones(5, 3), x, *at, axes=(0, 1), mode="add")
    return found


def scattered_into(x: Node) -> Node:
    """Rows at indices into what grows; one of them is none of it."""
    at = leaf(np.array([1, 3, 1000]))
    found: Node = ops.scatter(x, leaf(W), at, axes=(0,), mode="set")
    return found


def stacked_places(x: Node) -> Node:
    twice = ops.broadcast(places(x), shape=(2, length(x)))
    found: Node = ops.reshape(twice, shape=(2 * length(x),))
    return found


def counted_in_parts(x: Node) -> Node:
    """What is alike along an axis, and then parted."""
    parts = ops.reshape(ones(4 * length(x)), shape=(2, length(x), 2, 1))
    found: Node = ops.add(x, ops.reduce_sum(parts, axes=(0, 2)))
    return found


def scanned(x: Node, backwards: bool = False, last: bool = False) -> Node:
    """What has come so far of rows, a loop over them; `last`: what has come of all."""

    def body(time: Node, given: Nodes, state: Nodes, shared: Nodes) -> tuple[Nodes, Nodes]:
        new = ops.tanh(ops.add(ops.multiply(state[0], shared[0]), given[0]))
        return [new], [new]

    begun = ops.broadcast(number(0.5), shape=(3,))
    made = scan("so far", body, [x], [begun], [leaf(ROW)], backwards)
    return made.state[0] if last else made.tables[0]


def drawn(x: Node, *shape: int, dtype: np.dtype = U32, algorithm: str = "PHILOX") -> Node:
    """A random number for each element of a shape; `x` for the size."""
    state = leaf(np.array([7, 5], np.uint64))
    bits = ops.rng_bit_generator(state, shape=shape, dtype=dtype, algorithm=algorithm)[1]
    small = ops.shift_right(bits, number(dtype.itemsize * 8 - 10, dtype))
    found: Node = ops.convert(small, dtype=F64)
    return found


def batch(x: Node) -> Node:
    """Rows as signals of one feature: f64[n,1,3]."""
    found: Node = ops.reshape(x, shape=(length(x), 1, 3))
    return found


def signal(x: Node) -> Node:
    """One signal of three features: f64[1,3,n]."""
    found: Node = ops.reshape(ops.transpose(x, axes=(1, 0)), shape=(1, 3, length(x)))
    return found


def kernel(*shape: int) -> Node:
    return leaf(np.random.default_rng(1).normal(size=shape))


def convolved(x: Node, w: Node, low: int = 0, high: int = 0, **attrs: Any) -> Node:
    attrs = {"strides": (1,), **attrs}
    found: Node = ops.convolution(x, w, padding=((low, high),), **attrs)
    return found


TURNED = ((1, 0, 2), (1, 0, 2), (1, 0, 2))
"""Batches in the place of features: a kernel's gradient is the sum over them."""


def pooled(
    x: Node, kind: str, window: int, low: int = 0, high: int = 0, step: int = 1, apart: int = 1
) -> Node:
    found: Node = ops.reduce_window(
        x, kind=kind, window=(window, 2), strides=(step, 1), padding=((low, high), (1, 0)),
        base_dilation=(1, 1), window_dilation=(apart, 1),
    )  # fmt: skip
    return found


PADDED: dict[str, Callable[[Node], Node]] = {
    "scanned": scanned,
    "scanned backwards": lambda x: scanned(x, backwards=True),
    "scanned to the end": lambda x: scanned(x, last=True),
    "a line and back": lambda x: unline(ops.tanh(line(x)), length(x)),
    "the sum of a line": lambda x: ops.reduce_sum(line(x), axes=(0,)),
    "the mean of a line": lambda x: ops.mean(line(x), axes=(0,), keepdims=True),
    "softmax of a line": lambda x: unline(ops.softmax(line(x), axis=0), length(x)),
    "cumsum of a line": lambda x: unline(ops.cumsum(line(x), axis=0), length(x)),
    "stacked": lambda x: unstacked(dot(stacked(x), leaf(W), 1, 0)),
    "stacked, contracted": lambda x: dot(stacked(x), stacked(x), 0, 0),
    "stacked, cumulative": lambda x: unstacked(ops.cumsum(stacked(x), axis=0)),
    "stacked, the largest": lambda x: ops.reduce_max(stacked(x), axes=(0,)),
    "stacked, of more axes": lambda x: ops.reshape(stacked(x), shape=(1, 2, length(x), 1, 3)),
    "stacked, a line": lambda x: ops.reduce_sum(line(stacked(x)), axes=(0,)),
    "stacked, by columns": lambda x: ops.reduce_sum(
        ops.transpose(stacked(x), axes=(1, 0)), axes=(1,)
    ),
    "stacked, whole": lambda x: unstacked(rows(stacked(x), 0, 2 * length(x))),
    "stacked, joined": lambda x: unstacked(ops.concatenate(stacked(x), stacked(x), axis=1)),
    "stacked, against as many": lambda x: unstacked(ops.add(ones(2 * length(x), 1), stacked(x))),
    "interleaved": lambda x: ops.reshape(ops.tanh(interleaved(x)), shape=(length(x), 2, 3)),
    "interleaved, contracted": lambda x: dot(interleaved(x), interleaved(x), 0, 0),
    "interleaved, against as many": lambda x: dot(ones(2 * length(x), 4), interleaved(x), 0, 0),
    "as many, counted": lambda x: ops.add(
        ops.reduce_sum(ones(4 * length(x), 3), axes=(0,)), ops.reduce_sum(x, axes=(0,))
    ),
    "as many, counted in parts": counted_in_parts,
    "scattered": scattered,
    "the last scattered": lambda x: scattered(x, "set"),
    "the largest scattered": lambda x: scattered(x, "max"),
    "scattered to elements": scattered_to_elements,
    "scattered into": scattered_into,
    "stacked, scattered": lambda x: scattered(stacked(x), at=stacked_places(x)),
    "stacked, gathered": lambda x: unstacked(ops.gather(leaf(W), stacked_places(x), axes=(0,))),
    "drawn": lambda x: ops.add(x, drawn(x, length(x), 3)),
    "drawn, of 64 bits": lambda x: ops.add(x, drawn(x, length(x), 3, dtype=U64)),
    "drawn, columns": lambda x: ops.add(ops.transpose(x, axes=(1, 0)), drawn(x, 3, length(x))),
    "drawn, in the middle": lambda x: ops.add(x, drawn(x, 2, length(x), 3)),
    "drawn, squares": lambda x: dot(drawn(x, 2, length(x), length(x)), x, 2, 0),
    "convolved, a batch": lambda x: convolved(batch(x), kernel(2, 1, 2), 1, strides=(2,)),
    "convolved, a batch in groups": lambda x: convolved(
        ops.reshape(x, shape=(length(x), 3, 1)), kernel(6, 1, 1), feature_groups=3
    ),
    "convolved, a kernel's gradient": lambda x: convolved(
        batch(x), batch(x), 1, 1, dimensions=TURNED
    ),
    "convolved": lambda x: convolved(signal(x), kernel(2, 3, 3), 1, 1),
    "convolved, apart": lambda x: convolved(signal(x), kernel(2, 3, 2), 2, rhs_dilation=(2,)),
    "convolved, in groups": lambda x: convolved(signal(x), kernel(3, 1, 4), feature_groups=3),
    "convolved, backwards": lambda x: convolved(signal(x), kernel(2, 3, 2), 3, reversal=(True,)),
    "convolved, gradient": lambda x: convolved(signal(x), signal(x), 1, 2, dimensions=TURNED),
    "pooled": lambda x: pooled(x, "max", 1),
    "pooled, windows of rows": lambda x: pooled(x, "min", 3, 1, 1),
    "pooled, fewer": lambda x: pooled(x, "sum", 2),
    "pooled, more": lambda x: pooled(x, "sum", 2, 2, 2, apart=2),
    "elementwise": lambda x: ops.add(ops.multiply(x, x), number(1.0)),
    "against a row": lambda x: ops.divide(x, leaf(ROW)),
    "chosen": lambda x: ops.select(flags(x), x, number(-1.0)),
    "clamped": lambda x: ops.clamp(number(-0.5), x, number(0.5)),
    **{
        f"{kind} over {axes}": lambda x, kind=kind, axes=axes: getattr(ops, f"reduce_{kind}")(
            x, axes=axes
        )
        for kind in ("sum", "prod", "max", "min")
        for axes in ((0,), (1,), (0, 1))
    },
    "and": lambda x: ops.reduce_and(flags(ops.square(x)), axes=(0,)),
    "or": lambda x: ops.reduce_or(flags(ops.negate(ops.square(x))), axes=(0, 1)),
    "xor": lambda x: ops.reduce_xor(whole(x), axes=(0,)),
    "largest of integers": lambda x: ops.reduce_max(whole(x), axes=(0,)),
    "sum of f32": lambda x: ops.reduce_sum(ops.convert(x, dtype=F32), axes=(0,)),
    "argmax": lambda x: ops.argmax(x, axis=0),
    "argmin": lambda x: ops.argmin(x, axis=0),
    "argmax of rows": lambda x: ops.argmax(x, axis=1),
    "cumsum": lambda x: ops.cumsum(x, axis=0),
    "cumsum backwards": lambda x: ops.cumsum(x, axis=0, reverse=True),
    "cummax": lambda x: ops.cummax(x, axis=0),
    "cummin backwards": lambda x: ops.cummin(x, axis=0, reverse=True),
    "product, free": lambda x: dot(x, leaf(W), 1, 0),
    "product, contracted": lambda x: dot(x, x, 0, 0),
    "product, outer": lambda x: dot(x, x, 1, 1),
    "product, batch": batched,
    "attention": attention,
    "softmax": lambda x: ops.softmax(x, axis=0),
    "logsumexp": lambda x: ops.logsumexp(x, axes=(0,)),
    "mean": lambda x: ops.mean(x, axes=(0,), keepdims=True),
    "variance": lambda x: ops.variance(x, number(float(length(x)) - 1), axes=(0,)),
    "layer_norm": lambda x: ops.layer_norm(x, number(1e-5), axes=1)[0],
    "layer_norm of all": lambda x: ops.layer_norm(x, number(1e-5), axes=2)[0],
    "transpose": lambda x: ops.transpose(x, axes=(1, 0)),
    "reshape": lambda x: ops.reshape(x, shape=(1, length(x), 1, 3)),
    "a line": lambda x: ops.reshape(ops.reduce_sum(x, axes=(1,)), shape=(length(x), 1)),
    "broadcast": lambda x: ops.broadcast(x, shape=(2, length(x), 3)),
    "as long": lambda x: ops.add(x, ops.broadcast(number(3.0), shape=(length(x), 1))),
    "numbered": lambda x: ops.add(x, ops.iota(dtype=F64, shape=(length(x), 3), axis=0)),
    "joined": joined,
    "joined with itself, on the other axis": lambda x: ops.concatenate(x, x, axis=1),
    "around": around,
    "cropped": cropped,
    "the last row": lambda x: rows(x, length(x) - 1, 1),
    "the last rows, backwards": lambda x: rows(x, length(x) - 1, 3, -1),
    "the second row": lambda x: rows(x, 1, 1),
    "all but the last": lambda x: rows(x, 0, length(x) - 1),
    "all but the first": lambda x: rows(x, 1, length(x) - 1),
    "of a mask": of_mask,
    "of a short mask": of_short,
    "written": written,
    "the last written": last_written,
    "the front written": front_written,
    "gathered": lambda x: ops.gather(x, leaf(np.array([4, 0, 4])), axes=(0,)),
    "gathered too far": lambda x: ops.gather(x, leaf(np.array([1000, 0])), axes=(0,)),
    "gathered, as many": lambda x: ops.gather(leaf(W), places(x), axes=(0,)),
    "taken along": lambda x: ops.take_along(x, leaf(np.array([[2, 0, 1]])), axis=0),
    "sorted": lambda x: ops.sort(x, axis=0),
    "sorted integers": lambda x: ops.sort(whole(x), axis=0),
    "argsort": lambda x: ops.argsort(x, axis=0),
    "rows sorted backwards": lambda x: ops.sort(x, axis=1, descending=True),
}
"""By name: of f64[n,3], what is one program for all n of a capacity."""

EXACT: dict[str, Callable[[Node], Node]] = {
    "a line of all": line,
    "the largest of a line": lambda x: ops.argmax(line(x), axis=0),
    "a line sorted": lambda x: unline(ops.sort(line(x), axis=0), length(x)),
    "an element of a line": lambda x: ops.gather(line(x), leaf(np.array([4])), axes=(0,)),
    "part of a line": lambda x: ops.reduce_sum(
        ops.slice(line(x), starts((1,)), sizes=(3 * length(x) - 3,), strides=(1,)), axes=(0,)
    ),
    "a line numbered": lambda x: ops.add(
        x, unline(ops.iota(dtype=F64, shape=(3 * length(x),), axis=0), length(x))
    ),
    "a line and more": lambda x: ops.reduce_sum(
        ops.concatenate(line(x), leaf(ROW), axis=0), axes=(0,)
    ),
    "drawn by Threefry": lambda x: ops.add(x, drawn(x, length(x), 3, algorithm="THREE_FRY")),
    "drawn, a line": lambda x: ops.add(x, unline(drawn(x, 3 * length(x)), length(x))),
    "convolved in steps": lambda x: convolved(signal(x), kernel(2, 3, 2), strides=(2,)),
    "pooled in steps": lambda x: pooled(x, "max", 2, step=2),
    "in two orders": lambda x: dot(stacked(x), interleaved(x), 0, 0),
    "in another order": lambda x: ops.reshape(stacked(x), shape=(length(x), 2, 3)),
    "twice": lambda x: ops.concatenate(x, x, axis=0),
    "backwards": lambda x: ops.reverse(x, axes=(0,)),
    "every second": lambda x: rows(x, 0, (length(x) + 1) // 2, 2),
    "sorted backwards": lambda x: ops.sort(x, axis=0, descending=True),
}
"""What is a program for each n."""
