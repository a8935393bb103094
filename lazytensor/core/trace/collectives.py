"""Exchanges between processes of values that each has for itself, by XLA's collectives.

The values of all processes are the rows of one array that is split over a mesh with one device of
each process. What a collective gives is a function of that array; its sharding says which part of
the result each process gets. All processes of a group call the same functions in the same order.
`ranks`: the processes of the group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.device.processes import cluster
from lazytensor.core.errors import ProcessError, ShapeError
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf
from lazytensor.core.ir.sharding import Mesh, Spec, sharding
from lazytensor.core.runtime import scheduler
from lazytensor.core.trace.splitting import joined, own_part

Ranks = tuple[int, ...]

AXIS: Final = "process"
REDUCTIONS: Final[dict[str, Callable[..., Node]]] = {
    "sum": ops.reduce_sum,
    "product": ops.reduce_prod,
    "min": ops.reduce_min,
    "max": ops.reduce_max,
    "and": ops.reduce_and,
    "or": ops.reduce_or,
    "xor": ops.reduce_xor,
}


@cache
def _mesh(ranks: Ranks) -> Mesh:
    members = cluster()
    if members is None:
        text = "this process is alone: call lazytensor.distributed.initialize() first"
        raise ProcessError(f"a collective: {text}")
    return Mesh((len(ranks),), (AXIS,), [rank * members.devices for rank in ranks])


def all_reduce(value: Node, kind: str, ranks: Ranks) -> Node:
    """All processes' values, combined. kind: a name in `REDUCTIONS`."""
    return leaf(_exchanged(_own(value), partial(REDUCTIONS[kind], axes=(0,)), (), ranks))


def all_gather(value: Node, ranks: Ranks) -> Node:
    """All processes' values, stacked along a new first axis."""
    return leaf(_exchanged(_own(value), lambda rows: rows, (), ranks))


def broadcast(value: Node, rank: int, ranks: Ranks) -> Node:
    """The value of the process of this rank, to the bit; the others give any of its type."""
    members, own = cluster(), np.ascontiguousarray(_own(value))
    said = own.reshape(-1).view(np.uint8)
    if members is not None and members.rank != rank:
        said = np.zeros_like(said)
    found = _exchanged(said, partial(ops.reduce_sum, axes=(0,)), (), ranks)
    return leaf(found.view(own.dtype).reshape(own.shape))


def reduce_scatter(value: Node, kind: str, ranks: Ranks) -> Node:
    """The row of this process of all values, combined: a value has a row for each process."""
    return leaf(_exchanged(_own(value), partial(REDUCTIONS[kind], axes=(0,)), (AXIS,), ranks)[0])


def all_to_all(value: Node, ranks: Ranks) -> Node:
    """This process's rows of all values, stacked: a value has a row for each process."""
    found = _exchanged(_own(value), lambda rows: rows, (None, AXIS), ranks)
    return leaf(found.reshape(value.type.shape))


def all_to_all_parts(value: Node, sent: Sequence[int], taken: Sequence[int], ranks: Ranks) -> Node:
    """This process's parts of all values, joined along the first axis.

    sent, taken: the rows for each process of the group, and from each. All values go as rows of
    the longest part's length, rounded up to a power of two, so that lengths that change make few
    programs. Raises: ShapeError unless the lengths fit the value and what the others send.
    """
    own, count = _own(value), len(ranks)
    fits = len(sent) == len(taken) == count and sum(sent) == own.shape[0]
    if not fits:
        text = f"parts of {[*sent]} rows to {count} processes, of a value of {own.shape[0]} rows"
        raise ShapeError(f"all_to_all: {text}")
    lengths = _exchanged(np.array([*sent, *taken]), lambda rows: rows, (), ranks)
    coming, expected = lengths[:, :count].T, lengths[:, count:]
    if (coming != expected).any():  # in each process, so that none waits
        at = int((coming != expected).any(axis=1).argmax())
        text = f"{coming[at].tolist()} rows come, {expected[at].tolist()} were expected"
        raise ShapeError(f"all_to_all: to process {ranks[at]} {text}")
    longest = 1 << max(int(lengths.max()) - 1, 0).bit_length()
    rows = np.zeros((count, longest, *own.shape[1:]), own.dtype)
    for row, part in zip(rows, np.split(own, np.cumsum(sent)[:-1]), strict=True):
        row[: len(part)] = part
    found = _exchanged(rows, lambda rows: rows, (None, AXIS), ranks).reshape(rows.shape)
    return leaf(np.concatenate([row[:n] for row, n in zip(found, taken, strict=True)]))


def _own(value: Node) -> np.ndarray:
    return np.asarray(scheduler.observe(value))


def _exchanged(
    own: np.ndarray, compute: Callable[[Node], Node], spec: Spec, ranks: Ranks
) -> np.ndarray:
    """This process's part of `compute(rows)`. Row i is the value `own` of the group's process i."""
    made = compute(joined(own[np.newaxis], _mesh(ranks), (AXIS,)))
    named = sharding(_mesh(ranks), spec, made.type.shape, "a collective")
    made = ops.sharding_constraint(made, sharding=named)
    scheduler.sync(made, cause="exchange between processes", alone=True)
    return own_part(made)
