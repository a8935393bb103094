"""The standard's array: it holds a cell of the core's, or a view of one."""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.array_base import Holder
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.buffers.interop import Offer
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import arranging
from lazytensor.core.lib.matrices import transposed
from lazytensor.core.lib.numbers import cast_to
from lazytensor.core.ops.basic_index import window
from lazytensor.core.runtime import scheduler


class Array(Holder):
    """An array whose operations are recorded, and computed when a value is asked for."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    device = "cpu"
    mT = T = property(lambda self: wrap(transposed(self.node)))

    def __init__(self, ref: Any) -> None:
        self.ref = ref

    def become(self, other: Array) -> Array:
        """Take the elements of another array, in the dtype that this one has."""
        self.ref.write(cast_to(other.node, self.dtype))
        return self

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """The array itself: there is one device."""
        return self

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        import lazytensor.array_api as namespace

        return namespace

    def __lazytensor__(self) -> Offer:
        return Offer(self.ref)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(scheduler.observe(self.node), dtype)

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
        copy: Any = None,
    ) -> Any:  # fmt: skip
        return self.__array__().__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> Any:
        return self.__array__().__dlpack_device__()

    def __repr__(self) -> str:
        return f"Array({self.__array__()}, dtype={self.dtype})"

    def __getitem__(self, key: Any) -> Array:
        items = _items(key)
        if not any(isinstance(item, Array) for item in items):
            return Array(self.ref.view(*window(self.shape, items).steps))
        return wrap(arranging.at_points(self.node, _places(self, items)))

    def __setitem__(self, key: Any, value: Any) -> None:
        items, updates = _items(key), node_of(value, self.dtype)
        if not any(isinstance(item, Array) for item in items):
            part = self[key].ref
            part.write(ops.broadcast(updates, shape=part.type.shape))
        else:
            self.ref.write(arranging.with_points(self.node, _places(self, items), updates))


def _items(key: Any) -> tuple[Any, ...]:
    """The items of a key; bounds of slices that are arrays are computed."""
    items = key if isinstance(key, tuple) else (key,)
    return tuple(
        slice(*(np.asarray(n).item() if n is not None else n for n in (k.start, k.stop, k.step)))
        if isinstance(k, slice) else k for k in items
    )  # fmt: skip


def _places(x: Array, items: tuple[Any, ...]) -> list[Node]:
    """The indices along the first axes; those of a mask are known once it is computed."""
    if len(items) == 1 and items[0].dtype == np.bool_:
        return [ops.leaf(line) for line in np.nonzero(np.atleast_1d(items[0]))]
    pairs = zip((node_of(k, S64) for k in items if k is not ...), x.shape, strict=False)
    return [arranging.checked_places(index, n, IndexError) for index, n in pairs]


def wrap(node: Node) -> Array:
    """A new array that holds `node`."""
    return Array(Cell(node))


def node_of(x: Any, dtype: Any = None) -> Node:
    """An array's node, or a Python number's, of this dtype."""
    return cast_to(getattr(x, "node", x), dtype or np.result_type(getattr(x, "dtype", x)))


def together(*xs: Any) -> list[Node]:
    """Arrays and Python numbers as nodes of the dtype that the standard promotes them to."""
    dtype = np.result_type(*(x.dtype if isinstance(x, Array) else x for x in xs))
    return [node_of(x, dtype) for x in xs]


def _lowered(x: Any) -> Any:
    several = isinstance(x, list | tuple) and any(isinstance(item, Array) for item in x)
    return together(*x) if several else getattr(x, "node", x)


def _raised(made: Any) -> Any:
    if isinstance(made, Node):
        return wrap(made)
    return getattr(made, "_make", type(made))(map(wrap, made))


def lifted(function: Any) -> Any:
    """A function of nodes as one of arrays; operands `x1` and `x2` are promoted to one dtype."""
    promotes = list(signature(function).parameters)[:2] == ["x1", "x2"]

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*together(*args[:2]), *args[2:]] if promotes else args
        named = {name: _lowered(x) for name, x in kwargs.items()}
        return _raised(function(*map(_lowered, given), **named))

    return call
