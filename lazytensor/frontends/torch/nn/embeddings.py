"""Rows of tables, one by one and in bags; the gradients; rows kept below a norm."""

from __future__ import annotations

from typing import Any, NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.distances import p_norm
from lazytensor.frontends.torch.dispatch.errors import sure
from lazytensor.frontends.torch.dispatch.kernels import rows, write
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.rows.indices import checking
from lazytensor.frontends.torch.rows.sorting import search

SUM, MEAN, MAX = 0, 1, 2


def _line(x: Any) -> Node:
    given = operand(x)
    return cast_to(ops.reshape(given, shape=(given.type.size,)), S64)


def _added(count: int, updates: Node, places: Node) -> Node:
    zeros = filled((count, *updates.type.shape[1:]), 0, updates.type.dtype)
    return ops.scatter(zeros, updates, places, axes=(0,), mode="add")


def _embedding(weight: Any, indices: Any, *_: Any, **__: Any) -> Node:
    table, places = operand(weight), cast_to(operand(indices), S64)
    if table.type.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    count = table.type.shape[0]
    text = f"index out of range in self: the table has {count} rows"
    return ops.gather(table, sure(places, _within(places, count), text), axes=(0,))


def _within(places: Node, count: int) -> Node:
    """Which indices are in range for `count` rows."""
    zero, beyond = cast_to(0, S64), cast_to(count, S64)
    return (places >= zero) & (places < beyond)


def _dense(updates: Node, places: Node, count: int, padding_idx: int, by_frequency: bool) -> Node:
    """The gradient of a table of `count` rows from the gradients of the rows that were read."""
    if padding_idx >= 0:  # an update whose index is out of range is dropped
        hit = ops.equal(places, cast_to(padding_idx, S64))
        places = ops.select(hit, cast_to(count, S64), places)
    if by_frequency:
        ones = filled(places.type.shape, 1, updates.type.dtype)
        often = ops.gather(_added(count, ones, places), places, axes=(0,))
        updates = updates / ops.new_axis(often)
    return _added(count, updates, places)


def _embedding_backward(
    grad: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Node:
    given, places = operand(grad), _line(indices)
    updates = ops.reshape(given, shape=(places.type.size, given.type.shape[-1]))
    return _dense(updates, places, num_weights, padding_idx, scale_grad_by_freq)


def _starting(starts: Node, many: int) -> Node:
    """The first index of each bag, of `many` indices; checked when the program runs."""
    count = starts.type.size
    if not count:
        return starts
    at = ops.iota(dtype=S64, shape=(count,), axis=0)
    first, last = (cast_to(place, S64) for place in (0, count - 1))
    begins = ops.not_equal(at, first) | ops.equal(starts, cast_to(0, S64))
    starts = sure(
        starts, begins,
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
        "position 0.",
    )  # fmt: skip
    ends = ops.not_equal(at, last) | (starts <= cast_to(many, S64))
    text = f"offsets[-1] can not be greater than input's length {many}"
    return sure(starts, ends, text)


def _check_bags(table: Node, indices: Node, offsets: Node, mode: int, last: bool) -> None:
    """Raise torch's errors for operands that are no bags of rows."""
    for name, x, ranks in (
        ("input has to be a 1D or 2D", indices, (1, 2)), ("offsets has to be a 1D", offsets, (1,)),
        ("weight has to be a 2D", table, (2,)),
    ):  # fmt: skip
        if x.type.ndim not in ranks:
            shape = list(x.type.shape)
            raise RuntimeError(f"{name} Tensor, but got Tensor of dimension {x.type.ndim}: {shape}")
    if offsets.type.dtype not in (S32, S64):
        raise RuntimeError(f"offsets has to be of integers, but got {offsets.type.dtype}")
    if mode not in (SUM, MEAN, MAX):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    if last and not offsets.type.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")


class _Bags(NamedTuple):
    """The number of bags, the bag of each index, and which indices count."""

    many: int
    of: Node
    counted: Node


def _bags(places: Node, offsets: Any, last: bool, padding_idx: int) -> _Bags:
    starts = _starting(_line(offsets), places.type.size)
    count = starts.type.size - int(last)
    at = ops.iota(dtype=S64, shape=places.type.shape, axis=0)
    bags = search(starts, at, True) - 1
    if padding_idx < 0:
        counted = filled(places.type.shape, True, BOOL)
    else:
        counted = ops.not_equal(places, cast_to(padding_idx, S64))
    return _Bags(count, bags, counted)


def _bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = SUM,
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Node, Node, Node, Node]:  # fmt: skip
    table, places = operand(weight), _line(indices)
    _check_bags(table, operand(indices), operand(offsets), mode, include_last_offset)
    many = table.type.shape[0]
    text = "embedding_bag: Expected idx >= 0 && idx < num_embeddings, which is {}"
    places = sure(places, _within(places, many), text.format(many))
    bags = _bags(places, offsets, include_last_offset, padding_idx)
    size = _added(bags.many, cast_to(bags.counted, S64), bags.of)
    read = ops.gather(table, places, axes=(0,))
    shape = (bags.many, table.type.shape[1])
    if mode == MAX:
        made, best = _largest(read, places, bags, shape)
        return made, bags.of, size, best
    if per_sample_weights is not None:
        read = read * ops.new_axis(operand(per_sample_weights))
    read = ops.select(ops.new_axis(bags.counted), read, like(0, read))
    made = _added(bags.many, read, bags.of)
    if mode == MEAN:
        divisor = ops.maximum(size, cast_to(1, S64))
        made = made / cast_to(ops.new_axis(divisor), made.type.dtype)
    return made, bags.of, size, filled(shape, 0, S64)


