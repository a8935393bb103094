"""Rows of tables, one by one and in bags; the gradients; rows kept below a norm."""

from __future__ import annotations

from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import embeddings
from lazytensor.core.lib.embeddings import Bags
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows, write
from lazytensor.frontends.torch.dispatch.promotion import cast_to, like, operand
from lazytensor.frontends.torch.dispatch.registry import Row, register
from lazytensor.frontends.torch.rows.creation import filled
from lazytensor.frontends.torch.rows.indices import checking

SUM, MEAN, MAX = 0, 1, 2


def _line(x: Any) -> Node:
    given = operand(x)
    return cast_to(ops.line(given), S64)


def _embedding(weight: Any, indices: Any, *_: Any, **__: Any) -> Node:
    table, places = operand(weight), cast_to(operand(indices), S64)
    require(table.type.ndim == 2)
    count = table.type.shape[0]
    text = f"index out of range in self: the table has {count} rows"
    return ops.gather(table, sure(places, _within(places, count), text), axes=(0,))


def _within(places: Node, count: int) -> Node:
    """Which indices are in range for `count` rows."""
    zero, beyond = cast_to(0, S64), cast_to(count, S64)
    return (places >= zero) & (places < beyond)


def _embedding_backward(
    grad: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Node:
    given, places = operand(grad), _line(indices)
    updates = ops.reshape(given, shape=(places.type.size, given.type.shape[-1]))
    return embeddings.table_gradient(updates, places, num_weights, padding_idx, scale_grad_by_freq)


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


def _require_bags(table: Node, indices: Node, offsets: Node, mode: int, last: bool) -> None:
    """Refuse operands that are no bags of rows."""
    require(indices.type.ndim in (1, 2) and offsets.type.ndim == 1 and table.type.ndim == 2)
    require(offsets.type.dtype in (S32, S64) and mode in (SUM, MEAN, MAX))
    require(not last or bool(offsets.type.size))


def _bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = SUM,
    sparse: bool = False, per_sample_weights: Any = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Node, Node, Node, Node]:  # fmt: skip
    table, places = operand(weight), _line(indices)
    _require_bags(table, operand(indices), operand(offsets), mode, include_last_offset)
    many = table.type.shape[0]
    text = "embedding_bag: Expected idx >= 0 && idx < num_embeddings, which is {}"
    places = sure(places, _within(places, many), text.format(many))
    starts = _starting(_line(offsets), places.type.size)
    bags = Bags.starting(starts, places, include_last_offset, padding_idx)
    size = bags.sizes()
    if mode == MAX:
        made, best = embeddings.bag_largest(table, places, bags)
        return made, bags.of, size, best
    weights = None if per_sample_weights is None else operand(per_sample_weights)
    made = embeddings.bag_sums(table, places, bags, weights)
    if mode == MEAN:
        made = embeddings.divided_by_sizes(made, size)
    return made, bags.of, size, filled((bags.many, table.type.shape[1]), 0, S64)


def _bag_backward(
    grad: Any, indices: Any, offset2bag: Any, bag_size: Any, maximum_indices: Any,
    num_weights: int, scale_grad_by_freq: bool, mode: int, per_sample_weights: Any,
    padding_idx: int = -1,
) -> Node:  # fmt: skip
    given, places, bags = operand(grad), _line(indices), operand(offset2bag)
    if mode == MAX:
        best, sizes = operand(maximum_indices), operand(bag_size)
        return embeddings.bag_largest_gradient(given, best, sizes, num_weights)
    if mode == MEAN:
        given = embeddings.divided_by_sizes(given, operand(bag_size))
    updates = ops.gather(given, bags, axes=(0,))
    if per_sample_weights is not None:
        updates = updates * ops.new_axis(operand(per_sample_weights))
    return embeddings.table_gradient(updates, places, num_weights, padding_idx, scale_grad_by_freq)


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
    write(self, embeddings.rows_within_norm(operand(self), _line(indices), max_norm, norm_type))
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
