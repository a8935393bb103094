"""Small parts of large arrays that the host has: what is done to them is done at once.

A loop over rows or elements does thousands of operations, each on a few elements of a large
array. While the array's values are on the host, an element is a number, and a small part of it is
a `Part`: NumPy computes with it, and writes into the host's memory. As soon as anything else is
asked of a part it becomes the ordinary view that it stands for.

Invariant: memory is written to only while nothing but the array's own cell refers to it, and to the
node that holds it (see `_is_owned`).
"""

from __future__ import annotations

import operator as python
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast
from weakref import WeakKeyDictionary, getweakrefcount

import numpy as np

from lazytensor.core import memory, ops, runtime
from lazytensor.core.cell import Cell, View
from lazytensor.core.node import Node
from lazytensor.core.op import SLOT, leaf
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy import small
from lazytensor.frontends.numpy.array import Lazy, ndarray, new

SECONDS_PER_OPERATION: Final = 3e-5
"""What recording and running a small operation takes, its share in copies of the array apart."""
OPERATIONS_A_CUT: Final = 32
SECONDS_PER_BYTE: Final = 5e-10
SECONDS_PER_CUT: Final = 4e-4
LARGEST_FACTOR: Final = 2**22
"""Elements of a matrix that NumPy multiplies a part by: to read it is most of the work."""
IN_FLIGHT: Final = 4
"""Writes of values that were recorded before those of the array were fetched."""
BACK_OFF: Final = 4
"""The values of an array are fetched again only after this many times as many small operations."""

_KEYS: Final = frozenset({int, slice, type(None), type(...), np.int64, np.int32})
_REAL: Final = frozenset({bool, int, float, complex, np.ndarray, np.float64, np.int64, np.float32})


class Part(ndarray):
    """A basic view of an array. It has an array's slots, so that it can become one.

    The slot of `ref` holds the cell, the key and the array.
    """

    __slots__ = ()


_made_of: Final[Callable[[Any], tuple[Cell, Any, ndarray]]] = vars(Lazy)["ref"].__get__


def real(x: Any) -> Any:
    """What a part shows, in the array's own memory; None if the host has not got it any more."""
    cell, key, _ = _made_of(x)
    value = cell.node.value
    return value[key] if value.__class__ is np.ndarray else None


def settled(x: Any) -> Any:
    """The part, now an ordinary view."""
    from lazytensor.frontends.numpy import indexing

    cell, key, owner = _made_of(x)
    x.__class__ = ndarray
    # Of the cell, not of the owner, which may have been given another shape since.
    found = indexing.plan(cell.type, key)
    assert found is not None
    x.ref = View(cell, found.steps, found.type) if found.steps else cell
    x._shadow = found.shadow
    x._base = owner if owner._base is None else owner._base
    return x


def read(x: Any, key: Any) -> Any:
    """`x[key]` if that is small, basic, and the host has it; else None."""
    cell = x.ref
    if cell.__class__ is not Cell or x._shadow is not None:
        return None
    for item in key if key.__class__ is tuple else (key,):
        if item.__class__ not in _KEYS:
            return None
    value = cell.node.value
    if value.__class__ is not np.ndarray:
        if not _fetch(cell, key):
            return None
        value = cell.node.value
    found = value[key]
    if found.__class__ is not np.ndarray:
        return found
    if found.size >= settings.small:
        return None
    part: Any = new(ndarray)
    part.ref = cell, key, x
    part.__class__ = Part
    return part


def write(x: Any, key: Any, value: Any) -> bool:
    """Do `x[key] = value` if that is small, basic, and the host has both; say whether it did."""
    cell = x.ref
    if cell.__class__ is not Cell or x._shadow is not None or not _is_basic(key):
        return False
    if type(value) is Part:
        written, its_key, _ = _made_of(value)
        if written is cell and its_key == key:
            return True  # the second half of `x[key] += …`, whose first half has written already
        value = real(value)
    elif issubclass(type(value), Lazy):
        value = _known(value, cell)
    if value is None or type(value) not in _REAL:
        return False
    if not _is_owned(cell) and not (_fetch(cell, key) and _is_owned(cell)):
        return False
    array = cell.node.value
    target = array[key]
    if target.__class__ is np.ndarray and target.size >= settings.small:
        return False
    array[key] = value
    cell.reads = None
    return True


