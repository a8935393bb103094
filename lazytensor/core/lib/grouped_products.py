"""Products of groups of rows, each with a matrix of its own, as in mixtures of experts.

The groups' lengths are data. So a loop takes the rows in tiles of one size. A tile ends where its
group does; its rows of the next group are masked.
"""

from __future__ import annotations

from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.ir.composite import one_node, trace_types
from lazytensor.core.ir.dtypes import F32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.numbers import cast_to, filled, whole
from lazytensor.core.ops.control import Region
from lazytensor.core.ops.movement import part

LEAST_TILE_ROWS: Final = 8

MOST_TILE_ROWS: Final = 256
"""The most rows of a tile; a tile has about as many as a group has on average."""


def _tile(count: int, groups: int) -> int:
    return min(max(LEAST_TILE_ROWS, 1 << max(count // groups - 1, 0).bit_length()), MOST_TILE_ROWS)


def _begin(*places: Node) -> Node:
    """Where a slice starts: scalars, s64."""
    return ops.concatenate(*(ops.reshape(x, shape=(1,)) for x in places), axis=0)


def _slice(x: Node, sizes: tuple[int, ...], *places: Node) -> Node:
    return ops.slice(x, _begin(*places), sizes=sizes, strides=(1,) * len(sizes))


def _written(x: Node, value: Node, *places: Node) -> Node:
    return ops.update_slice(x, value, _begin(*places), strides=(1,) * value.type.ndim)


def _padded(x: Node, tile: int) -> Node:
    """`x` with `tile` more rows, so that no tile reaches beyond the end."""
    return ops.pad(x, cast_to(0, x.type.dtype), low=(0, 0), high=(tile, 0), interior=(0, 0))


def _rising(ends: Node, count: int) -> Node:
    """The ends of groups, made non-decreasing and clamped to `count` rows."""
    inside = ops.clamp(whole(0), cast_to(ends, S64), whole(count))
    return ops.cummax(inside, axis=0)


def _now(start: Node, ends: Node, tile: int) -> tuple[Node, Node, Node]:
    """The group of a tile, where the tile ends, and which of its rows belong to the group."""
    group = ops.reduce_sum(cast_to(ends <= start, S64), axes=(0,))
    end = ops.gather(ends, group, axes=(0,))
    end = ops.minimum(end, start + tile)
    places = ops.iota(dtype=S64, shape=(tile, 1), axis=0) + start
    return group, end, places < end


def _over_tiles(name: str, body: Any, ends: Node, *state: Node) -> Node:
    """The first of `state`, after `body` for each tile."""

    def more(start: Node, ends: Node, *_: Node) -> Node:
        last = ops.reshape(part(ends, 0, ends.type.size - 1, 1), shape=())
        return start < last

    now = ops.broadcast(whole(0), shape=())
    types = [x.type for x in (now, ends, *state)]
    made: tuple[Node, ...] = ops.while_(
        now, ends, *state,
        condition=Region(f"{name}: more", trace_types(more, types, {})),
        body=Region(f"{name}: tile", trace_types(body, types, {})),
    )  # fmt: skip
    return made[2]


@one_node
def grouped_product(x: Node, y: Node, ends: Node) -> Node:
    """x: [t,k], y: [e,k,n]. Result: [t,n], zeros in rows that no group has."""
    (count, k), (groups, _, n) = x.type.shape, y.type.shape
    tile = _tile(count, groups)

    def body(start: Node, ends: Node, out: Node, x: Node, y: Node) -> tuple[Node, ...]:
        group, end, inside = _now(start, ends, tile)
        zero = whole(0)
        own = ops.reshape(_slice(y, (1, k, n), group, zero, zero), shape=(k, n))
        product = ops.dot_general(_slice(x, (tile, k), start, zero), own, contract=((1,), (0,)))
        before = _slice(out, (tile, n), start, zero)
        made = _written(out, ops.select(inside, product, before), start, zero)
        return end, ends, made, x, y

    out = filled((count + tile, n), 0, x.type.dtype)
    given = _rising(ends, count), out, _padded(x, tile), y
    return part(_over_tiles("grouped product", body, *given), 0, 0, count)


@one_node
def grouped_sum_of_products(x: Node, y: Node, ends: Node) -> Node:
    """x: [t,m], y: [t,n]. Result: [e,m,n], the sums of the products of each group's rows."""
    (count, m), (_, n), groups = x.type.shape, y.type.shape, ends.type.size
    tile = _tile(count, groups)
    wide = F32 if x.type.dtype.itemsize < 4 else x.type.dtype

    def body(start: Node, ends: Node, out: Node, x: Node, y: Node) -> tuple[Node, ...]:
        group, end, inside = _now(start, ends, tile)
        zero = whole(0)
        first, second = (_slice(t, (tile, t.type.shape[1]), start, zero) for t in (x, y))
        none = cast_to(0, first.type.dtype)
        first, second = (ops.select(inside, t, none) for t in (first, second))
        product = ops.dot_general(first, second, contract=((0,), (0,)), dtype=wide)
        place = group, zero, zero
        total = _slice(out, (1, m, n), *place) + ops.reshape(product, shape=(1, m, n))
        return end, ends, _written(out, total, *place), x, y

    out = filled((groups, m, n), 0, wide)
    given = _rising(ends, count), out, _padded(x, tile), _padded(y, tile)
    return cast_to(_over_tiles("grouped sum of products", body, *given), x.type.dtype)
