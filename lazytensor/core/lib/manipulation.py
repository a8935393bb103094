"""The array API standard's functions that move, order and pick elements, over nodes.

Axes may be negative, as in the standard. Source: data-apis.org/array-api, 2024.12.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib import arranging, diagonals, ranking
from lazytensor.core.lib.arranging import Axes, axes_of
from lazytensor.core.lib.numbers import cast_to, like


def _axis(x: Node, axis: int, more: int = 0) -> int:
    return normalize_axis_index(axis, x.type.ndim + more)


def reshape(x: Node, /, shape: Sequence[int], *, copy: bool | None = None) -> Node:
    """The same elements in another shape, of which one length may be -1."""
    known = int(np.prod([n for n in shape if n != -1])) or 1
    return ops.reshape(x, shape=tuple(x.type.size // known if n == -1 else n for n in shape))


def permute_dims(x: Node, /, axes: tuple[int, ...]) -> Node:
    """`x` with its axes in another order."""
    return ops.moved(x, normalize_axis_tuple(axes, x.type.ndim))


def moveaxis(x: Node, source: Axes, destination: Axes, /) -> Node:
    """`x` with some axes at other places; the others keep their order."""
    start, end = axes_of(x, source), axes_of(x, destination)
    order = [axis for axis in range(x.type.ndim) if axis not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        order.insert(place, axis)
    return ops.moved(x, tuple(order))


def expand_dims(x: Node, /, axis: int = 0) -> Node:
    """`x` with an axis of one element."""
    return ops.new_axis(x, _axis(x, axis, 1))


def squeeze(x: Node, /, axis: int | tuple[int, ...]) -> Node:
    """`x` without axes of one element. Raises: ValueError for other axes."""
    axes = axes_of(x, axis)
    if any(x.type.shape[i] != 1 for i in axes):
        raise ValueError(f"squeeze: axes {axes} of {x.type} are not all of one element")
    return ops.reshape(x, shape=tuple(n for i, n in enumerate(x.type.shape) if i not in axes))


def flip(x: Node, /, *, axis: Axes = None) -> Node:
    """`x` reversed along axes."""
    return ops.reverse(x, axes=axes_of(x, axis)) if x.type.ndim else x


def roll(x: Node, /, shift: Any, *, axis: Axes = None) -> Node:
    """`x` moved on along axes, or as one line; what leaves at the end enters at the beginning."""
    if axis is None:
        return ops.reshape(arranging.rolled(ops.line(x), shift, 0), shape=x.type.shape)
    for by, place in np.broadcast(shift, axis):
        x = arranging.rolled(x, int(by), _axis(x, int(place)))
    return x


def repeat(x: Node, repeats: Any, /, *, axis: int | None = None) -> Node:
    """Each element as often as `repeats` says, which the host knows, along an axis."""
    x = ops.line(x) if axis is None else x
    place = _axis(x, axis or 0)
    places = np.repeat(np.arange(x.type.shape[place]), np.asarray(repeats))
    return arranging.picked(x, places, place)


def tile(x: Node, repetitions: tuple[int, ...], /) -> Node:
    """`x` as often along each axis, counted from the last."""
    return arranging.tiled(x, (1,) * (x.type.ndim - len(repetitions)) + tuple(repetitions))


def concat(arrays: Sequence[Node], /, *, axis: int | None = 0) -> Node:
    """Nodes of one dtype one after the other."""
    nodes = [*map(ops.line, arrays)] if axis is None else arrays
    return arranging.joined(nodes, _axis(nodes[0], axis or 0))


def stack(arrays: Sequence[Node], /, *, axis: int = 0) -> Node:
    """Nodes of one type side by side along a new axis."""
    return arranging.stacked(arrays, _axis(arrays[0], axis, 1))


def unstack(x: Node, /, *, axis: int = 0) -> tuple[Node, ...]:
    """The parts along an axis."""
    at = _axis(x, axis)
    return tuple(ops.at_index(x, at, i) for i in range(x.type.shape[at]))


def broadcast_to(x: Node, /, shape: Shape) -> Node:
    """`x` repeated to a shape."""
    return ops.broadcast(x, shape=tuple(shape))


def broadcast_arrays(*arrays: Node) -> list[Node]:
    """Nodes repeated to one shape."""
    shape = np.broadcast_shapes(*(x.type.shape for x in arrays))
    return [ops.broadcast(x, shape=shape) for x in arrays]


def meshgrid(*arrays: Node, indexing: str = "xy") -> list[Node]:
    """Coordinates of a grid from those of its axes; `xy`: the first two axes change places."""
    rank = len(arrays)
    places = [1, 0, *range(2, rank)] if indexing == "xy" and rank > 1 else [*range(rank)]
    lines = [
        ops.reshape(x, shape=tuple(x.type.size if i == at else 1 for i in range(rank)))
        for x, at in zip(arrays, places, strict=True)
    ]
    return broadcast_arrays(*lines)


def tril(x: Node, /, *, k: int = 0) -> Node:
    """The lower triangles of matrices."""
    return diagonals.lower_triangle(x, k)


def triu(x: Node, /, *, k: int = 0) -> Node:
    """The upper triangles of matrices."""
    return diagonals.upper_triangle(x, k)


def sort(x: Node, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Node:
    """The elements in order along an axis."""
    return ranking.ordered(x, _axis(x, axis), descending)[0]


def argsort(x: Node, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Node:
    """The places of the elements in order along an axis."""
    return ranking.ordered(x, _axis(x, axis), descending)[1]


def searchsorted(x1: Node, x2: Node, /, *, side: str = "left", sorter: Node | None = None) -> Node:
    """The places of the elements of `x2` in the line `x1`."""
    line = x1 if sorter is None else ops.take_along(x1, cast_to(sorter, S64), axis=0)
    return ops.searchsorted(line, x2, side=side)


def _checked(x: Node, indices: Node, place: int) -> Node:
    return arranging.checked_places(cast_to(indices, S64), x.type.shape[place], IndexError)


def take(x: Node, indices: Node, /, *, axis: int | None = None) -> Node:
    """The parts at indices along an axis."""
    place = _axis(x, axis or 0)
    return arranging.taken(x, _checked(x, indices, place), place)


def take_along_axis(x: Node, indices: Node, /, *, axis: int = -1) -> Node:
    """For each index the element of its line."""
    place = _axis(x, axis)
    return ops.take_along(x, _checked(x, indices, place), axis=place)


def diff(
    x: Node, /, *, axis: int = -1, n: int = 1, prepend: Node | None = None,
    append: Node | None = None,
) -> Node:  # fmt: skip
    """Differences of neighbours along an axis, `n` times."""
    place = _axis(x, axis)
    made = arranging.joined([part for part in (prepend, x, append) if part is not None], place)
    for _ in range(n):
        size = max(made.type.shape[place] - 1, 0)
        last = ops.part(made, place, made.type.shape[place] - size, size)
        made = last - ops.part(made, place, 0, size)
    return made


def clip(x: Node, /, min: Any = None, max: Any = None) -> Node:
    """The elements, but at least `min` and at most `max`: numbers, or nodes that broadcast."""
    made = x if min is None else ops.maximum(x, like(min, x))
    return made if max is None else ops.minimum(made, like(max, x))
