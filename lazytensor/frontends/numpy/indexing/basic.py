"""Basic indexing: integers, slices, newaxis and ellipsis give views.

Each pair of array type and key is turned into view steps once. The array's shadow gives NumPy's
layout of the result and NumPy's errors.
"""

from __future__ import annotations

import operator
from typing import Any, Final, cast

import numpy as np

from lazytensor.core.buffers.array_base import ref_of, showing, type_of
from lazytensor.core.buffers.cell import Chain, view_through
from lazytensor.core.ir.memo import keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import signature_of
from lazytensor.core.ir.types import TensorType, tensor_type
from lazytensor.core.ops.basic_index import window
from lazytensor.core.ops.basic_key import encoded
from lazytensor.core.trace.call_memo import Paired, limits
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray, wrap_scalar
from lazytensor.frontends.numpy.arrays.shadow import shadow_of_type
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.promotion import WEAK


class Plan:
    """The effect of a basic key on an array of one type.

    `steps` lead to a view of `type`, laid out as `shadow`. `scalar`: whether they lead to one
    element. Writes go through `front`, in type `target`. It lacks a final reshape after a slice, so
    that a write need not read the base. `stores`: how values are written, by the types of
    earlier ones.
    """

    __slots__ = ("front", "scalar", "shadow", "steps", "stores", "target", "type")

    def __init__(
        self, steps: Chain, shown: TensorType, shadow: np.ndarray, is_scalar: bool
    ) -> None:
        self.steps = self.front = steps
        self.type = self.target = shown
        self.shadow = shadow
        self.scalar = is_scalar
        self.stores: dict[Any, Paired] = {}
        if len(steps) == 2:
            self.front = steps[:1]
            self.target = shown.with_shape(dict(steps[0].attrs)["sizes"])

    def learn(self, value: Any, given: Node, made: Node) -> None:
        """Remember that `value`, first `given` as a node, was written as `made`."""
        signature = None
        if made is not given:
            loses = given.type.dtype.kind == "c" != made.type.dtype.kind  # NumPy warns each time
            if made.operands != (given,) or loses:
                return
            signature = signature_of(made)
        if len(self.stores) >= _STORES_BOUND:
            self.stores.clear()
        if type(value) is ndarray:
            self.stores[given.type] = Paired(signature)
        elif type(value) in WEAK and signature is not None:
            found = limits(type(value), given.type.dtype)
            if found is not None:
                self.stores[type(value)] = Paired(signature, found)


_plans: Final = memory()
_STORES_BOUND: Final = 64


def plan(type: TensorType, key: Any) -> Plan | None:
    """The plan of a key, if it is basic. Raises: IndexError."""
    code = encoded(key, type.number)
    if code is None:
        key = as_basic(key)
        code = encoded(key, type.number)
        if code is None:
            return None
    found: Plan | None = _plans.get(code)
    if found is None:
        found = _make_plan(type, key if key.__class__ is tuple else (key,))
        keep(_plans, code, found)
    return found


def _make_plan(type: TensorType, key: tuple[Any, ...]) -> Plan:
    scalar = not any(item is ... for item in key)
    shadow = _layout(shadow_of_type(type), key)
    steps = window(type.shape, key).steps
    made = tensor_type(type.dtype, shadow.shape)
    return Plan(steps, made, shadow, scalar and not shadow.ndim)


def _layout(shadow: np.ndarray, key: Any) -> np.ndarray:
    """The shadow of the view that `key` takes of an array with this shadow."""
    if encoded(key) is None:
        key = as_basic(key)
    items = key if type(key) is tuple else (key,)
    # With an ellipsis the result is always an array, so NumPy does not read the shadow's memory.
    made: np.ndarray = shadow[items if any(i is ... for i in items) else (*items, ...)]
    return made


def viewed(x: Lazy, key: Any, found: Plan | None = None) -> Any:
    """`x[key]`, recorded, for a basic key. `found`: its plan, if that is known."""
    if found is None:
        found = cast(Plan, plan(type_of(x), key))
    shown, shadow = found.type, found.shadow
    target = view_through(ref_of(x), found.steps, shown)
    if found.scalar:
        # An integer on the host stays real: it is likely to be an index next, which would cut.
        known = target.known() if shown.dtype.kind in "iub" else None
        return wrap_scalar(target.node) if known is None else known[()]
    laid = shadow if x._shadow is None else _layout(x._shadow, key)
    return showing(ndarray, target, laid, x if x._base is None else x._base)


def as_basic(key: Any) -> Any:
    """`key` with NumPy's and lazy integers as Python's, if that makes it basic; else `key`."""
    items = key if type(key) is tuple else (key,)
    found: list[Any] = []
    for item in items:
        if type(item) is slice:
            found.append(slice(*(None if n is None else index_of(n, items) for n in _ends(item))))
        elif item is None or item is ... or type(item) is int:
            found.append(item)
        elif issubclass(type(item), np.integer) or _is_known_integer(item):
            found.append(int(item))
        else:
            return key
    return tuple(found)


def is_foreign(item: Any) -> bool:
    kind = type(item)
    return hasattr(kind, "__array__") and not issubclass(kind, Lazy | np.ndarray | np.generic)


def _ends(item: slice) -> tuple[Any, Any, Any]:
    return item.start, item.stop, item.step


def index_of(n: Any, items: tuple[Any, ...] = ()) -> int:
    """`n`, an end of a slice among `items`, as an int. Raises: TypeError."""
    try:
        return operator.index(n)
    except TypeError:
        np.empty((0,) * len(items))[real(items)]  # raises, perhaps for one of the others
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None


def _is_known_integer(item: Any) -> bool:
    if type(item) is Scalar:
        return item.node.type.dtype.kind in "iu" and item.node.value is not None
    if isinstance(item, Lazy | np.ndarray | list | bool | np.bool_) or is_foreign(item):
        return False
    return hasattr(item, "__index__")


def with_arrays(key: Any) -> Any:
    """`key` with its long lists of integers turned into arrays, as NumPy does.

    Each look at a long list takes long. A list that begins with a number hardly holds lazy ones.
    """
    if type(key) is tuple:
        return tuple(map(with_arrays, key)) if list in map(type, key) else key
    if type(key) is not list or len(key) < LONG_LIST or type(key[0]) is not int:
        return key
    made = as_integers(key)
    return key if made is None else made


LONG_LIST: Final = 32
"""Items of a list of indices that are looked at one by one, at most."""


def as_integers(items: list[Any]) -> np.ndarray | None:
    """A list as an array of indices, if NumPy finds integers in it."""
    made = np.array(items)
    return made.astype(np.intp, copy=False) if made.dtype.kind in "iu" else None
