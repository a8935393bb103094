"""Means and spreads: statistics over axes."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, F16, F32, F64, S64, real_of
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op, scalar
from lazytensor.frontends.numpy.arrays.conversion import operand, result_type
from lazytensor.frontends.numpy.functions.indices import every
from lazytensor.frontends.numpy.functions.reductions import (
    Axes,
    axes_within,
    flags_of,
    keeps,
    kept,
    masked,
)
from lazytensor.frontends.numpy.functions.results import check_target, deliver
from lazytensor.frontends.numpy.functions.signatures import (
    NO_VALUE,
    Function,
    Given,
    like,
    named,
)
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs import checks
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, recast, warn_user

NO_FREEDOM: Final = "Degrees of freedom <= 0 for slice"


def _computed_in(node: Node, dtype: Any) -> np.dtype:
    """The dtype that NumPy computes a mean in."""
    if dtype is not None:
        return canonical(np.dtype(dtype))
    return node.type.dtype if node.type.dtype.kind not in "biu" else F64


def mean_axes(axis: Any, ndim: int) -> Axes:
    """The axes of a mean; a list is refused. Raises: AxisError, ValueError, TypeError."""
    return axes_within((axis,) if axis is not None and type(axis) is not tuple else axis, ndim)


def _count(node: Node, axes: Axes) -> int:
    return math.prod(node.type.shape[i] for i in axes)


def _counted(node: Node, where: Any, axes: Axes, dtype: np.dtype, keepdims: bool) -> Node:
    """The number of elements that `where` selects, as `dtype`."""
    if where is NO_VALUE or where is True:
        return scalar(_count(node, axes), dtype)
    flags = ops.broadcast(operand(where), shape=node.type.shape)
    made = ops.reduce_sum(convert(convert(flags, BOOL), S64), axes=axes)
    return convert(kept(node, made, axes, keepdims), dtype)


@like(np.mean)
def mean(given: Given) -> Any:
    """See numpy.mean."""
    node, out, where = operand(given.a), given.out, given.where
    axes = mean_axes(given.axis, node.type.ndim)
    keep = keeps(given.keepdims)
    kind = _computed_in(node, given.dtype)
    check_target(out, kind)
    if not _count(node, axes):
        warn_user("Mean of empty slice", RuntimeWarning)
    if kind.kind in "iu":
        return deliver(_whole_mean(convert(node, kind), where, axes, keep), out, "unsafe")
    if kind == BOOL:
        raise HostOnly("a mean as bool: NumPy divides whether any flag is set by their number")
    numbers = recast(node, kind)
    flags = flags_of(where, node)
    if flags is not None:
        made = ops.chosen_mean(numbers, flags, axes=axes, keepdims=keep)
    else:
        made = ops.mean(numbers, axes=axes, keepdims=keep)
    if checks.current() is not checks.OFF:
        _check_mean(numbers, where, axes)
    return deliver(made, out, "same_kind" if flags is None else "unsafe")


def _whole_mean(node: Node, where: Any, axes: Axes, keep: bool) -> Node:
    """The mean of integers as an integer. The sum wraps around and the fraction is cut off."""
    total = kept(node, ops.reduce_sum(masked(node, where, 0), axes=axes), axes, keep)
    counted = _counted(node, where, axes, F64, keep)
    return convert(convert(total, F64) / counted, node.type.dtype)


def _check_mean(node: Node, where: Any, axes: Axes) -> None:
    """Check the flags of a mean's sum and quotient."""
    wide = convert(node, F32) if node.type.dtype == F16 else node
    chosen = masked(wide, where, 0)
    total = ops.reduce_sum(chosen, axes=axes)
    checks.check("reduce", [chosen], total, axes=axes)
    _check_quotient(total, _counted(wide, where, axes, total.type.dtype, False))


def _check_quotient(total: Node, count: Node) -> None:
    name = "divide" if total.type.ndim else checks.SCALAR_PREFIX + "divide"
    checks.check(name, [total, count], total / count)


def freedom(given: Given) -> Any:
    """What is subtracted from the number of elements: `ddof`, or `correction` in its place."""
    if given.correction is NO_VALUE:
        return given.ddof
    refuse_unless(given.ddof == 0)
    return given.correction