def _known(value: Any, cell: Cell) -> np.ndarray | None:
    """What is to be written, if the host has it, or if it was recorded before the cell's values
    were fetched: then it is worth a cut, as the next ones will be known."""
    node = value.node
    if node.value.__class__ is np.ndarray:
        return cast(np.ndarray, node.value)
    heat = _heat.get(cell)
    if heat is None or heat.node is not None or heat.count >= IN_FLIGHT:
        return None
    heat.count += 1
    return runtime.observe(node) if node.type.size < settings.small else None


def _is_basic(key: Any) -> bool:
    return _KEYS.issuperset(map(type, key)) if type(key) is tuple else type(key) in _KEYS


def _is_owned(cell: Cell) -> bool:
    """Whether the host has the values, and nobody else refers to them."""
    node = cell.node
    value = node.value
    return (
        value.__class__ is np.ndarray
        and sys.getrefcount(node) <= _NODE_REFERENCES
        and sys.getrefcount(value) <= _VALUE_REFERENCES
        and not getweakrefcount(node)
        and value.flags.writeable
        and (value.base is None or sys.getrefcount(value.base) <= _BASE_REFERENCES)
    )


class Heat:
    """How many small operations there were on an array whose values are not at hand.

    `node` is what the array held after the last of them: when it holds another, there was something
    else in between. `price` is how many of them it takes until the values are fetched.
    """

    __slots__ = ("count", "node", "price")

    def __init__(self) -> None:
        self.count = 0
        self.node: Node | None = None
        self.price = 1.0


_heat: Final[WeakKeyDictionary[Cell, Heat]] = WeakKeyDictionary()


def _fetch(cell: Cell, key: Any) -> bool:
    """Get the values of an array to the host, in memory of its own, if that has come to pay.

    Rent or buy: when small operations have cost what fetching does; of an array that is filled with
    one number, at once.
    """
    from lazytensor.frontends.numpy import indexing

    node, type = cell.node, cell.type
    found = indexing.plan(type, key)
    if found is None or found.type.size >= settings.small:
        return False
    if node.value is None and node.op is ops.broadcast and node.operands[0].op is SLOT:
        made = memory.allocated(type.shape, type.dtype)
        made[...] = node.operands[0].value
        cell.write(leaf(made, type))
        return True
    if type.size < settings.small:
        return False
    heat = _heat.get(cell)
    if heat is None:
        heat = _heat[cell] = Heat()
    if heat.node is not node:
        heat.count, heat.node = 0, node
    heat.count += 1
    copying = type.nbytes * SECONDS_PER_BYTE
    each = SECONDS_PER_OPERATION + copying / OPERATIONS_A_CUT
    if heat.count * each < heat.price * (SECONDS_PER_CUT + copying):
        return False
    heat.price *= BACK_OFF
    heat.node, heat.count = None, 0
    del node
    cell.write(leaf(memory.copied(runtime.observe(cell.node)), type))
    return True


def noted(cell: Cell) -> None:
    """A small write was recorded: what the cell holds now is of our doing."""
    heat = _heat.get(cell)
    if heat is not None:
        heat.node = cell.node


def called(function: Callable[..., Any], args: tuple[Any, ...], inputs: int = 2) -> Any:
    """`function(*args)` by NumPy if parts are among the `inputs`, and nothing is lazy or large.

    The result is None if it is not done: also where it would be a view of a part.
    """
    bound, found, reals = settings.small, False, []
    for i, x in enumerate(args):
        kind, value = type(x), x
        if kind is Part and i < inputs:
            found, value = True, real(x)
            if value is None:
                return None
        elif kind is np.ndarray:
            if x.size >= bound:
                return None
        elif not small.is_plain(kind):
            return None
        reals.append(value)
    if not found:
        return None
    made = function(*reals)
    if isinstance(made, np.ndarray):
        return result(made) if made.base is None else None
    return None if isinstance(made, tuple | list) else made


def result(made: Any) -> Any:
    """What NumPy gave, an array of it lazy if it is large."""
    if made.__class__ is not np.ndarray or made.size < settings.small:
        return made
    from lazytensor.frontends.numpy.functions.entry import entered

    return entered(made)


