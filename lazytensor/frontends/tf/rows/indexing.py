"""Gathering, scattering, segments: positions are data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib import arranging
from lazytensor.core.ops.reduction import identity
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.checks import Demand, inside
from lazytensor.frontends.tf.rows.elementwise import greatest, number
from lazytensor.frontends.tf.rows.reductions import axis_of, passed_over


def wide(indices: Node) -> Node:
    """Indices as s64."""
    return indices if indices.type.dtype == S64 else ops.convert(indices, dtype=S64)


def gathered(x: Node, indices: Node, axis: int) -> Node:
    """The parts of `x` along `axis` at `indices`, whose axes take its place."""
    return arranging.taken(x, wide(indices), axis)


def scattered_rows(x: Node, indices: Node, updates: Node, mode: str) -> Node:
    """`x` with `updates` brought into its rows: one a position, or a number for all."""
    shape = (*indices.type.shape, *x.type.shape[1:])
    if not updates.type.ndim:
        updates = ops.broadcast(updates, shape=shape)
    return ops.scatter(x, updates, wide(indices), axes=(0,), mode=mode)


def _gather(x: Node, indices: Node, **_: Any) -> Node:
    return gathered(x, indices, 0)


def _gather_v2(x: Node, indices: Node, given: np.ndarray, *, batch_dims: int = 0, **_: Any) -> Node:
    axis = axis_of(given, x.type.ndim)
    batch = batch_dims % (indices.type.ndim + 1) if batch_dims < 0 else batch_dims
    if not batch:
        return gathered(x, indices, axis)
    shared = x.type.shape[:batch]
    places: list[Node] = []
    for i in range(batch):
        line = ops.iota(dtype=S64, shape=(shared[i],), axis=0)
        shape = tuple(shared[i] if j == i else 1 for j in range(indices.type.ndim))
        places.append(ops.reshape(line, shape=shape))
    made = ops.gather(x, *places, wide(indices), axes=(*range(batch), axis))
    # (batch, indices, rest) becomes (batch, axes before `axis`, indices, axes after).
    front = indices.type.ndim
    before = axis - batch
    order = (
        *range(batch), *range(front, front + before), *range(batch, front),
        *range(front + before, made.type.ndim),
    )  # fmt: skip
    return ops.transpose(made, axes=order)


def _columns(indices: Node) -> list[Node]:
    """The last axis of indices as one index an axis."""
    last = indices.type.ndim - 1
    return [ops.at_index(wide(indices), last, i) for i in range(indices.type.shape[last])]


def _gather_nd(x: Node, indices: Node, **_: Any) -> Node:
    columns = _columns(indices)
    if not columns:
        return ops.broadcast(x, shape=indices.type.shape[:-1] + x.type.shape)
    return ops.gather(x, *columns, axes=tuple(range(len(columns))))


def scattered(x: Node, indices: Node, updates: Node, mode: str) -> Node:
    """`x` with `updates` brought in at indices whose columns are positions in its first axes."""
    columns = _columns(indices)
    if not columns:
        raise ValueError("indices of no axis")
    return ops.scatter(x, updates, *columns, axes=tuple(range(len(columns))), mode=mode)


def _scatter_nd(indices: Node, updates: Node, shape: np.ndarray, **_: Any) -> Node:
    zero = scalar(False if updates.type.dtype.kind == "b" else 0, updates.type.dtype)
    zeros = ops.broadcast(zero, shape=tuple(int(n) for n in shape))
    return scattered(zeros, indices, updates, "add")


def _tensor_scatter(mode: str, sign: bool = False) -> Function:
    def row(x: Node, indices: Node, updates: Node, **_: Any) -> Node:
        if mode in ("max", "min"):
            updates = passed_over(updates, mode == "max")
        return scattered(x, indices, -updates if sign else updates, mode)

    return row


def _segments(mode: str, kind: str) -> Function:
    def row(x: Node, ids: Node, count: np.ndarray, **_: Any) -> Node:
        rest = x.type.shape[ids.type.ndim :]
        # Infinities are TF's finite extremes here.
        start = identity(kind, x.type.dtype)
        if isinstance(start, float) and np.isinf(start):
            start = -greatest(x) if kind == "max" else greatest(x)
        base = ops.broadcast(number(start, x), shape=(int(count), *rest))
        flat = ops.reshape(wide(ids), shape=(ids.type.size,))
        # A negative segment is dropped, as one that is too large is.
        flat = ops.select(flat < 0, scalar(int(count), S64), flat)
        lines = ops.reshape(x, shape=(ids.type.size, *rest))
        return ops.scatter(base, lines, flat, axes=(0,), mode=mode)

    return row


SEGMENTS: Final = {
    "Sum": _segments("add", "sum"), "Prod": _segments("mul", "prod"),
    "Max": _segments("max", "max"), "Min": _segments("min", "min"),
}  # fmt: skip


def _invert_permutation(x: Node, **_: Any) -> Node:
    line = ops.iota(dtype=x.type.dtype, shape=x.type.shape, axis=0)
    zeros = ops.broadcast(number(0, x), shape=x.type.shape)
    return ops.scatter(zeros, line, wide(x), axes=(0,), mode="set")


def _along(x: Node, indices: Node, given: np.ndarray, **_: Any) -> list[Demand]:
    return [inside(indices, x.type.shape[axis_of(given, x.type.ndim)])]


def elements(indices: Node, shape: Sequence[int]) -> list[Demand]:
    """Indices whose columns are positions in the first axes of this shape."""
    sizes = tuple(shape[: indices.type.shape[-1]])
    return [inside(indices, *sizes)] if sizes else []


def _of_segments(_: Node, ids: Node, count: np.ndarray, **__: Any) -> list[Demand]:
    return [inside(ids, int(count), name="segment_ids", lowest=None)]


rows({"Gather": _gather}, demands=lambda x, i, **_: [inside(i, x.type.shape[0])])
rows({"GatherV2": _gather_v2}, host=(2,), demands=_along)
rows({"GatherNd": _gather_nd, "TensorScatterUpdate": _tensor_scatter("set"),
      "TensorScatterAdd": _tensor_scatter("add"),
      "TensorScatterSub": _tensor_scatter("add", True),
      "TensorScatterMin": _tensor_scatter("min"), "TensorScatterMax": _tensor_scatter("max")},
     demands=lambda x, i, *_, **__: elements(i, x.type.shape))  # fmt: skip
rows({"ScatterNd": _scatter_nd}, host=(2,),
     demands=lambda i, _, shape, **__: elements(i, shape.tolist()))  # fmt: skip
rows({"InvertPermutation": _invert_permutation},
     demands=lambda x, **_: [inside(x, x.type.size, name="input")])  # fmt: skip
rows({f"UnsortedSegment{name}": row for name, row in SEGMENTS.items()}, host=(2,),
     demands=_of_segments)  # fmt: skip
rows({f"Segment{name}V2": row for name, row in SEGMENTS.items()}, host=(2,))
