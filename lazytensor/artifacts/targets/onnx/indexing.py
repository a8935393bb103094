"""StableHLO's gathers and scatters, as ONNX nodes over whole indices.

StableHLO moves a slice that does not fit into its array, and leaves out an update that does not.
ONNX does neither: indices are bounded here, and updates outside go to an element that is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from lazytensor.artifacts.targets.onnx.elementwise import Rule
from lazytensor.artifacts.targets.onnx.graph import Graph, Refused, only_operation
from lazytensor.artifacts.targets.onnx.movement import INT64
from lazytensor.backends.xla.portable.operations import Operation

SCATTERS: Final = {
    "add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "second": "none",
}  # fmt: skip


def _starts(g: Graph, op: Operation, said: dict[str, Any], indices: str, into: str) -> str:
    """Where each slice starts, on every axis of the operand: [*batch, axes]."""
    rank = len(g.type(op.operands[0]).shape)
    given = g.type(op.operands[1]).shape
    vector = said.get("index_vector_dim", 0)
    indices = g.cast(indices, INT64)
    if vector == len(given):
        indices = g.node("Unsqueeze", indices, g.ints([vector]))
    elif vector != len(given) - 1:
        axes = [i for i in range(len(given)) if i != vector]
        indices = g.transpose(indices, [*axes, vector])
    places = said.get(into, ())
    picks = np.zeros((len(places), rank), np.int64)
    for i, axis in enumerate(places):
        picks[i, axis] = 1
    return g.node("MatMul", indices, g.constant(picks))


def _batched(
    g: Graph, starts: str, batch: Sequence[int], axes: Sequence[int], rank: int, of: Sequence[int]
) -> str:
    """The starts plus, on the axes that run along with the indices', the position there."""
    for axis, along in zip(axes, of, strict=True):
        line = np.zeros((*batch, rank), np.int64)
        shape = [1] * len(batch)
        shape[along] = batch[along]
        line[..., axis] = np.arange(batch[along]).reshape(shape)
        starts = g.node("Add", starts, g.constant(line))
    return starts


def _batch(op: Operation, g: Graph, said: dict[str, Any]) -> list[int]:
    shape = g.type(op.operands[1]).shape
    return [n for i, n in enumerate(shape) if i != said.get("index_vector_dim", 0)]


def _gather(g: Graph, op: Operation, x: str, indices: str) -> str:
    said, sizes = op.attributes["dimension_numbers"], op.attributes["slice_sizes"]
    along = _along_one_axis(g, op, said, sizes)
    if along is not None:
        return _taken(g, op, x, indices, along)
    batch, rank = _batch(op, g, said), len(sizes)
    starts = _starts(g, op, said, indices, "start_index_map")
    last = g.node("Sub", g.sizes(op.operands[0]), g.ints(sizes))
    starts = g.node("Min", g.node("Max", starts, g.ints([0] * rank)), last)
    lying = said.get("operand_batching_dims", ())
    if lying:
        g.static(op.operands[1], "a gather along a batch")
    theirs = [_without(said, i) for i in said.get("start_indices_batching_dims", ())]
    starts = _batched(g, starts, batch, lying, rank, theirs)
    gone = {*said.get("collapsed_slice_dims", ()), *lying}
    part = [n for i, n in enumerate(sizes) if i not in gone]
    whole = _grid(g, starts, len(batch), sizes, part)
    made = g.node("GatherND", x, whole)
    return _placed(g, op, made, said.get("offset_dims", ()), len(batch), len(part))


def _without(said: dict[str, Any], axis: int) -> int:
    """An axis of the indices, once the axis of their vectors is the last."""
    return axis - int(axis > said.get("index_vector_dim", 0))


def _grid(g: Graph, starts: str, batch: int, sizes: Sequence[int], part: Sequence[int]) -> str:
    """Whole indices: [*batch, *part, axes]."""
    rank = len(sizes)
    offsets = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1)
    offsets = offsets.reshape([*part, rank])
    axes = g.ints(range(batch, batch + len(part)))
    return g.node("Add", g.node("Unsqueeze", starts, axes) if part else starts, g.constant(offsets))


def _placed(
    g: Graph, op: Operation, made: str, offsets: Sequence[int], batch: int, part: int
) -> str:
    """[*batch, *part] with the axes of the part where the result has them."""
    rank = batch + part
    rest, inner = iter(range(batch)), iter(range(batch, rank))
    return g.transpose(made, [next(inner) if i in offsets else next(rest) for i in range(rank)])


