"""Pools: the largest or the mean of each window, and their gradients; composites.

`window`, `strides`: one number an axis. `padding`: pairs (before, after) of elements that do not
count.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import BOOL, FLOATS, ORDERED
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, scalar, starts
from lazytensor.core.ir.types import Shape
from lazytensor.core.ops.elementwise import equal, select
from lazytensor.core.ops.movement import broadcast, interleaved, pad, slice
from lazytensor.core.ops.reduction import identity, reduce_window

Ints = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


def _reduced(
    x: Node, kind: str, window: Ints, strides: Ints, padding: Pairs, spread: Ints = ()
) -> Node:
    ones = (1,) * x.type.ndim
    return reduce_window(
        x, kind=kind, window=window, strides=strides, padding=padding,
        base_dilation=spread or ones, window_dilation=ones,
    )  # fmt: skip


@composite
def max_pool(x: Node, *, window: Ints, strides: Ints, padding: Pairs) -> Node:
    """The largest element of each window. x: ordered. Result: dtype of x.

    Raises: DTypeError, ShapeError. Source: StableHLO reduce_window.
    """
    check_dtype("max_pool", ORDERED, x.type)
    return _reduced(x, "max", window, strides, padding)


def _places(window: Ints) -> Iterator[Ints]:
    return product(*map(range, window))


@composite
def max_pool_backward(
    grad: Node, x: Node, y: Node, *, window: Ints, strides: Ints, padding: Pairs
) -> Node:
    """The gradient of `max_pool` at `x`, whose result was `y`, times `grad`.

    x: floats; y, grad: one type, dtype of x. Of equal elements the first gets the gradient.
    Result: type of x. Raises: DTypeError, ShapeError.
    """
    check_dtype("max_pool_backward", FLOATS, x.type, y.type, grad.type)
    dtype, zero = x.type.dtype, scalar(0, x.type.dtype)
    low, high = (tuple(pair[i] for pair in padding) for i in (0, 1))
    none = (0,) * x.type.ndim
    wide = pad(x, scalar(identity("max", dtype), dtype), low=low, high=high, interior=none)
    counts = tuple(-(-n // s) for n, s in zip(wide.type.shape, strides, strict=True))
    taken = broadcast(scalar(False, BOOL), shape=y.type.shape)
    phases: dict[Ints, Node] = {}
    for place in _places(window):
        part = slice(wide, starts(place), sizes=y.type.shape, strides=strides)
        hit = equal(part, y) & ~taken
        taken = taken | hit
        phase = tuple(p % s for p, s in zip(place, strides, strict=True))
        behind = tuple(p // s for p, s in zip(place, strides, strict=True))
        share = _moved(select(hit, grad, zero), behind, counts)
        phases[phase] = phases[phase] + share if phase in phases else share
    for phase in _places(strides):  # strides may be longer than windows
        if phase not in phases:
            phases[phase] = broadcast(zero, shape=counts)
    sizes = x.type.shape
    made = interleaved(phases, strides)
    return slice(made, starts(low), sizes=sizes, strides=(1,) * len(sizes))


def _moved(x: Node, by: Ints, shape: Shape) -> Node:
    """`x` from `by` on in zeros of `shape`."""
    high = tuple(n - m - b for n, m, b in zip(shape, x.type.shape, by, strict=True))
    none = (0,) * len(by)
    return pad(x, scalar(0, x.type.dtype), low=by, high=high, interior=none)


def _counts(like: Node, shape: Shape, window: Ints, strides: Ints, padding: Pairs) -> Node:
    """The number of elements in each window over a tensor of `shape`, in the dtype of `like`."""
    flat = tuple(n if w > 1 or s > 1 else 1 for n, w, s in zip(shape, window, strides, strict=True))
    ones = broadcast(scalar(1, like.type.dtype), shape=flat)
    return _reduced(ones, "sum", window, strides, padding)


@composite
def mean_pool(x: Node, *, window: Ints, strides: Ints, padding: Pairs) -> Node:
    """The mean of each window's elements, padding not counted. x: floats. Result: dtype of x.

    Raises: DTypeError, ShapeError.
    """
    check_dtype("mean_pool", FLOATS, x.type)
    total = _reduced(x, "sum", window, strides, padding)
    return total / _counts(x, x.type.shape, window, strides, padding)


@composite
def mean_pool_backward(
    grad: Node, *, shape: Shape, window: Ints, strides: Ints, padding: Pairs
) -> Node:
    """The gradient of `mean_pool` for an operand of `shape`, times `grad`. grad: floats.

    Result: dtype of grad, `shape`. Raises: DTypeError, ShapeError.
    """
    check_dtype("mean_pool_backward", FLOATS, grad.type)
    shares = grad / _counts(grad, shape, window, strides, padding)
    around = tuple(
        (k - 1 - low, n + low - (m - 1) * s - 1)
        for n, m, k, s, (low, _) in zip(
            shape, grad.type.shape, window, strides, padding, strict=True
        )
    )
    return _reduced(shares, "sum", window, (1,) * len(shape), around, strides)
