"""Advanced indexing: integer arrays and boolean masks, alone or mixed with basic indices.

Data flow: key → `parse`: a basic key, which makes a view, and indices on some of the view's axes →
`gather` or `scatter` on the view. Known index data are checked at once. Unknown index data are
checked when the program runs. Invariant: a write that fails changes nothing.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.ir.types import Shape
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import asarray
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.indexing import masked
from lazytensor.frontends.numpy.indexing.advanced import Position, positions
from lazytensor.frontends.numpy.indexing.assignment import source, spread
from lazytensor.frontends.numpy.indexing.basic import as_basic, index_of, is_foreign, viewed
from lazytensor.frontends.numpy.ufuncs.errors import dummy
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, recast


def _adopted(key: Any) -> Any:
    """`key` with other libraries' arrays (pandas', torch's) turned into lazy ones."""
    items = key if type(key) is tuple else (key,)
    if not any(map(is_foreign, items)):
        return key
    found = tuple(asarray(item) if is_foreign(item) else item for item in items)
    return found if type(key) is tuple else found[0]


COMBINED: Final[dict[str, Op | None]] = {
    "set": None,
    "add": ops.add,
    "mul": ops.multiply,
    "min": ops.minimum,
    "max": ops.maximum,
}
"""By mode of `scatter`: the op that combines old and new values of distinct elements."""


def _is_point(item: Any) -> bool:
    """Whether `item` is a known integer in an array without axes."""
    if isinstance(item, Lazy):
        known = type(item) is not Scalar and isinstance(item.node.value, np.ndarray)
        return known and not item.ndim and item.dtype.kind in "iu"
    return isinstance(item, np.ndarray) and not item.ndim and item.dtype.kind in "iu"


class Selection(NamedTuple):
    """`view` with `indices` on `axes`. The indices' axes are at `place` in the result."""

    view: Any
    axes: tuple[int, ...]
    indices: tuple[Node, ...]
    place: int
    good: Node | None

    def shape(self) -> Shape:
        """Shape of the result."""
        front = _front(self.indices)
        rest = [n for axis, n in enumerate(self.view.shape) if axis not in self.axes]
        return (*rest[: self.place], *front, *rest[self.place :])

    def order(self) -> tuple[int, ...]:
        """The transpose from the result of `gather`, with the indices' axes first, to this one."""
        front = max(index.type.ndim for index in self.indices)
        total = front + self.view.ndim - len(self.axes)
        rest = list(range(front, total))
        return (*rest[: self.place], *range(front), *rest[self.place :])


def read(x: Any, key: Any) -> Any:
    """A copy of the selected elements."""
    if isinstance(key, tuple) and type(key) is not tuple:
        return x[tuple(key)]
    key = _adopted(key)
    if masked.has_mask(key):
        known = masked.as_indices(x, key)
        return masked.read(x, key) if known is None else read(x, known)
    if _is_single(x, key):
        key = _observed(key)
        found = as_basic(key)
        if found is not key:
            return x[found]
    chosen = parse(x, key)
    if not chosen.indices:
        return wrap(chosen.view.node)
    node = ops.gather(chosen.view.node, *chosen.indices, axes=chosen.axes)
    node = _transposed(node, chosen.order())
    if chosen.good is not None:
        node = ops.guarded(node, chosen.good)
    scalar = not node.type.ndim and not any(item is ... for item in _items(key))
    return wrap_result(node) if scalar else wrap(node)


def _is_single(x: Any, key: Any) -> bool:
    """Whether lazy integers in `key` select a view, whose place must be known."""
    items = _items(key)
    single = [item for item in items if type(item) is Scalar]
    arrays = [i for i in items if isinstance(i, Lazy | np.ndarray | list) and type(i) is not Scalar]
    return bool(single) and not arrays and len(items) != x.ndim


def _observed(key: Any) -> Any:
    return tuple(
        index_of(i) if type(i) is Scalar and i.dtype.kind in "iu" else i for i in _items(key)
    )