def _binary(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    product = name in ("__matmul__", "__rmatmul__")

    def operator(x: Any, other: Any) -> Any:
        mine = real(x)
        if mine is not None:
            kind = type(other)
            theirs = other if kind in _REAL else real(other) if kind is Part else None
            if product and kind is ndarray and other.size <= LARGEST_FACTOR:
                theirs = other.ref.known()
            if theirs is not None:
                made = function(mine, theirs)
                if made.__class__ is np.ndarray and made.size >= settings.small:
                    return result(made)
                return made
        return getattr(settled(x), name)(other)

    return operator


def _in_place(name: str, function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operator(x: Any, other: Any) -> Any:
        kind = type(other)
        theirs = other if kind in _REAL else real(other) if kind is Part else None
        cell = _made_of(x)[0]
        if theirs is not None and _is_owned(cell):
            function(real(x), theirs)
            cell.reads = None
            return x
        return getattr(settled(x), name)(other)

    return operator


def _unary(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def operator(x: Any, *args: Any, **kwargs: Any) -> Any:
        mine = real(x)
        if mine is None:
            return getattr(settled(x), name)(*args, **kwargs)
        made = function(mine, *args, **kwargs)
        if made.__class__ is np.ndarray and (made is mine or made.base is not None):
            return getattr(settled(x), name)(*args, **kwargs)
        return result(made)

    return operator


def _getitem(x: Any, key: Any) -> Any:
    mine = real(x)
    if mine is not None and _is_basic(key):
        found = mine[key]
        if found.__class__ is not np.ndarray:
            return found
    return settled(x)[key]


def _setitem(x: Any, key: Any, value: Any) -> None:
    cell = _made_of(x)[0]
    if type(value) in _REAL and _is_basic(key) and _is_owned(cell):
        real(x)[key] = value
        cell.reads = None
    else:
        settled(x)[key] = value


def _asked(name: str) -> Any:
    """A property, of the real array where there is one."""

    def get(x: Any) -> Any:
        mine = real(x)
        return getattr(settled(x) if mine is None else mine, name)

    return property(get)


def _lazily(name: str) -> Any:
    """An attribute that only the ordinary view has."""
    return property(lambda x: getattr(settled(x), name))


def _array_ufunc(x: Any, function: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    outs = kwargs.get("out", ()) if kwargs else ()
    if method == "__call__" and all(type(out) is np.ndarray for out in outs):
        made = called(partial(function, **kwargs) if kwargs else function, inputs)
        if made is not None:
            return made
    return settled(x).__array_ufunc__(function, method, *inputs, **kwargs)


def _array(x: Any, dtype: Any = None, copy: Any = None) -> np.ndarray:
    mine = real(x)
    if mine is None or copy is False:
        made: np.ndarray = settled(x).__array__(dtype, copy)
        return made
    return np.array(mine, dtype)


_OWN: Final[dict[str, Any]] = {
    "__array__": _array,
    "__array_ufunc__": _array_ufunc,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
}
BINARY: Final = (
    "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift eq ne lt le gt ge"
)
METHODS: Final = "copy sum mean max min dot prod any all item tolist argmax argmin astype"


def attach() -> None:
    """Give parts what arrays have."""
    for name in BINARY.split():
        function = divmod if name == "divmod" else getattr(python, f"__{name}__")
        setattr(Part, f"__{name}__", _binary(f"__{name}__", function))
        if name not in {"eq", "ne", "lt", "le", "gt", "ge"}:
            swapped = _swapped(function)
            setattr(Part, f"__r{name}__", _binary(f"__r{name}__", swapped))
            if name != "divmod":
                written = getattr(python, f"__i{name}__")
                setattr(Part, f"__i{name}__", _in_place(f"__i{name}__", written))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(Part, f"__{name}__", _unary(f"__{name}__", getattr(python, f"__{name}__")))
    for name, convert in (("float", float), ("int", int), ("complex", complex), ("bool", bool)):
        setattr(Part, f"__{name}__", _unary(f"__{name}__", convert))
    for name in METHODS.split():
        setattr(Part, name, _unary(name, getattr(np.ndarray, name)))
    for name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes"):
        setattr(Part, name, _asked(name))
    for name in ("ref", "_shadow", "_base"):
        setattr(Part, name, _lazily(name))
    for name, method in _OWN.items():
        setattr(Part, name, method)


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, other: function(other, x)


def _references() -> tuple[int, int, int]:
    """What `_is_owned` counts where nobody else refers to a cell's values."""
    cell = Cell(leaf(memory.allocated((memory.LARGE,), np.dtype(np.uint8))))
    node = cell.node
    value = node.value
    return sys.getrefcount(node), sys.getrefcount(value), sys.getrefcount(value.base)


_NODE_REFERENCES, _VALUE_REFERENCES, _BASE_REFERENCES = _references()
