"""Elements at ranks, and between them: of lines, which are the last axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import FLOATS, ORDERED, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.arranging import picked
from lazytensor.core.lib.numbers import cast_to, is_inexact, like, whole

MOST_RANKS: Final = 16
"""Ranks up to which elements are found by selection. Sorting is faster for more."""


def at_places(line: Node, places: Sequence[int]) -> Node:
    """The elements at places that the host knows, of each line."""
    return picked(line, np.array(places), line.type.ndim - 1)


def at_ranks(line: Node, ranks: Sequence[int]) -> Node:
    """The elements that sorting would put at these places; NaN is the largest. line: ordered."""
    wanted = sorted(set(ranks))
    if line.type.dtype in ORDERED and len(wanted) <= MOST_RANKS:
        found = ops.order_statistics(line, ranks=tuple(wanted))
        return at_places(found, [wanted.index(k) for k in ranks])
    return at_places(ops.sort(line, axis=line.type.ndim - 1), ranks)


def at_ranks_with_last(line: Node, ranks: Sequence[int]) -> tuple[Node, Node | None]:
    """The elements at ranks, and the last one, which is NaN if there is any; None for integers."""
    if not is_inexact(line.type.dtype):
        return at_ranks(line, ranks), None
    found = at_ranks(line, (*ranks, line.type.shape[-1] - 1))
    return at_places(found, range(len(ranks))), at_places(found, [len(ranks)])


def nan_where_last_is(made: Node, last: Node | None) -> Node:
    """`made`, with NaN where `last` is NaN."""
    if last is None:
        return made
    return ops.select(ops.is_nan(last), like(math.nan, made), made)


def weighted_ranks(line: Node, running: Node, shares: np.ndarray) -> Node:
    """The elements at which running shares of weights reach each of `shares`.

    line: ordered, sorted, [..., n]. running: floats, of that shape, rising to 1. shares: known.
    Result: dtype of line[..., shares].
    """
    n, last = line.type.shape[-1], line.type.ndim - 1
    wanted = ops.leaf(shares.ravel().astype(running.type.dtype).reshape(-1, 1))
    below = cast_to(ops.new_axis(running, last) < wanted, S64)
    count = ops.reduce_sum(below, axes=(last + 1,))
    made = ops.take_along(line, ops.minimum(count, whole(n - 1)), axis=last)
    if line.type.dtype not in FLOATS:
        return made
    return nan_where_last_is(made, ops.part(line, last, n - 1, 1))