def write(x: Any, key: Any, value: Any) -> None:
    """Write `value` to the selected elements."""
    if isinstance(key, tuple) and type(key) is not tuple:
        x[tuple(key)] = value
        return
    key = _adopted(key)
    if masked.has_mask(key):
        if type(value) not in PYTHON_NUMBERS and np.ndim(value) > 1:
            _check_axes(x, key, value)
        if masked.write(x, key, value):
            return
        known = masked.as_indices(x, key)
        if known is None:
            masked.write_on_host(x, key, value)
            return
        try:
            write(x, known, value)
        except ValueError:
            _stand_in(x, key, source(value, x.dtype))  # raises NumPy's error for masks
            raise
        return
    single = tuple(int(i) if _is_point(i) else i for i in _items(key))
    if as_basic(single) is not single:
        x[single] = value
        return
    scatter(x, key, value, "set")


def _check_axes(x: Any, key: Any, value: Any) -> None:
    """Raise NumPy's TypeError for a value of several axes if the key is a mask of all of `x`."""
    items = _items(key)
    if len(items) == 1 and np.shape(items[0]) == x.shape:
        _stand_in(x, np.zeros(x.shape, np.bool_), source(value, x.dtype))


def _stand_in(x: Any, key: Any, value: Node) -> None:
    """Write a value of this type to a NumPy array, so that NumPy raises its error."""
    np.empty(x.shape, x.dtype)[real(key)] = dummy(value.type)


def scatter(x: Any, key: Any, value: Any, mode: str) -> None:
    """Combine `value` with the selected elements: `set`, `add`, `mul`, `min` or `max`."""
    try:
        chosen = parse(x, key)
    except IndexError:
        if mode == "set":  # NumPy checks the value's shape before the indices
            _stand_in(x, key, source(value, x.dtype))
        raise
    view = chosen.view
    updates = recast(source(value, view.dtype), view.dtype)
    shape = chosen.shape() if chosen.indices else view.shape
    if not shape and updates.type.ndim and not any(item is ... for item in _items(key)):
        np.empty(1, x.dtype)[0] = dummy(updates.type)  # may raise
    try:
        updates = spread(updates, updates.type.with_shape(shape))
    except ValueError:
        _stand_in(x, key, updates)
        raise
    if not chosen.indices:
        combine = COMBINED[mode]
        view.ref.write(updates if combine is None else combine(view.node, updates))
        return
    order = chosen.order()
    updates = _transposed(updates, tuple(order.index(i) for i in range(len(order))))
    old = view.node
    new = ops.scatter(old, updates, *chosen.indices, axes=chosen.axes, mode=mode)
    if chosen.good is not None:
        new = ops.select(chosen.good, new, old)
    view.ref.write(new)
    if updates.type.size < settings.small:
        view.ref.cell.tell()


def _transposed(node: Node, axes: tuple[int, ...]) -> Node:
    if axes == tuple(range(len(axes))):
        return node
    return ops.transpose(node, axes=axes)


def parse(x: Any, key: Any) -> Selection:
    """The selection of an advanced key. Raises: IndexError."""
    found = positions(x, _items(key))
    if found is None:
        dummy(x.type)[real(key)]
        raise IndexError(f"index {key!r} does not fit an array of shape {x.shape}")
    basic = tuple(p.basic for p in found)
    view = viewed(x, (*basic, ...))
    spots = [i for i, p in enumerate(found) if p.data is not None]
    good = [p.good for p in found if p.good is not None]
    every = None
    if good:
        every = good[0]
        for flag in good[1:]:
            every = every & flag
        every = ops.guard(every, error=IndexError, text=_text(found))
    indices = tuple(cast(Node, found[i].data) for i in spots)
    return Selection(view, tuple(spots), indices, _place(found, spots), every)


def _place(found: list[Position], spots: list[int]) -> int:
    """The place of the indices' axes: that of the first if they are adjacent, else 0."""
    if not spots or spots != list(range(spots[0], spots[0] + len(spots))):
        return 0
    return 0 if any(found[i].apart for i in spots[1:]) else spots[0]


def _text(found: list[Position]) -> str:
    bounds = [f"axis {p.axis} with size {p.size}" for p in found if p.good is not None]
    return f"index out of bounds for {' or '.join(bounds)}"


def _front(indices: tuple[Node, ...]) -> Shape:
    """The shape of the indices, broadcast together."""
    first = indices[0].type.shape
    if len(indices) == 1:
        return first
    return np.broadcast_shapes(*(index.type.shape for index in indices))


def _items(key: Any) -> tuple[Any, ...]:
    return key if type(key) is tuple else (key,)
