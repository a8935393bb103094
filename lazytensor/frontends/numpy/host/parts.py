"""Small parts of large arrays on the host: NumPy reads and writes them at once.

A loop over rows or elements does thousands of operations, each on a few elements of a large
array or of a view of one. While the array's values are on the host (see `access_counters.py`), an
element is a number, and a small basic view is NumPy's own view of the array's memory (see
`core/runtime/lending.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from operator import setitem
from typing import Any, Final, cast

import numpy as np

from lazytensor.core.buffers.cell import Cell, View, shown, writing
from lazytensor.core.buffers.interop import METHOD
from lazytensor.core.buffers.refcounts import is_own
from lazytensor.core.ir.types import TensorType
from lazytensor.core.policy import TRIALS
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.lending import Lent, shown_in
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy, Scalar, ndarray
from lazytensor.frontends.numpy.arrays.flags import is_read_only
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host.access_counters import (
    Heat,
    fetch,
    is_worth_lending,
    lent,
    memory_of,
    note_factor,
    own,
    show,
    value_of,
)
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.profitability import account
from lazytensor.frontends.numpy.host.small import NUMBERS, all_stay, are_plain
from lazytensor.frontends.numpy.indexing import basic
from lazytensor.frontends.numpy.indexing.masked import Masked

INTEGERS: Final = frozenset({int, *(np.dtype(code).type for code in "bBhHiIlLqQ")})
_INDICES: Final = INTEGERS | {type(None)}
_KEYS: Final = INTEGERS | {slice, type(None), type(...)}


def read(x: ndarray, key: Any, count: int) -> Any:
    """The `count` elements that a small basic key selects, if the host has them; else None."""
    cell, chain = x.ref.cell, x.ref.chain
    is_lent = cell.__class__ is Lent
    value = memory_of(cell) if is_lent else value_of(cell, count)
    whole = None if value is None else shown_in(value, chain)
    if whole is None:
        return None
    found = whole[key]
    if found.__class__ is not np.ndarray:
        return found
    if not is_lent:
        del value, whole, found
        memory = _worth_lending(cell, count, layout_of(x))
        if memory is None:
            return None
        found = shown(memory, chain)[key]
    if x._shadow is not None and not x._shadow.flags.writeable:
        found.flags.writeable = False
    return found


def _worth_lending(cell: Cell, count: int, like: np.ndarray | None) -> np.ndarray | None:
    """The lent memory of a cell, if there have been enough small reads and writes; else None."""
    if not is_worth_lending():
        return None
    if (memory := memory_of(cell, like)) is None and fetch(cell, count):
        memory = memory_of(cell, like)
    return memory


def layout_of(x: Lazy) -> np.ndarray | None:
    """The layout of the array whose data `x` shows; None if it is in rows."""
    owner = x if x._base is None else x._base
    is_whole = owner.ref is owner.ref.cell
    return owner._shadow if is_whole and type(owner._shadow) is Turned else None


def picked(cell: Cell, key: Any) -> Any:
    """A copy of the elements that arrays of indices or a mask choose.

    None if they are not small, or the host lacks the values or the key.
    """
    value = cell.node.value
    if key.__class__ is not np.ndarray:
        key = _at_hand(key)
    elif value.__class__ is np.ndarray and value.ndim == 1 and key.size < settings.small:
        return value[key]
    count = _picked(cell.type, key if type(key) is tuple else (key,))
    if count >= settings.small:
        return None
    value = value_of(cell, count)
    return None if value is None else value[key]


def _picked(type_: TensorType, items: tuple[Any, ...]) -> float:
    """The most elements that integers, slices, arrays of integers and masks can select.

    Infinity for other keys.
    """
    shape, count, axis = type_.shape, 1, 0
    for item in items:
        if type(item) is np.ndarray and item.dtype.kind in "biu":
            count *= item.size
            axis += item.ndim if item.dtype.kind == "b" else 1
        elif type(item) in INTEGERS:
            axis += 1
        elif type(item) is slice and axis < len(shape) and _is_known(item):
            count *= len(range(*item.indices(shape[axis])))
            axis += 1
        else:
            return inf
    return count * prod(shape[axis:])


def _is_known(item: slice) -> bool:
    return _INDICES.issuperset(map(type, (item.start, item.stop, item.step)))


def write(
    x: ndarray, key: Any, value: Any, do: Callable[[Any, Any, Any], object] = setitem
) -> bool:
    """Do `x[key] = value` if it is small and the host has both. Returns: whether it was done.

    do: `do(x, key, value)` is called, by default an assignment.
    """
    ref = x.ref
    cell = ref.cell
    shadow = x._shadow
    if ref is cell and not (shadow is None or type(shadow) is Turned or cell.__class__ is Lent):
        return False
    key = _at_hand(key)
    if issubclass(type(value), Lazy):
        if type(value) is Masked and value.is_put_off:
            return False  # its size is known only after a cut
        value = _known(value, cell)
        if value is None:
            return False
    elif hasattr(type(value), METHOD):
        return False  # another frontend's array, which is adopted later
    if cell.__class__ is Lent:
        return key.__class__ is not ndarray and _write_at_once(x, key, value, do)
    count = _count(ref, key)
    if count >= settings.small:
        return False
    if _write_at_once(x, key, value, do):
        return True
    is_own = _owned_if_small(x) or fetch(cell, count)
    return is_own and _write_at_once(x, key, value, do)


def _write_at_once(x: ndarray, key: Any, value: Any, do: Callable[[Any, Any, Any], object]) -> bool:
    """Call `do` on the host's memory of `x`, if that is lent or the cell's own."""
    ref = x.ref
    cell = ref.cell
    with writing:
        part = _own_part(ref)
        if part is None:
            return False
        do(part, key, value)
        if cell.__class__ is not Lent:
            del part
            cell.reads = None
            if is_worth_lending():
                lent(cell, layout_of(x))
        return True


def _known(value: Any, cell: Cell) -> np.ndarray | None:
    """The value to be written, if the host has it.

    A value recorded before the cell's values were fetched is worth a cut, as the next ones will be
    known.
    """
    if value.type.size >= settings.small:
        return None
    is_lent = cell.__class__ is Lent  # as into a small array: the loop is NumPy's
    heat: Heat | None = None if is_lent else cell.watcher
    is_wanted = is_lent or (heat is not None and heat.node is None and heat.count < TRIALS)
    if not is_wanted and type(value) is ndarray:
        ref = value.ref
        if type(ref) is View and ref.cell.node.value.__class__ is not np.ndarray:
            return None  # makes no node that may never be needed
    node = value.node
    if node.value.__class__ is np.ndarray:
        return cast(np.ndarray, node.value)
    if not is_wanted:
        return None
    if heat is not None:
        heat.count += 1
    return scheduler.observe(node)


def _at_hand(key: Any) -> Any:
    """`key`, with its lazy indices and lists replaced by NumPy arrays where the host has them."""
    items = key if type(key) is tuple else (key,)
    if _LOOKED_AT.isdisjoint(map(type, items)):
        return key
    found: list[Any] = []
    for item in items:
        known = None
        if type(item) is list:
            known = _indices(item)
        elif (type(item) is Masked or type(item) is ndarray) and item.dtype.kind in "iu":
            known = item.ref.known()  # a mask's result has to be counted anyway
        found.append(item if known is None else known)
    return tuple(found) if type(key) is tuple else found[0]


_LOOKED_AT: Final = frozenset({Masked, ndarray, list})


def _indices(items: list[Any]) -> np.ndarray | None:
    """A list of integers on the host as an array, as in `x[[i, j]]`; else None."""
    if items and are_plain(items):
        return basic.as_integers(items)
    given = [_integer(x) for x in items]
    return None if None in given else np.array(given, np.intp)


def _integer(x: Any) -> int | None:
    """`x` as an int, if it is an integer on the host."""
    if type(x) is Scalar and x.dtype.kind in "iu":
        known = x.ref.known()
        return None if known is None else int(known)
    return int(x) if type(x) in INTEGERS else None


def _is_basic(key: Any) -> bool:
    return _KEYS.issuperset(map(type, key)) if type(key) is tuple else type(key) in _KEYS


def _count(ref: Cell | View, key: Any) -> float:
    """About how many elements a key selects; infinity if anything in it is lazy."""
    if _is_basic(key):
        found = basic.plan(ref.type, key)
        return inf if found is None else found.type.size
    items = key if type(key) is tuple else (key,)
    if not all(type(i) is np.ndarray or type(i) in _INDICES for i in items):
        return _picked(ref.type, items)
    return max(item.size for item in items if type(item) is np.ndarray)


def _factor(x: Any, bound: int) -> np.ndarray | None:
    """`x` as NumPy multiplies it, if it is on the host and below its bound."""
    if type(x) is np.ndarray:
        return x if x.size < bound else None
    if type(x) is not ndarray:
        return None
    found: np.ndarray | None = x.ref.known()
    return found


def at_hand(args: tuple[Any, ...]) -> list[Any] | None:
    """Arguments as NumPy takes them, if the host has the values of those that are lazy."""
    given = []
    for x in args:
        if type(x) is ndarray:
            x = x.ref.known()
        elif type(x) is not np.ndarray and not all_stay((x,)):
            return None
        if x is None:
            return None
        given.append(x)
    return given


def small_by_now(args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> list[Any] | None:
    """`args` as NumPy takes them, if all are small by now and the host has them; else None.

    Lazy arrays stay lazy when the bound is raised (`profitability.py`), so their size is checked
    again. A mask's result gets its size late, and its program seldom runs again.
    """
    if not (differing and is_raised()) and not any(type(x) is Masked for x in args):
        return None
    if kwargs and not all_stay(kwargs.values()):
        return None
    return _all_small(args)


def small_now(x: Any) -> Any:
    """`x` as NumPy takes it, if it is small by now and the host has it; else None."""
    kind = type(x)
    if kind in NUMBERS:
        return x
    if kind is ndarray:
        return _small_value(x) if differing and is_raised() else None
    if kind is Scalar:  # a time step, or what a loop tests
        value = _small_value(x) if differing and is_raised() else None
        return None if value is None else value[()]
    if kind is np.ndarray:
        return x if x.size < settings.small else None
    if kind is Masked:
        return _small_value(x)
    return x if all_stay((x,)) else None


def update(x: ndarray, other: Any, operator: Callable[[Any, Any], Any]) -> bool:
    """Do `x ∘= other` in the host's memory, if both are small by now. Returns: whether it was done.

    For a raised bound only. The memory is lent, as more writes will follow.
    """
    return _into(x, (other,), lambda part, given: operator(part, *given))


def filled(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Do `function(*args, **kwargs)`, where `out=` is one array, as `update` does."""
    out = kwargs.get("out")
    if type(out) is tuple and len(out) == 1:
        out = out[0]
    rest = {name: x for name, x in kwargs.items() if name != "out"}
    if type(out) is not ndarray or is_read_only(out) or not all_stay(rest.values()):
        return False
    return _into(out, args, lambda part, given: function(*given, out=part, **rest))


