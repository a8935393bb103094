"""Statistics and normalisations: composites, each one node when recorded.

f16 and bf16 are summed in f32 and rounded once.
"""

from __future__ import annotations

import math

from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import BF16, COMPLEX, F16, F32, FLOATS, S64, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, scalar
from lazytensor.core.ops.elementwise import (
    abs,
    clamp,
    conj,
    convert,
    equal,
    is_finite,
    is_nan,
    real,
    select,
    square,
)
from lazytensor.core.ops.indexing import gather
from lazytensor.core.ops.movement import broadcast, kept, reshape
from lazytensor.core.ops.reduction import reduce_max, reduce_sum
from lazytensor.core.ops.sorting import searchsorted
from lazytensor.core.ops.special import exp, log, sqrt

Axes = tuple[int, ...]


def _wide(op: str, x: Node) -> Node:
    """`x`, checked, in the dtype that sums accumulate in."""
    narrow = check_dtype(op, FLOATS | COMPLEX, x.type) in (F16, BF16)
    return convert(x, dtype=F32) if narrow else x


def _narrow(x: Node, like: Node) -> Node:
    dtype = like.type.dtype if x.type.dtype.kind == "c" else real_of(like.type.dtype)
    return x if x.type.dtype == dtype else convert(x, dtype=dtype)


def _sum(x: Node, axes: Axes, keepdims: bool) -> Node:
    total: Node = reduce_sum(x, axes=axes)
    return kept(total, x, axes, keepdims)


def _count(x: Node, axes: Axes) -> int:
    return math.prod(x.type.shape[axis] for axis in axes)


def _mean(x: Node, axes: Axes, keepdims: bool) -> Node:
    total = _sum(x, axes, keepdims)
    return total / _count(x, axes)


@composite
def mean(x: Node, *, axes: Axes, keepdims: bool = False) -> Node:
    """The mean over `axes`. x: floats or complex. Result: dtype of x; NaN over no elements.

    Raises: DTypeError, ShapeError. Source: numpy.mean.
    """
    return _narrow(_mean(_wide("mean", x), axes, keepdims), x)


@composite
def chosen_mean(x: Node, flags: Node, *, axes: Axes, keepdims: bool = False) -> Node:
    """The mean over `axes` of those elements of `x` whose flag is true.

    x: floats or complex. flags: pred, broadcast to the shape of x. Result: dtype of x; NaN where
    no flag is true. Raises: DTypeError, ShapeError. Source: numpy.mean with `where`.
    """
    return _counted_mean("chosen_mean", x, flags, axes, keepdims)[0]


@composite
def counted_mean(x: Node, flags: Node, *, axes: Axes, keepdims: bool = False) -> tuple[Node, Node]:
    """`chosen_mean`, and how many flags are true.

    x, flags: as for `chosen_mean`. Result: dtype of x; s64. Raises: DTypeError, ShapeError. Source:
    numpy.nanmean, which warns where no flag is true.
    """
    return _counted_mean("counted_mean", x, flags, axes, keepdims)


def _counted_mean(op: str, x: Node, flags: Node, axes: Axes, keepdims: bool) -> tuple[Node, Node]:
    wide = _wide(op, x)
    total = _sum(select(flags, wide, scalar(0, wide.type.dtype)), axes, keepdims)
    counted = convert(broadcast(flags, shape=x.type.shape), dtype=S64)
    count = _sum(counted, axes, keepdims)
    return _narrow(total / convert(count, dtype=wide.type.dtype), x), count


def _squares(x: Node, axes: Axes) -> Node:
    """Sum over `axes` of the squared distances from the mean there."""
    apart: Node = x - _mean(x, axes, True)
    complex_ = apart.type.dtype.kind == "c"
    return real(apart * conj(apart)) if complex_ else square(apart)


@composite
def variance(x: Node, divisor: Node, *, axes: Axes, keepdims: bool = False) -> Node:
    """Sum of the squared distances from the mean over `axes`, divided by `divisor`.

    x: floats or complex. divisor: 0-d, the real dtype of x (f32 for f16 and bf16): the number of
    elements less the degrees of freedom. Result: the real dtype of x.
    Raises: DTypeError, ShapeError. Source: numpy.var.
    """
    return _narrow(_sum(_squares(_wide("variance", x), axes), axes, keepdims) / divisor, x)


@composite
def deviation(x: Node, divisor: Node, *, axes: Axes, keepdims: bool = False) -> Node:
    """The square root of `variance`. Operands, result and errors as there. Source: numpy.std."""
    total = _sum(_squares(_wide("deviation", x), axes), axes, keepdims) / divisor
    return _narrow(sqrt(total), x)


def _top(x: Node, axes: Axes) -> Node:
    """The greatest element over `axes`, kept."""
    return kept(reduce_max(x, axes=axes), x, axes)