def _along_one_axis(
    g: Graph, op: Operation, said: dict[str, Any], sizes: Sequence[int]
) -> int | None:
    """The axis that a gather takes single elements of, whole on the others; None for others."""
    shape = g.type(op.operands[0]).shape
    places, gone = said.get("start_index_map", ()), said.get("collapsed_slice_dims", ())
    if len(places) != 1 or gone != places or said.get("operand_batching_dims"):
        return None
    axis = int(places[0])
    fits = all(n == k for i, (n, k) in enumerate(zip(shape, sizes, strict=True)) if i != axis)
    return axis if fits and sizes[axis] == 1 and shape[axis] > 0 else None


def _taken(g: Graph, op: Operation, x: str, indices: str, axis: int) -> str:
    said, shape = op.attributes["dimension_numbers"], g.type(op.operands[0]).shape
    given = g.type(op.operands[1]).shape
    vector = said.get("index_vector_dim", 0)
    indices = g.cast(indices, INT64)
    if vector < len(given):
        indices = g.node("Squeeze", indices, g.ints([vector]))
    last = g.constant(shape[axis] - 1, INT64)
    bounded = g.node("Min", g.node("Max", indices, g.constant(0, INT64)), last)
    made = g.node("Gather", x, bounded, axis=axis)
    batch, part = len(given) - (vector < len(given)), len(shape) - 1
    # Gather puts the indices' axes where the axis was.
    axes = [*range(axis, axis + batch), *range(axis), *range(axis + batch, batch + part)]
    return _placed(g, op, g.transpose(made, axes), said.get("offset_dims", ()), batch, part)


def _scatter(g: Graph, op: Operation, *xs: str) -> str:
    if len(xs) != 3:
        raise Refused(f"a scatter of {len(xs) // 2} arrays at once")
    kind, said = only_operation(op), op.attributes["scatter_dimension_numbers"]
    if kind not in SCATTERS:
        raise Refused(f"a scatter by {kind}")
    x, indices, updates = xs
    shape, _, given = (g.static(value, "a scatter") for value in op.operands)
    dtype, rank = g.type(op.operands[0]).dtype, len(shape)
    inside = said.get("update_window_dims", ())
    lying = said.get("input_batching_dims", ())
    gone = {*said.get("inserted_window_dims", ()), *lying}
    kept = iter(inside)
    sizes = [1 if i in gone else given[next(kept)] for i in range(rank)]
    part, batch = [given[i] for i in inside], _batch(op, g, said)
    starts = _starts(g, op, said, indices, "scatter_dims_to_operand_dims")
    theirs = [_without(said, i) for i in said.get("scatter_indices_batching_dims", ())]
    starts = _batched(g, starts, batch, lying, rank, theirs)
    whole = _grid(g, starts, len(batch), sizes, part)
    order = [i for i in range(len(given)) if i not in inside] + list(inside)
    flat = g.reshape(g.transpose(updates, order), [-1])
    places = _linear(g, whole, shape)
    ends = g.node("Concat", g.reshape(x, [-1]), g.constant([0], dtype), axis=0)
    made = g.node("ScatterElements", ends, places, flat, axis=0, reduction=SCATTERS[kind])
    cut = g.node("Slice", made, g.ints([0]), g.ints([prod(shape)]), g.ints([0]), g.ints([1]))
    return g.reshape(cut, shape)


def _linear(g: Graph, whole: str, shape: Sequence[int]) -> str:
    """Whole indices as positions in rows; one past the end for what lies outside."""
    steps = [prod(shape[i + 1 :]) for i in range(len(shape))]
    zero, ends = g.ints([0] * len(shape)), g.ints(shape)
    outside = g.node("Or", g.node("Less", whole, zero), g.node("GreaterOrEqual", whole, ends))
    count = g.node("ReduceSum", g.cast(outside, INT64), g.ints([-1]), keepdims=0)
    at = g.node("ReduceSum", g.node("Mul", whole, g.ints(steps)), g.ints([-1]), keepdims=0)
    is_inside = g.node("Equal", count, g.constant(0, INT64))
    return g.reshape(g.node("Where", is_inside, at, g.constant(prod(shape), INT64)), [-1])


def _dynamic_gather(g: Graph, op: Operation, x: str, starts: str, sizes: str) -> str:
    """One slice, moved to where it fits: a slice whose size is known at run time only."""
    said, rank = op.attributes["dimension_numbers"], len(g.type(op.operands[0]).shape)
    if len(g.type(op.operands[1]).shape) != 1 or len(said.get("offset_dims", ())) != rank:
        raise Refused("a gather of a size that is known at run time only")
    starts, sizes = g.cast(starts, INT64), g.cast(sizes, INT64)
    last = g.node("Sub", g.sizes(op.operands[0]), sizes)
    first = g.node("Min", g.node("Max", starts, g.ints([0] * rank)), last)
    return g.node("Slice", x, first, g.node("Add", first, sizes), g.ints(range(rank)))


ROWS: Final[dict[str, Rule]] = {
    "dynamic_gather": _dynamic_gather,
    "gather": _gather,
    "scatter": _scatter,
}
