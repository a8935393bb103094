"""Ops of neural networks and their gradients: composites, each one node when recorded.

f16 and bf16 are computed in f32 and rounded once.
"""

from __future__ import annotations

import math

from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import BF16, BOOL, F16, F32, FLOATS, S32
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, scalar
from lazytensor.core.ops.contraction import dot_general
from lazytensor.core.ops.elementwise import abs, convert, select, square
from lazytensor.core.ops.movement import iota, kept, reshape
from lazytensor.core.ops.reduction import reduce_sum
from lazytensor.core.ops.special import erf, exp, rsqrt, tanh
from lazytensor.core.ops.statistics import masked_softmax, softmax

_CUBIC = 0.044715


def _wide(op: str, x: Node) -> Node:
    """`x`, checked, in the dtype that it is computed in."""
    narrow = check_dtype(op, FLOATS, x.type) in (F16, BF16)
    return convert(x, dtype=F32) if narrow else x


def _narrow(x: Node, like: Node) -> Node:
    return x if x.type.dtype == like.type.dtype else convert(x, dtype=like.type.dtype)


def _bend(x: Node) -> Node:
    """tanh of a cubic, which approximates the error function."""
    cubic = x + x * x * x * _CUBIC
    return tanh(cubic * math.sqrt(2 / math.pi))


@composite
def gelu(x: Node, *, approximate: bool = False) -> Node:
    """x times the probability that a standard normal variable is below x.

    x: floats. `approximate`: by tanh instead of erf. Result: type of x. Raises: DTypeError.
    Source: Hendrycks and Gimpel, arXiv 1606.08415.
    """
    wide = _wide("gelu", x)
    inner = _bend(wide) if approximate else erf(wide * math.sqrt(0.5))
    return _narrow(wide * 0.5 * (inner + 1.0), x)


@composite
def gelu_backward(grad: Node, x: Node, *, approximate: bool = False) -> Node:
    """The gradient of `gelu` at `x` times `grad`. grad, x: floats of one dtype, one shape.

    Result: type of x. Raises: DTypeError, ShapeError.
    """
    wide, given = _wide("gelu_backward", x), _wide("gelu_backward", grad)
    if approximate:
        inner = _bend(wide)
        slope = square(wide) * (3 * _CUBIC) + 1.0
        steep = (1.0 - square(inner)) * slope
        bell = steep * (math.sqrt(2 / math.pi) / 2)
    else:
        inner = erf(wide * math.sqrt(0.5))
        bell = exp(square(wide) * -0.5) * (1 / math.sqrt(2 * math.pi))
    found = (inner + 1.0) * 0.5 + wide * bell
    return _narrow(given * found, x)


@composite
def threshold_backward(grad: Node, x: Node, threshold: Node) -> Node:
    """`grad`, 0 where `x` is at most a threshold; where `x` is NaN, `grad`.

    grad, x: numbers, one shape. threshold: dtype of x, a scalar. Result: type of grad.
    Raises: DTypeError, ShapeError.
    """
    return select(x <= threshold, scalar(0, grad.type.dtype), grad)


def _matrix(x: Node) -> Node:
    """`x` as a matrix of lines along its last axis: the fastest layout for matrix products."""
    if x.type.ndim <= 2:
        return x
    return reshape(x, shape=(math.prod(x.type.shape[:-1]), x.type.shape[-1]))


@composite
def linear(x: Node, weight: Node, *bias: Node) -> Node:
    """The products of the lines of `x` with the lines of `weight`, plus a bias if there is one.

    x: numbers[…, n]. weight: [n] or [m, n]. bias: is broadcast. All of one dtype.
    Result: that dtype; the axes of x but the last, then m if weight has it.
    Raises: DTypeError, ShapeError.
    """
    rows = _matrix(x)
    last = (rows.type.ndim - 1,), (weight.type.ndim - 1,)
    found = dot_general(rows, weight, contract=last)
    if x.type.ndim > 2:
        found = reshape(found, shape=x.type.shape[:-1] + weight.type.shape[:-1])
    return found + bias[0] if bias else found


@composite
def linear_backward(
    grad: Node, x: Node, weight: Node, *, wanted: tuple[bool, bool, bool]
) -> tuple[Node, ...]:
    """The gradients of `linear` times `grad`: of x, of the weight, of the bias, those `wanted`.

    grad, x, weight: numbers of one dtype; grad has the shape that `linear` gave.
    Raises: DTypeError, ShapeError.
    """
    outputs = weight.type.ndim - 1
    given = _matrix(grad) if outputs else reshape(grad, shape=(grad.type.size,))
    rows = _matrix(x)
    before = tuple(range(rows.type.ndim - 1))
    made = []
    if wanted[0]:
        out = ((given.type.ndim - 1,), (0,)) if outputs else ((), ())
        made.append(reshape(dot_general(given, weight, contract=out), shape=x.type.shape))
    if wanted[1]:
        made.append(dot_general(given, rows, contract=(before, before)))
    if wanted[2]:
        made.append(reduce_sum(given, axes=before))
    return tuple(made)


