"""Bands, triangles and diagonals of matrices."""

from __future__ import annotations

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.numbers import filled, like


def band(shape: Shape, k: int, compare: Op) -> Node:
    """For each element of a matrix the comparison of its column with its row plus `k`."""
    rows = ops.iota(dtype=S64, shape=(shape[0], 1), axis=0)
    columns = ops.iota(dtype=S64, shape=(1, shape[1]), axis=1)
    k = max(-shape[0] - 1, min(k, shape[1] + 1))  # equivalent, and within the range of s64
    return compare(columns, rows + k if k else rows)


def lower_triangle(x: Node, k: int = 0) -> Node:
    """The matrices in the last two axes, 0 above diagonal `k`."""
    return ops.select(band(x.type.shape[-2:], k, ops.less_equal), x, like(0, x))


def upper_triangle(x: Node, k: int = 0) -> Node:
    """The matrices in the last two axes, 0 below diagonal `k`."""
    return ops.select(band(x.type.shape[-2:], k, ops.greater_equal), x, like(0, x))


def on_diagonal(line: Node, k: int = 0) -> Node:
    """A square matrix with the vector `line` on diagonal `k`, 0 elsewhere."""
    n = line.type.size + abs(k)
    none = filled((n, n), 0, line.type.dtype)
    return ops.update_diagonal(none, line, offset=k, axis1=0, axis2=1)


def on_diagonals(lines: Node, other: Node) -> Node:
    """Square matrices with the last axis of `lines` on their diagonals, `other` elsewhere.

    lines: [..., n]. other: dtype of lines, 0-d. Result: [..., n, n].
    """
    n = lines.type.shape[-1]
    return ops.select(band((n, n), 0, ops.equal), ops.new_axis(lines), other)


def last_diagonal(x: Node, k: int = 0) -> Node:
    """Diagonal `k` of the matrices in the last two axes."""
    return ops.diagonal(x, offset=k, axis1=x.type.ndim - 2, axis2=x.type.ndim - 1)


def with_last_diagonal(x: Node, line: Node, k: int = 0) -> Node:
    """The matrices in the last two axes with `line` on diagonal `k`."""
    return ops.update_diagonal(x, line, offset=k, axis1=x.type.ndim - 2, axis2=x.type.ndim - 1)
