"""The array API standard's reductions and running sums, over nodes.

Source: data-apis.org/array-api, 2024.12.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib import arranging, ranking
from lazytensor.core.lib.arranging import Axes, axes_of
from lazytensor.core.lib.numbers import cast_to, like

_WIDE: Final = {kind: np.dtype(wide) for kind, wide in zip("biu", "llL", strict=True)}
"""The dtype of a sum, by kind; floats keep theirs."""


def _wide(x: Node, dtype: Any) -> Node:
    return cast_to(x, np.dtype(dtype or _WIDE.get(x.type.dtype.kind, x.type.dtype)))


def _reduced(op: Op, x: Node, axis: Axes, keepdims: bool) -> Node:
    axes = axes_of(x, axis)
    return ops.kept(op(x, axes=axes), x, axes, keepdims)


def sum(x: Node, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Node:
    """The sum; small integers are added as 64 bits."""
    return _reduced(ops.reduce_sum, _wide(x, dtype), axis, keepdims)


def prod_(x: Node, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Node:
    """The product; small integers are multiplied as 64 bits."""
    return _reduced(ops.reduce_prod, _wide(x, dtype), axis, keepdims)


def max(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """The largest element."""
    return _reduced(ops.reduce_max, x, axis, keepdims)


def min(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """The least element."""
    return _reduced(ops.reduce_min, x, axis, keepdims)


def mean(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """The mean."""
    return _reduced(ops.mean, x, axis, keepdims)


def all(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """Whether all elements are true."""
    return _reduced(ops.reduce_and, cast_to(x, BOOL), axis, keepdims)


def any(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """Whether an element is true."""
    return _reduced(ops.reduce_or, cast_to(x, BOOL), axis, keepdims)


def count_nonzero(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """The number of elements that are not 0."""
    return sum(cast_to(x, BOOL), axis=axis, keepdims=keepdims)


def _spread(op: Op, x: Node, axis: Axes, correction: float, keepdims: bool) -> Node:
    axes = axes_of(x, axis)
    free = prod(x.type.shape[i] for i in axes) - correction
    return op(x, like(free if free > 0 else 0, x), axes=axes, keepdims=keepdims)


def var(x: Node, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Node:
    """The variance: squares are divided by the number of elements less `correction`."""
    return _spread(ops.variance, x, axis, correction, keepdims)


def std(x: Node, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Node:
    """The root of the variance."""
    return _spread(ops.deviation, x, axis, correction, keepdims)


def _position(op: Op, x: Node, axis: Axes, keepdims: bool) -> Node:
    axes = axes_of(x, axis)
    line = ranking.lined(x, axes)
    return ops.kept(op(line, axis=line.type.ndim - 1), x, axes, keepdims)


def argmax(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """Where the largest element is."""
    return _position(ops.argmax, x, axis, keepdims)


def argmin(x: Node, /, *, axis: Axes = None, keepdims: bool = False) -> Node:
    """Where the least element is."""
    return _position(ops.argmin, x, axis, keepdims)


def _running(op: Op, first: int, x: Node, axis: int | None, dtype: Any, initial: bool) -> Node:
    place = normalize_axis_index(axis or 0, x.type.ndim)
    made = op(_wide(x, dtype), axis=place)
    if not initial:
        return made
    pairs = [(int(i == place), 0) for i in range(x.type.ndim)]
    return arranging.padded(made, like(first, made), pairs)


def cumulative_sum(
    x: Node, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Node:
    """The running sum; `include_initial`: with 0 before it."""
    return _running(ops.cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Node, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Node:
    """The running product; `include_initial`: with 1 before it."""
    return _running(ops.cumprod, 1, x, axis, dtype, include_initial)
