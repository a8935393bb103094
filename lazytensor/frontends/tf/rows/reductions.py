"""Reductions over axes that the host knows, and cumulative functions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BF16, COMPLEX, F16, F32, FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import number


def axis_of(given: Any, ndim: int) -> int:
    """An axis from 0 on. Raises: ValueError for one that is not there."""
    axis = int(given)
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} of {ndim}")
    return axis % ndim


def axes_of(x: Node, given: np.ndarray) -> tuple[int, ...]:
    """Axes from 0 on, in order. Raises: ValueError for one that is not there, or there twice."""
    ndim = x.type.ndim
    axes = [int(axis) for axis in given.ravel()]
    if any(not -ndim <= axis < max(ndim, 1) for axis in axes):
        raise ValueError(f"axes {axes} of {x.type}")
    found = sorted({axis % ndim for axis in axes}) if ndim else []
    if ndim and len(found) < len(axes):
        raise ValueError(f"axes {axes} of {x.type}")
    return tuple(found)


def _reduction(op: Any) -> Function:
    def row(x: Node, given: np.ndarray, *, keep_dims: bool = False, **_: Any) -> Node:
        axes = axes_of(x, given)
        return ops.kept(op(x, axes=axes), x, axes, keep_dims)

    return row


def _extreme(op: Any, least: bool) -> Function:
    plain = _reduction(op)

    def row(x: Node, given: np.ndarray, *, keep_dims: bool = False, **_: Any) -> Node:
        axes = axes_of(x, given)
        if prod(x.type.shape[axis] for axis in axes):
            return plain(x, given, keep_dims=keep_dims)
        from lazytensor.core.ops.reduction import identity

        start = scalar(identity("max" if least else "min", x.type.dtype), x.type.dtype)
        shape = tuple(n for axis, n in enumerate(x.type.shape) if axis not in axes)
        return ops.kept(ops.broadcast(start, shape=shape), x, axes, keep_dims)

    return row


def _mean(x: Node, given: np.ndarray, *, keep_dims: bool = False, **_: Any) -> Node:
    axes = axes_of(x, given)
    if x.type.dtype in FLOATS | COMPLEX:
        return ops.mean(x, axes=axes, keepdims=keep_dims)
    count = prod(x.type.shape[axis] for axis in axes)
    total = ops.kept(ops.reduce_sum(x, axes=axes), x, axes, keep_dims)
    return total / count


def _euclidean_norm(x: Node, given: np.ndarray, *, keep_dims: bool = False, **_: Any) -> Node:
    axes = axes_of(x, given)
    return ops.norm2(x, axes=axes, keepdims=keep_dims)


def passed_over(x: Node, least: bool) -> Node:
    """`x` for a search of the largest (`least`) or smallest, with what loses in place of NaN.

    TF's kernels take what compares as better, which NaN does not.
    """
    if x.type.dtype not in FLOATS:
        return x
    return ops.select(ops.is_nan(x), number(-np.inf if least else np.inf, x), x)


def _arg(op: Any) -> Function:
    def row(x: Node, given: np.ndarray, *, output_type: Any = None, **_: Any) -> Node:
        (axis,) = axes_of(x, given)
        made: Node = op(passed_over(x, op is ops.argmax), axis=axis)
        dtype = np.dtype(np.int64) if output_type is None else output_type
        return made if made.type.dtype == dtype else ops.convert(made, dtype=dtype)

    return row


def _cumulative(op: Any, start: int) -> Function:
    def row(
        x: Node, given: np.ndarray, *, exclusive: bool = False, reverse: bool = False, **_: Any
    ) -> Node:
        axes = axes_of(x, given)
        if not axes:
            return ops.broadcast(number(start, x), shape=()) if exclusive else x
        made: Node = op(x, axis=axes[0], reverse=reverse)
        if not exclusive or not x.type.size:
            return made
        low = tuple(int(axis == axes[0]) for axis in range(x.type.ndim))
        high = tuple(-n for n in low)
        if reverse:
            low, high = high, low
        zeros = (0,) * x.type.ndim
        return ops.pad(made, number(start, x), low=low, high=high, interior=zeros)

    return row


def _l2_loss(x: Node, **_: Any) -> Node:
    wide = ops.convert(x, dtype=F32) if x.type.dtype in (F16, BF16) else x
    total = ops.reduce_sum(ops.square(wide), axes=tuple(range(x.type.ndim)))
    made = total * 0.5
    return made if made.type.dtype == x.type.dtype else ops.convert(made, dtype=x.type.dtype)


ROWS: dict[str, Function] = {
    "Sum": _reduction(ops.reduce_sum),
    "Prod": _reduction(ops.reduce_prod),
    "Max": _extreme(ops.reduce_max, True),
    "Min": _extreme(ops.reduce_min, False),
    "Mean": _mean,
    "All": _reduction(ops.reduce_and),
    "Any": _reduction(ops.reduce_or),
    "EuclideanNorm": _euclidean_norm,
    "ArgMax": _arg(ops.argmax),
    "ArgMin": _arg(ops.argmin),
    "Cumsum": _cumulative(ops.cumsum, 0),
    "Cumprod": _cumulative(ops.cumprod, 1),
}


rows(ROWS, host=(1,))
rows({"L2Loss": _l2_loss})