def _spread(function: Function, op: Op) -> Function:
    """`var` and `std`."""

    @like(function)
    def spread(given: Given) -> Any:
        ddof = freedom(given)
        node, where, dtype = operand(given.a), given.where, given.dtype
        axes = mean_axes(given.axis, node.type.ndim)
        keep = keeps(given.keepdims)
        kind = _computed_in(node, dtype)
        check_target(given.out, kind if dtype is not None else real_of(kind))
        if kind.kind in "biu" or (node.type.dtype.kind == "c" != kind.kind):
            raise HostOnly("NumPy rounds, or drops parts, at each step")
        free = max(_count(node, axes) - real(ddof), 0)
        wide = F32 if kind == F16 else kind
        result = real_of(kind) if dtype is None else kind  # complex only if `dtype` is
        if given.mean is NO_VALUE and (where is NO_VALUE or where is True):
            if free <= 0:
                warn_user(NO_FREEDOM, RuntimeWarning)
            divisor = scalar(float(free), real_of(wide))
            numbers = convert(node, kind)
            made = op(numbers, divisor, axes=axes, keepdims=keep)
            if free <= 0 and checks.current() is not checks.OFF:
                one = scalar(1.0, divisor.type.dtype)
                of_one = convert(ops.variance(numbers, one, axes=axes), divisor.type.dtype)
                _check_quotient(of_one, divisor)
            return deliver(convert(made, result), given.out)
        made = _chosen_variance(convert(node, wide), axes, ddof, keep, where, given.mean)
        made = ops.sqrt(made) if op is ops.deviation else made
        return deliver(convert(made, result), given.out)

    return spread


def _chosen_variance(node: Node, axes: Axes, ddof: Any, keep: bool, where: Any, mean: Any) -> Node:
    """The variance of the elements that `where` selects, about `mean` if it is given."""
    dtype = real_of(node.type.dtype)
    if mean is NO_VALUE:
        total = kept(node, ops.reduce_sum(masked(node, where, 0), axes=axes), axes, True)
        count = _counted(node, where, axes, node.type.dtype, True)
        center = total / count
        checks.check("divide", [total, count], center)
    else:
        center = convert(operand(mean), node.type.dtype)
    apart = node - center
    squares = ops.square(ops.abs(apart))
    made = kept(node, ops.reduce_sum(masked(squares, where, 0), axes=axes), axes, keep)
    counted = _counted(node, where, axes, dtype, keep)
    none = scalar(0.0, dtype)
    free = ops.maximum(counted - convert(operand(ddof), dtype), none)
    if checks.current() is not checks.OFF:
        _check_quotient(made, free)
    quotient = made / free
    return checks.warned(quotient, ops.equal(free, none), NO_FREEDOM)


@like(np.average)
def average(given: Given) -> Any:
    """See numpy.average."""
    node = operand(given.a)
    axes = axes_within(given.axis, node.type.ndim)
    keep = keeps(given.keepdims)
    if given.weights is None:
        made = ops.mean(convert(node, _computed_in(node, None)), axes=axes, keepdims=keep)
        if not node.type.size:
            raise HostOnly("NumPy divides numbers of elements by each other, or warns")
        scale = scalar(_count(node, axes), made.type.dtype)
    else:
        weight = _lined_up(operand(given.weights), node, given.axis, axes)
        dtypes = [node.type.dtype, weight.type.dtype]
        dtype = result_type(*dtypes, *([F64] if node.type.dtype.kind in "biu" else []))
        spread = ops.broadcast(convert(weight, dtype), shape=node.type.shape)
        scale = kept(node, ops.reduce_sum(spread, axes=axes), axes, keep)
        total = ops.reduce_sum(convert(node, dtype) * spread, axes=axes)
        zero = ops.not_equal(scale, scalar(0, dtype))
        text = "Weights sum to zero, can't be normalized"
        fine = ops.guard(every(zero), error=ZeroDivisionError, text=text)
        made = ops.guarded(kept(node, total, axes, keep) / scale, fine)
    if not given.returned:
        return deliver(made)
    return deliver(made), deliver(ops.broadcast(scale, shape=made.type.shape))


def _lined_up(weight: Node, node: Node, axis: Any, axes: Axes) -> Node:
    """Weights of some axes, reshaped to broadcast to all axes of `node`."""
    if weight.type.shape == node.type.shape:
        return weight
    refuse_unless(axis is not None)
    refuse_unless(weight.type.shape == tuple(node.type.shape[i] for i in axes))
    weight = ops.transpose(weight, axes=tuple(np.argsort(axes).tolist()))
    shape = tuple(n if i in axes else 1 for i, n in enumerate(node.type.shape))
    return ops.reshape(weight, shape=shape)


LAZY: dict[str, Function] = named(
    average, mean, _spread(np.std, ops.deviation), _spread(np.var, ops.variance)
)


def as_method(name: str) -> Function:
    """`x.var` and `x.std`, which lack the keyword `correction`."""
    function = LAZY[name]

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_unless("correction" not in kwargs)
        return function(x, *args, **kwargs)

    return method