def _into(x: ndarray, args: tuple[Any, ...], do: Callable[[np.ndarray, list[Any]], object]) -> bool:
    """Let `do` write to the host's memory of `x`, if `x` and `args` are small by now."""
    given = _all_small(args)
    if given is None or type(x) is not ndarray or _small_value(x) is None:
        return False
    ref = x.ref
    if ref.cell.__class__ is Cell:
        given = None  # may refer to the cell's memory
        if not _lent_if_own(ref.cell, layout_of(x)):
            return False
        given = _all_small(args)
    with writing:
        part = _own_part(ref)
        if part is None or given is None:
            return False
        do(part, given)
    return True


def _all_small(args: tuple[Any, ...]) -> list[Any] | None:
    given = []
    for x in args:
        known = small_now(x)
        if known is None and x is not None:
            return None
        given.append(known)
    return given


def _lent_if_own(cell: Cell, like: np.ndarray | None) -> bool:
    """Give a cell memory of its own and lend that. Returns: whether it is lent."""
    own(cell)
    with writing:
        if cell.__class__ is Cell and is_own(cell):
            lent(cell, like)
        return cell.__class__ is Lent


def _owned_if_small(x: ndarray) -> bool:
    """Give an array that is small by now memory of its own, if the host has its values."""
    if not (differing and is_raised()) or _small_value(x) is None:
        return False
    own(x.ref.cell)
    return True