@composite
def logsumexp(x: Node, *, axes: Axes, keepdims: bool = False) -> Node:
    """log(sum(exp(x))) over `axes`, without overflow; -inf over no elements. x: floats.

    Result: dtype of x. Raises: DTypeError, ShapeError. Source: scipy.special.logsumexp.
    """
    wide = _wide("logsumexp", x)
    if not x.type.size:
        return _narrow(log(_sum(wide, axes, keepdims)), x)
    top = _top(wide, axes)
    top = select(is_finite(top), top, scalar(0, top.type.dtype))
    total = log(_sum(exp(wide - top), axes, keepdims))
    return _narrow(total + (top if keepdims else reshape(top, shape=total.type.shape)), x)


@composite
def softmax(x: Node, *, axis: int) -> Node:
    """exp(x) divided by its sum along `axis`; NaN along a line with inf, or with only -inf.

    x: floats. Result: type of x. Raises: DTypeError, ShapeError. Source: scipy.special.softmax.
    """
    wide = _wide("softmax", x)
    shifted = exp(wide - _top(wide, (axis,)))
    return _narrow(shifted / _sum(shifted, (axis,), True), x)


@composite
def masked_softmax(x: Node, *, axis: int) -> Node:
    """`softmax` of masked values. -inf masks a value. A line whose values are all masked gives 0.

    x: floats. Result: type of x. Raises: DTypeError, ShapeError. Source: torch._safe_softmax.
    """
    least, zero = (scalar(number, x.type.dtype) for number in (-math.inf, 0.0))
    return select(equal(_top(x, (axis,)), least), zero, softmax(x, axis=axis))


@composite
def log_softmax(x: Node, *, axis: int) -> Node:
    """log(softmax(x)) along `axis`, without underflow. x: floats. Result: type of x.

    Raises: DTypeError, ShapeError. Source: scipy.special.log_softmax.
    """
    wide = _wide("log_softmax", x)
    shifted = wide - _top(wide, (axis,))
    return _narrow(shifted - log(_sum(exp(shifted), (axis,), True)), x)


@composite
def norm2(x: Node, *, axes: Axes, keepdims: bool = False) -> Node:
    """The square root of the sum of |x|² over `axes`. x: floats or complex.

    Result: the real dtype of x. Raises: DTypeError, ShapeError. Source: numpy.linalg.norm.
    """
    wide = _wide("norm2", x)
    magnitudes = square(abs(wide)) if wide.type.dtype.kind == "c" else square(wide)
    return _narrow(sqrt(_sum(magnitudes, axes, keepdims)), x)


@composite
def is_close(x: Node, y: Node, rtol: Node, atol: Node, *, equal_nan: bool = False) -> Node:
    """Whether |x - y| <= atol + rtol * |y|, or x = y, infinite values included.

    x, y, rtol, atol: one dtype of floats, shapes that broadcast. `equal_nan`: NaN is close to NaN.
    Result: pred. Raises: DTypeError, ShapeError. Source: numpy.isclose.
    """
    near = abs(x - y) <= atol + rtol * abs(y)
    found: Node = (near & is_finite(y)) | equal(x, y)
    if equal_nan:
        found = found | (is_nan(x) & is_nan(y))
    return found


@composite
def interp(x: Node, xp: Node, fp: Node, left: Node, right: Node) -> Node:
    """The value at `x` of the broken line through the points `(xp, fp)`.

    x, left, right: any shapes that broadcast; xp, fp: one axis of one length, not 0; xp ascending.
    All of one dtype, f32 or f64. `left` is the value below all of xp, `right` above. Result: dtype
    of x; NaN for NaN. Raises: DTypeError, ShapeError. Source: numpy.interp.
    """
    last = xp.type.size - 1
    first, end = (gather(xp, scalar(i, S64), axes=(0,)) for i in (0, last))
    one, highest = scalar(1, S64), scalar(max(last - 1, 0), S64)
    low = clamp(scalar(0, S64), searchsorted(xp, x, side="right") - one, highest)
    high = low + min(last, 1)
    x0, x1, y0, y1 = (gather(line, place, axes=(0,)) for line in (xp, fp) for place in (low, high))
    slope = (y1 - y0) / (x1 - x0)
    inner = slope * (x - x0) + y0
    other = slope * (x - x1) + y1
    inner = select(is_nan(inner), select(equal(y0, y1), y0, other), inner)
    inner = select(equal(x, x0), y0, inner)  # also where the next point is infinitely far
    inner = select(equal(x, end), gather(fp, scalar(last, S64), axes=(0,)), inner)
    inner = select(x < first, left, select(x > end, right, inner))
    return select(is_nan(x), x, inner)