def _rows(x: Node, axes: int) -> tuple[int, ...]:
    return tuple(range(x.type.ndim - axes, x.type.ndim))


def _sum_kept(x: Node, axes: tuple[int, ...]) -> Node:
    return kept(reduce_sum(x, axes=axes), x, axes)


def _mean_kept(x: Node, axes: tuple[int, ...]) -> Node:
    count = math.prod(x.type.shape[axis] for axis in axes)
    return _sum_kept(x, axes) / count


@composite
def layer_norm(x: Node, epsilon: Node, *scaling: Node, axes: int) -> tuple[Node, Node, Node]:
    """`(x - mean) / deviation` over the last `axes` axes, times a weight, plus a bias; the means;
    the reciprocal deviations.

    x: floats. epsilon: 0-d, f32 or f64 as x is computed in, added to the variance. scaling: weight
    and bias, either or both (the weight first), of the dtype and last axes of x.
    Result: type of x; twice the dtype that x is computed in, with the last `axes` axes being 1.
    Raises: DTypeError, ShapeError. Source: Ba, Kiros and Hinton, arXiv 1607.06450.
    """
    wide, last = _wide("layer_norm", x), _rows(x, axes)
    mean = _mean_kept(wide, last)
    apart = wide - mean
    scale = rsqrt(_mean_kept(square(apart), last) + epsilon)
    found = apart * scale
    if scaling:
        found = found * _wide("layer_norm", scaling[0])
    if len(scaling) > 1:
        found = found + _wide("layer_norm", scaling[1])
    return _narrow(found, x), mean, scale


@composite
def layer_norm_inference(x: Node, epsilon: Node, *scaling: Node, axes: int) -> Node:
    """The first result of `layer_norm`; the others are needed for gradients only.

    Operands and errors: as for `layer_norm`. Result: type of x.
    """
    return layer_norm(x, epsilon, *scaling, axes=axes)[0]


@composite
def layer_norm_backward(
    grad: Node, x: Node, mean: Node, scale: Node, *weight: Node, axes: int
) -> tuple[Node, Node, Node]:
    """The gradients of `layer_norm` times `grad`: of x, of the weight, of the bias.

    grad, x: floats, one type. mean, scale: results of `layer_norm`. weight: if it had one.
    Result: type of x; twice the dtype of x, its last `axes` axes. Raises: DTypeError, ShapeError.
    """
    wide, last = _wide("layer_norm_backward", x), _rows(x, axes)
    given = _wide("layer_norm_backward", grad)
    before = tuple(range(x.type.ndim - axes))
    normal = (wide - mean) * scale
    inner = given * _wide("layer_norm_backward", weight[0]) if weight else given
    along = normal * _mean_kept(inner * normal, last)
    found = scale * (inner - _mean_kept(inner, last) - along)
    of_weight = reduce_sum(given * normal, axes=before)
    of_bias = reduce_sum(given, axes=before)
    return _narrow(found, x), _narrow(of_weight, x), _narrow(of_bias, x)


@composite
def attention(
    query: Node, key: Node, value: Node, scale: Node, *mask: Node, causal: bool = False
) -> Node:
    """`softmax(query @ keyᵀ * scale + mask) @ value`.

    query: [..., L, E]; key: [..., S, E]; value: [..., S, V]; floats of one dtype, their first axes
    the same. scale: 0-d, f32 or f64 as they are computed in. mask: one at most, broadcast to
    [..., L, S]: flags of the places that count, or floats to add. A line in which no place counts
    gives 0. causal: place i of L sees the places up to i of S.
    Result: [..., L, V] of their dtype. Raises: DTypeError, ShapeError.
    Source: Vaswani et al., arXiv 1706.03762.
    """
    q, k, v = (_wide("attention", x) for x in (query, key, value))
    last = q.type.ndim - 1
    first = tuple(range(last - 1))
    found = dot_general(q * scale, k, batch=(first, first), contract=((last,), (last,)))
    least = scalar(-math.inf, found.type.dtype)
    if causal:
        rows, columns = (iota(shape=found.type.shape[-2:], axis=axis, dtype=S32) for axis in (0, 1))
        found = select(rows >= columns, found, least)
    for given in mask:
        if given.type.dtype is BOOL:
            found = select(given, found, least)
        else:
            found = found + _wide("attention", given)
    share = (masked_softmax if mask else softmax)(found, axis=last)
    made = dot_general(share, v, batch=(first, first), contract=((last,), (last - 1,)))
    return _narrow(made, query)


def _others(x: Node, axis: int) -> tuple[int, ...]:
    return tuple(i for i in range(x.type.ndim) if i != axis)


def _along(line: Node, like: Node, axis: int) -> Node:
    """A line of `axis`, reshaped to broadcast over the other axes."""
    shape = tuple(n if i == axis else 1 for i, n in enumerate(like.type.shape))
    return reshape(line, shape=shape)


