"""Rows of tables, summed in bags; the gradients; rows kept below a norm."""

from __future__ import annotations

import math
from typing import NamedTuple

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.distances import p_norm
from lazytensor.core.lib.numbers import cast_to, filled, like, whole


def rows_added(count: int, updates: Node, places: Node) -> Node:
    """A table of `count` rows, each the sum of the updates that have its place.

    updates: numbers[n, ...]. places: s64[n]; one out of range is dropped.
    """
    zeros = filled((count, *updates.type.shape[1:]), 0, updates.type.dtype)
    return ops.scatter(zeros, updates, places, axes=(0,), mode="add")


def table_gradient(
    updates: Node, places: Node, count: int, padding: int = -1, by_frequency: bool = False
) -> Node:
    """The gradient of a table of `count` rows from the gradients of the rows that were read.

    updates: numbers[n, m]. places: s64[n], the rows that were read. padding: a row that gets none.
    by_frequency: a row's gradient is divided by the number of times it was read.
    """
    if padding >= 0:  # an update whose index is out of range is dropped
        places = ops.select(ops.equal(places, whole(padding)), whole(count), places)
    if by_frequency:
        ones = filled(places.type.shape, 1, updates.type.dtype)
        often = ops.gather(rows_added(count, ones, places), places, axes=(0,))
        updates = updates / ops.new_axis(often)
    return rows_added(count, updates, places)


class Bags(NamedTuple):
    """The number of bags, the bag of each index, and which indices count: s64[n], bools[n]."""

    many: int
    of: Node
    counted: Node

    @classmethod
    def starting(cls, starts: Node, places: Node, last: bool, padding: int) -> Bags:
        """Bags that begin at `starts`. `last`: the last one is where the indices end."""
        at = ops.iota(dtype=S64, shape=places.type.shape, axis=0)
        bags = ops.bisect(starts, at, behind="not greater") - 1
        counted = filled(places.type.shape, True, BOOL)
        if padding >= 0:
            counted = ops.not_equal(places, whole(padding))
        return cls(starts.type.size - int(last), bags, counted)

    def sizes(self) -> Node:
        """The number of indices that count of each bag: s64[many]."""
        return rows_added(self.many, cast_to(self.counted, S64), self.of)


def bag_sums(table: Node, places: Node, bags: Bags, weights: Node | None = None) -> Node:
    """For each bag the sum of its rows of the table, each times its weight.

    table: numbers[rows, m]. places: s64[n]. weights: dtype of table[n]. Result: [count, m].
    """
    read = ops.gather(table, places, axes=(0,))
    if weights is not None:
        read = read * ops.new_axis(weights)
    read = ops.select(ops.new_axis(bags.counted), read, like(0, read))
    return rows_added(bags.many, read, bags.of)


def divided_by_sizes(x: Node, sizes: Node) -> Node:
    """Sums of bags as means; an empty bag's stays. x: floats[count, m]. sizes: s64[count]."""
    return x / cast_to(ops.new_axis(ops.maximum(sizes, whole(1))), x.type.dtype)


def bag_largest(table: Node, places: Node, bags: Bags) -> tuple[Node, Node]:
    """For each bag and column, the largest element and its row in the table; 0 for an empty bag.

    table: floats[rows, m]. places: s64[n]. Result: dtype of table[count, m]; s64.
    """
    shape: Shape = (bags.many, table.type.shape[1])
    read = ops.gather(table, places, axes=(0,))
    lowest = like(-math.inf, read)
    given = ops.select(ops.new_axis(bags.counted), read, lowest)
    least = filled(shape, -math.inf, read.type.dtype)
    made = ops.scatter(least, given, bags.of, axes=(0,), mode="max")
    hit = ops.equal(given, ops.gather(made, bags.of, axes=(0,)))
    n = places.type.size
    at = ops.select(hit, ops.iota(dtype=S64, shape=read.type.shape, axis=0), whole(n))
    first = ops.scatter(filled(shape, n, S64), at, bags.of, axes=(0,), mode="min")
    best = ops.gather(places, first, axes=(0,)) if n else filled(shape, 0, S64)
    return ops.select(ops.equal(made, lowest), like(0, made), made), best


def bag_largest_gradient(grad: Node, best: Node, sizes: Node, count: int) -> Node:
    """The gradient of a table of `count` rows for `bag_largest`, whose rows were `best`."""
    columns = ops.iota(dtype=S64, shape=best.type.shape, axis=1)
    updates = ops.select(ops.new_axis(sizes) > 0, grad, like(0, grad))
    zeros = filled((count, grad.type.shape[1]), 0, grad.type.dtype)
    return ops.scatter(zeros, updates, best, columns, axes=(0, 1), mode="add")


def rows_within_norm(table: Node, places: Node, most: float, p: float) -> Node:
    """The table, its rows at `places` scaled down where their p-norm exceeds `most`."""
    named = rows_added(table.type.shape[0], filled(places.type.shape, 1, S64), places)
    norm = p_norm(table, p)
    above = (norm > like(most, norm)) & (named > 0)
    factor = ops.select(above, like(most, norm) / (norm + 1e-7), like(1, norm))
    return table * ops.new_axis(factor)