def _own_part(ref: Cell | View) -> np.ndarray | None:
    """The part of the cell's memory that `ref` shows, if a holder of `writing` may write to it."""
    cell = ref.cell
    if cell.__class__ is Lent:
        return shown_in(cell.memory, ref.chain)
    if cell.__class__ is not Cell or not is_own(cell):
        return None
    return shown_in(cell.node.value, ref.chain)


def _small_value(x: ndarray) -> np.ndarray | None:
    """The values of a lazy array, if it is small and the host has them in NumPy's layout."""
    ref = x.ref
    if ref.type.size >= settings.small:
        return None
    cell = ref.cell
    if cell.__class__ is Cell and cell.node.value.__class__ is not np.ndarray:
        if account().settles and cell.node.value is None:
            account().settles = False
            scheduler.sync(cell.node, cause="observation")
        show(cell.node)
    value: np.ndarray | None = ref.known()
    if value is None or (x._shadow is not None and x._shadow.strides != value.strides):
        return None
    return value


def product(function: Callable[..., Any], x: Any, other: Any) -> Any:
    """The product of a matrix on the host and something small, by NumPy; else None.

    Nothing fuses with it, and XLA computes it no faster.
    """
    bound = settings.small
    first = _factor(x, bound)
    if first is None:
        return None
    second = _factor(other, bound)
    if second is None:
        return None
    rows = first.shape[0] if first.ndim == 2 else 1
    columns = second.shape[1] if second.ndim == 2 else 1
    if first.ndim > 2 or second.ndim > 2 or rows * columns >= bound:
        return None
    note_factor()
    return function(first, second)