def _largest(read: Node, places: Node, bags: _Bags, shape: tuple[int, ...]) -> tuple[Node, Node]:
    """For each bag and column, the largest element and its row in the table."""
    lowest = like(float("-inf"), read)
    given = ops.select(ops.new_axis(bags.counted), read, lowest)
    least = filled(shape, float("-inf"), read.type.dtype)
    made = ops.scatter(least, given, bags.of, axes=(0,), mode="max")
    hit = ops.equal(given, ops.gather(made, bags.of, axes=(0,)))
    n = places.type.size
    at = ops.iota(dtype=S64, shape=read.type.shape, axis=0)
    first = ops.scatter(
        filled(shape, n, S64), ops.select(hit, at, cast_to(n, S64)), bags.of, axes=(0,), mode="min"
    )
    best = ops.gather(places, first, axes=(0,)) if n else filled(shape, 0, S64)
    empty = ops.equal(made, lowest)
    return ops.select(empty, like(0, made), made), best


def _bag_backward(
    grad: Any, indices: Any, offset2bag: Any, bag_size: Any, maximum_indices: Any,
    num_weights: int, scale_grad_by_freq: bool, mode: int, per_sample_weights: Any,
    padding_idx: int = -1,
) -> Node:  # fmt: skip
    given, places, bags = operand(grad), _line(indices), operand(offset2bag)
    if mode == MAX:
        best = operand(maximum_indices)
        columns = ops.iota(dtype=S64, shape=best.type.shape, axis=1)
        there = ops.new_axis(operand(bag_size)) > 0
        updates = ops.select(there, given, like(0, given))
        zeros = filled((num_weights, given.type.shape[1]), 0, given.type.dtype)
        return ops.scatter(zeros, updates, best, columns, axes=(0, 1), mode="add")
    if mode == MEAN:
        divisor = ops.maximum(operand(bag_size), cast_to(1, S64))
        given = given / cast_to(ops.new_axis(divisor), given.type.dtype)
    updates = ops.gather(given, bags, axes=(0,))
    if per_sample_weights is not None:
        updates = updates * ops.new_axis(operand(per_sample_weights))
    return _dense(updates, places, num_weights, padding_idx, scale_grad_by_freq)


def _whole_bag_backward(
    grad: Any, indices: Any, offsets: Any, offset2bag: Any, bag_size: Any, maximum_indices: Any,
    num_weights: int, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Any,
    padding_idx: int = -1,
) -> Node:  # fmt: skip
    return _bag_backward(
        grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq,
        mode, per_sample_weights, padding_idx,
    )  # fmt: skip


def _sample_weights_backward(
    grad: Any, weight: Any, indices: Any, offsets: Any, offset2bag: Any, mode: int,
    padding_idx: int = -1,
) -> Node:  # fmt: skip
    places = _line(indices)
    given = ops.gather(operand(grad), operand(offset2bag), axes=(0,))
    read = ops.gather(operand(weight), places, axes=(0,))
    made = ops.reduce_sum(given * read, axes=(1,))
    if padding_idx >= 0:
        hit = ops.equal(places, cast_to(padding_idx, S64))
        made = ops.select(hit, like(0, made), made)
    return made


def _renorm(self: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Scale down the rows at `indices` whose norm exceeds `max_norm`."""
    table, places = operand(self), _line(indices)
    named = _added(table.type.shape[0], filled(places.type.shape, 1, S64), places)
    norm = p_norm(table, norm_type)
    above = (norm > like(max_norm, norm)) & (named > 0)
    scale = like(max_norm, norm) / (norm + 1e-7)
    factor = ops.select(above, scale, like(1, norm))
    write(self, table * ops.new_axis(factor))
    return self


ROWS: dict[str, Row] = {
    "embedding": _embedding,
    "embedding_dense_backward": _embedding_backward,
    "_embedding_bag": _bag,
    "_embedding_bag_forward_only": _bag,
    "_embedding_bag_backward": _whole_bag_backward,
    "_embedding_bag_dense_backward": _bag_backward,
    "_embedding_bag_per_sample_weights_backward": _sample_weights_backward,
}


rows(checking(ROWS), asks=True)
register("embedding_renorm_", _renorm)
