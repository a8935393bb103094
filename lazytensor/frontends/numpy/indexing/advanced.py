"""The parts of an advanced key without masks: a basic index or index data for each axis."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.host.fallback import lazies, real
from lazytensor.frontends.numpy.ufuncs.promotion import convert


class Position(NamedTuple):
    """The key's part for one axis of the view: `basic` if `data` is None.

    `data`: indices, s64, not negative. `good`: whether they are within bounds, if that is not known
    yet. `axis`, `size`: those of the indexed array, for messages. `apart`: whether an ellipsis
    comes before, which separates indices even if it stands for no axes.
    """

    basic: Any
    data: Node | None = None
    good: Node | None = None
    axis: int = 0
    size: int = 0
    apart: bool = False


WHOLE_AXIS: Final = slice(None)
MOST_INDICES: Final = 62
_checked: Final[WeakKeyDictionary[Node, tuple[int, int]]] = WeakKeyDictionary()
"""By leaf that was an index: its least and its greatest element."""


def positions(x: Lazy, items: tuple[Any, ...]) -> list[Position] | None:
    """The parts of a key; None if it does not fit the array."""
    parts = [_part(item) for item in items]
    if any(part is None for part in parts):
        return None
    used = sum(part is not ... and part is not None_ for part in parts)
    ellipses = sum(part is ... for part in parts)
    if used > x.ndim or ellipses > 1:
        return None
    hidden = x.ndim - used
    at = next((i for i, part in enumerate(parts) if part is ...), None)
    if at is None:
        parts += [WHOLE_AXIS] * hidden
    else:
        parts[at : at + 1] = [WHOLE_AXIS] * hidden
    placed = list(zip(parts, _axes(parts), strict=True))
    for part, axis in placed:
        if isinstance(part, int):  # NumPy checks these first
            _check(part, axis, x.shape[axis])
    _check_together([part for part in parts if isinstance(part, Node | np.ndarray)])
    nothing = any(map(_is_empty, parts))
    found = [_position(part, x, axis, nothing) for part, axis in placed]
    if at is not None and at + hidden < len(found):
        found[at + hidden] = found[at + hidden]._replace(apart=True)
    return found


def _axes(parts: list[Any]) -> Iterator[int]:
    """The array's axis of each part."""
    return accumulate((part is not None_ for part in parts[:-1]), initial=0) if parts else iter(())


class None_:
    """Stands for newaxis among the parts, where None means an item that is no index."""


def _part(item: Any) -> Any:
    """The item as a slice, ellipsis, `None_`, integer, node or real array; None if it is none of
    these."""
    if item is None:
        return None_
    if item is ... or isinstance(item, slice):
        return item
    if isinstance(item, Lazy):
        return item.node if item.node.type.dtype.kind in "iu" else None
    if isinstance(item, int | np.integer):
        return int(item)
    if hasattr(type(item), "__index__") and not isinstance(item, np.ndarray):
        return operator.index(item)
    # A list that begins with a number hardly holds lazy ones, which NumPy converts one by one.
    lazy = isinstance(item, list | tuple) and not (item and type(item[0]) is int) and lazies(item)
    array = np.asarray(real(item) if lazy else item)
    if not array.size and not isinstance(item, np.ndarray) and array.dtype.kind == "f":
        array = array.astype(np.intp)
    if array.dtype.kind in "iu" and not array.ndim:
        return int(array)
    return array if array.dtype.kind in "iu" else None


def _is_empty(part: Any) -> bool:
    """Whether an index selects nothing, so that NumPy does not check the other indices."""
    if isinstance(part, np.ndarray):
        return not part.size
    return isinstance(part, Node) and not part.type.size


def _position(part: Any, x: Lazy, axis: int, nothing: bool) -> Position:
    if part is None_:
        return Position(None)
    if isinstance(part, slice):
        return Position(part)
    size = x.shape[axis]
    if isinstance(part, Node) and not part.type.ndim and (not size or _is_known(part)):
        part = int(scheduler.observe(part))
        _check(part, axis, size)
    if isinstance(part, int):
        return Position(WHOLE_AXIS, scalar(part % size, S64), None, axis, size)
    if nothing:
        shape = part.type.shape if isinstance(part, Node) else np.shape(part)
        return Position(WHOLE_AXIS, leaf(np.zeros(shape, np.int64)), None, axis, size)
    if isinstance(part, np.ndarray):
        return Position(WHOLE_AXIS, _of_array(part, axis, size), None, axis, size)
    if _is_known(part):
        return Position(WHOLE_AXIS, _of_leaf(part, axis, size), None, axis, size)
    return _of_data(part, axis, size)


def _check_together(parts: list[Any]) -> None:
    if len(parts) < 2:
        return
    if len(parts) > MOST_INDICES:
        raise IndexError("too many advanced indices")
    shapes = [part.type.shape if isinstance(part, Node) else part.shape for part in parts]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        given = " ".join(str(shape).replace(" ", "") for shape in shapes if shape)
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {given} "
        ) from None


def _check(index: int, axis: int, size: int) -> None:
    if not -size <= index < size:
        raise IndexError(out_of_bounds(index, axis, size))


def _is_known(node: Node) -> bool:
    """Whether the index is on the host, or was when it was last checked."""
    return isinstance(node.value, np.ndarray) or node in _checked


def out_of_bounds(index: int, axis: int, size: int) -> str:
    """NumPy's message for an index out of bounds."""
    return f"index {index} is out of bounds for axis {axis} with size {size}"


def _of_array(array: np.ndarray, axis: int, size: int) -> Node:
    """A known index, its negative elements counted from the end. Raises: IndexError."""
    index = array.astype(np.int64)
    if index.size:
        low, high = int(index.min()), int(index.max())
        if low < -size or high >= size:
            bad = index[(index < -size) | (index >= size)].flat[0]
            raise IndexError(out_of_bounds(int(bad), axis, size))
        if low < 0:
            index[index < 0] += size
    return leaf(index)


def _of_leaf(node: Node, axis: int, size: int) -> Node:
    """A lazy index whose values are on the host, or were when it was last checked."""
    bounds = _checked.get(node)
    if bounds is None:
        array = scheduler.observe(node)
        bounds = (int(array.min()), int(array.max())) if array.size else (0, -1)
        _checked[node] = bounds
    if bounds[0] >= 0 and bounds[1] < size:
        return convert(node, S64)
    return _of_array(scheduler.observe(node), axis, size)


def _of_data(node: Node, axis: int, size: int) -> Position:
    """An index that is not known yet."""
    index = convert(node, S64)
    if not size and index.type.size:
        raise IndexError(out_of_bounds(0, axis, size))
    length = scalar(size, S64)
    good = index < length
    if node.type.dtype.kind == "i":
        good = good & (index >= -size)
        index = ops.select(index < 0, index + length, index)
    every = ops.reduce_and(good, axes=tuple(range(good.type.ndim)))
    return Position(WHOLE_AXIS, index, every, axis, size)