@composite
def channel_moments(x: Node, *, axis: int) -> tuple[Node, Node]:
    """The mean and the variance over all axes but `axis`.

    x: floats. Result: twice f32, or f64 if x is f64; the length of the axis. Raises: DTypeError.
    """
    wide, axes = _wide("channel_moments", x), _others(x, axis)
    mean = _mean_kept(wide, axes)
    spread = _mean_kept(square(wide - mean), axes)
    shape = (x.type.shape[axis],)
    return reshape(mean, shape=shape), reshape(spread, shape=shape)


@composite
def batch_norm(x: Node, mean: Node, scale: Node, *scaling: Node, axis: int) -> Node:
    """`x` less a mean, times a scale, times a weight, plus a bias, each a line along `axis`.

    x: floats. mean, scale: f32, or f64 if x is f64. scaling: weight and bias, either or both (the
    weight first), floats. Result: type of x. Raises: DTypeError, ShapeError.
    Source: Ioffe and Szegedy, arXiv 1502.03167.
    """
    wide = _wide("batch_norm", x)
    factor, lines = scale, [_wide("batch_norm", line) for line in scaling]
    if lines:
        factor = factor * lines[0]
    found = (wide - _along(mean, x, axis)) * _along(factor, x, axis)
    if len(lines) > 1:
        found = found + _along(lines[1], x, axis)
    return _narrow(found, x)


@composite
def batch_norm_backward(
    grad: Node, x: Node, mean: Node, scale: Node, *weight: Node, axis: int, fixed: bool
) -> tuple[Node, Node, Node]:
    """The gradients of `batch_norm` times `grad`: of x, of the weight, of the bias.

    grad: type of x. x, mean, scale: the operands of `batch_norm`. weight: if it had one. `fixed`:
    mean and scale do not depend on x. Result: type of x; twice the dtype of mean, its length.
    Raises: DTypeError, ShapeError.
    """
    wide, axes = _wide("batch_norm_backward", x), _others(x, axis)
    given = _wide("batch_norm_backward", grad)
    normal = (wide - _along(mean, x, axis)) * _along(scale, x, axis)
    of_bias = reduce_sum(given, axes=axes)
    of_weight = reduce_sum(given * normal, axes=axes)
    factor = scale * _wide("batch_norm_backward", weight[0]) if weight else scale
    inner = given
    if not fixed:
        count = scalar(math.prod(x.type.shape[i] for i in axes), wide.type.dtype)
        inner = inner - _along(of_bias / count, x, axis)
        inner = inner - normal * _along(of_weight / count, x, axis)
    return _narrow(inner * _along(factor, x, axis), x), of_weight, of_bias


@composite
def softmax_backward(grad: Node, y: Node, *, axis: int) -> Node:
    """The gradient of `softmax`, whose result was `y`, times `grad`: floats of one type.

    Result: that type. Raises: DTypeError, ShapeError.
    """
    given, wide = _wide("softmax_backward", grad), _wide("softmax_backward", y)
    return _narrow(wide * (given - _sum_kept(given * wide, (axis,))), y)


@composite
def log_softmax_backward(grad: Node, y: Node, *, axis: int) -> Node:
    """The gradient of `log_softmax`, whose result was `y`, times `grad`: floats of one type.

    Result: that type. Raises: DTypeError, ShapeError.
    """
    given, wide = _wide("log_softmax_backward", grad), _wide("log_softmax_backward", y)
    return _narrow(given - exp(wide) * _sum_kept(given, (axis,)), y)


@composite
def lerp(x: Node, end: Node, weight: Node) -> Node:
    """`x + weight * (end - x)`. x, end, weight: floats of one dtype, shapes that broadcast.

    From a weight of 0.5 on it is computed from `end`, so that a weight of 1 gives `end` exactly.
    Result: dtype of x. Raises: DTypeError, ShapeError.
    """
    first, last, share = (_wide("lerp", t) for t in (x, end, weight))
    apart, one = last - first, scalar(1, share.type.dtype)
    near = abs(share) < 0.5
    from_end = last - apart * (one - share)
    return _narrow(select(near, first + share * apart, from_end), x)


@composite
def add_product(x: Node, a: Node, b: Node, factor: Node) -> Node:
    """`x + factor * a * b`: floats of one dtype, shapes that broadcast. Result: dtype of x.

    Raises: DTypeError, ShapeError.
    """
    base, first, second, scale = (_wide("add_product", t) for t in (x, a, b, factor))
    return _narrow(base + scale * (first * second), x)


@composite
def add_quotient(x: Node, a: Node, b: Node, factor: Node) -> Node:
    """`x + factor * a / b`: floats of one dtype, shapes that broadcast. Result: dtype of x.

    Raises: DTypeError, ShapeError.
    """
    base, first, second, scale = (_wide("add_quotient", t) for t in (x, a, b, factor))
    return _narrow(base + scale * first / second, x)
