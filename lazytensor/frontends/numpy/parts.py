"""Small parts of large arrays that the host has: what is done to them is done at once, by NumPy.

A loop over rows or elements does thousands of operations, each on a few elements of a large
array. While the array's values are on the host, an element is a number, and a small basic view is
NumPy's own, of the array's own memory (see `core/lending.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

import numpy as np

from lazytensor.core import memory, ops, runtime
from lazytensor.core.balance import balance
from lazytensor.core.calls import keep
from lazytensor.core.cell import Cell, View, writing
from lazytensor.core.lending import Lent, is_own, lend
from lazytensor.core.node import Node, nodes_made
from lazytensor.core.op import SLOT, leaf
from lazytensor.core.place import Place, user_place
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.array import Lazy, ndarray
from lazytensor.frontends.numpy.masked import Masked
from lazytensor.frontends.numpy.small import all_stay

SECONDS_PER_OPERATION: Final = 3e-5
"""What recording and running a small operation takes, its share in copies of the array apart."""
SECONDS_PER_WRITE: Final = 4e-7
"""What a write to lent memory, and the two or three reads before it, take longer than NumPy's."""
OPERATIONS_A_CUT: Final = 32
SECONDS_PER_BYTE: Final = 2e-10
SECONDS_PER_CUT: Final = 1.5e-4
LARGEST_FACTOR: Final = 2**25
"""Elements of a matrix that NumPy multiplies something small by: to read it is most of the work."""
IN_FLIGHT: Final = 4
"""Writes of values that were recorded before those of the array were fetched."""
BACK_OFF: Final = 4
"""The values of an array are fetched again only after this many times as many small operations."""
PATIENCE = 5
"""Small reads and writes, with little recorded in between, before memory is lent. Views made before
a loop shall stay lazy: as long as there are real ones, every operation on the array copies it."""
LOOPS_BOUND: Final = 1000
TRUST: Final = 64
"""Reads of a large part that are taken to be for a product after one that was."""
LITTLE: Final = 64
"""Nodes recorded between two small reads or writes of one loop."""
A_LOOK: Final = 16
"""Elements read before memory may be lent for more: of lent memory each takes 0.1 µs less."""

Origin = tuple[Place | None, Place | None]

_KEYS: Final = frozenset({int, slice, type(None), type(...), np.int64, np.int32})


def read(cell: Cell, key: Any, count: int) -> Any:
    """What a basic key shows, `count` elements and so few, if the host has them; else None."""
    value = _value(cell, count)
    if value is None:
        return None
    found = value[key]
    if found.__class__ is not np.ndarray:
        return found
    del value, found
    if not _is_worth_lending():
        return None
    if (memory := _memory(cell)) is None and _fetch(cell, count):
        memory = _memory(cell)
    return None if memory is None else memory[key]


def picked(cell: Cell, key: Any) -> Any:
    """A copy of what integer arrays choose, so few elements, if the host has both; else None."""
    value = cell.node.value
    if key.__class__ is not np.ndarray:
        key = _at_hand(key)
    elif value.__class__ is np.ndarray and value.ndim == 1 and key.size < settings.small:
        return value[key]
    count = _picked(cell, key if type(key) is tuple else (key,))
    if count >= settings.small:
        return None
    value = _value(cell, count)
    return None if value is None else value[key]


def _value(cell: Cell, count: float) -> np.ndarray | None:
    """The values, if the host has them or it has come to pay to fetch them."""
    value = cell.node.value
    if value.__class__ is not np.ndarray and _fetch(cell, count):
        value = cell.node.value  # pending again, if another thread has written in between
    return value if isinstance(value, np.ndarray) else None


def _picked(cell: Cell, items: tuple[Any, ...]) -> float:
    """At most how many elements integers and arrays of such select; else infinity."""
    count = prod(cell.type.shape[len(items) :])
    for item in items:
        if type(item) is np.ndarray and item.dtype.kind in "iu":
            count *= item.size
        elif type(item) is not int:
            return inf
    return count


def write(x: ndarray, key: Any, value: Any) -> bool:
    """Do `x[key] = value` if that is small, basic, and the host has both; say whether it did."""
    cell = x.ref
    if cell.__class__ is not Lent and (cell.__class__ is not Cell or x._shadow is not None):
        return False
    key = _at_hand(key)
    if issubclass(type(value), Lazy):
        if type(value) is Masked and value.is_put_off:
            return False  # to ask how large it is would be a cut
        value = _known(value, cell)
        if value is None:
            return False
    if cell.__class__ is Lent:
        return key.__class__ is not ndarray and _write_at_once(cell, key, value)
    count = _count(cell, key)
    if count >= settings.small:
        return False
    return _write_at_once(cell, key, value) or (
        _fetch(cell, count) and _write_at_once(cell, key, value)
    )


def _write_at_once(cell: Cell, key: Any, value: Any) -> bool:
    """Do `cell[key] = value` in the memory of the host's, if that is lent or the cell's own."""
    with writing:
        if cell.__class__ is Lent:
            cell.memory[key] = value
            return True
        if cell.__class__ is not Cell or not is_own(cell):
            return False
        cell.node.value[key] = value
        cell.reads = None
        if _is_worth_lending():
            _lent(cell)
        return True


def _memory(cell: Cell) -> np.ndarray | None:
    """The memory of a cell that is lent, from now on if it is the cell's own."""
    with writing:
        if cell.__class__ is Lent:
            return cell.memory
        return _lent(cell) if cell.__class__ is Cell and is_own(cell) else None


def _known(value: Any, cell: Cell) -> np.ndarray | None:
    """What is to be written, if the host has it, or if it was recorded before the cell's values
    were fetched: then it is worth a cut, as the next ones will be known."""
    if value.type.size >= settings.small:
        return None
    is_lent = cell.__class__ is Lent  # as into a small array: the loop is NumPy's
    heat = None if is_lent else _heat.get(cell)
    is_wanted = is_lent or (heat is not None and heat.node is None and heat.count < IN_FLIGHT)
    if not is_wanted and type(value) is ndarray:
        ref = value.ref
        if type(ref) is View and ref.cell.node.value.__class__ is not np.ndarray:
            return None  # without a node, which nobody may need
    node = value.node
    if node.value.__class__ is np.ndarray:
        return cast(np.ndarray, node.value)
    if not is_wanted:
        return None
    if heat is not None:
        heat.count += 1
    return runtime.observe(node)


def _at_hand(key: Any) -> Any:
    """`key`, with NumPy's own arrays for those indices in it that the host has."""
    items = key if type(key) is tuple else (key,)
    if not any(type(item) is Masked or type(item) is ndarray for item in items):
        return key
    found = []
    for item in items:
        if (type(item) is Masked or type(item) is ndarray) and item.dtype.kind in "iu":
            known = item.ref.known()  # how many elements were chosen has to be known anyway
            found.append(item if known is None else known)
        else:
            found.append(item)
    return tuple(found) if type(key) is tuple else found[0]


def _is_basic(key: Any) -> bool:
    return _KEYS.issuperset(map(type, key)) if type(key) is tuple else type(key) in _KEYS


def _count(cell: Cell, key: Any) -> float:
    """How many elements a key selects, about; infinity if there is anything lazy in it."""
    from lazytensor.frontends.numpy import indexing

    if _is_basic(key):
        found = indexing.plan(cell.type, key)
        return inf if found is None else found.type.size
    items = key if type(key) is tuple else (key,)
    if not all(type(i) is np.ndarray or type(i) in _KEYS - {slice, type(...)} for i in items):
        return inf
    return max(item.size for item in items if type(item) is np.ndarray)


class Heat:
    """How many small operations there were on an array whose values are not at hand.

    `node` is what the array held after the last of them: when it holds another, there was something
    else in between. `price` is how many of them it takes until the values are fetched. `origin`:
    where what the array held before the first of them was recorded, and where that one was.
    """

    __slots__ = ("count", "node", "origin", "price")

    def __init__(self) -> None:
        self.count = 0
        self.node: Node | None = None
        self.origin: Origin = (None, None)
        self.price = 1.0


_loops: Final[set[Origin]] = set()
"""Origins of small operations that went on until memory was lent: the next time, values are fetched
at the first of them. That has to be earned again each time."""
_heat: Final[WeakKeyDictionary[Cell, Heat]] = WeakKeyDictionary()


def _heat_of(cell: Cell) -> Heat:
    heat = _heat.get(cell)
    if heat is None:
        heat = _heat[cell] = Heat()
    return heat


class Streak:
    """Small reads and writes of values at hand: how many, and the nodes made before the last.

    `elements`: the nodes made before the last look at reads of elements. `largest`: elements of the
    largest array lent since `written` was looked at. `place`: where a large part of lent memory was
    read last.
    """

    __slots__ = ("count", "elements", "largest", "nodes", "place")

    def __init__(self) -> None:
        self.count = self.elements = self.largest = self.nodes = 0
        self.place: Place | None = None


_streak: Final = Streak()
written: Final = [0]
"""Small writes to lent memory, in a list as that is counted up fastest."""


elements: Final = [0]
"""Elements read of memory that was at hand and not lent."""


def look(cell: Cell) -> None:
    """Lend the memory of a cell of which an element was read, if others were with little between.

    It is asked for once in `A_LOOK` elements, as asking takes longer than reading one.
    """
    now = nodes_made()
    is_loop = now - _streak.elements <= LITTLE
    _streak.elements = now
    if is_loop:
        _memory(cell)


def _is_worth_lending() -> bool:
    """Whether there have been enough small reads and writes, this one included."""
    now = nodes_made()
    _streak.count = _streak.count + 1 if now - _streak.nodes <= LITTLE else 1
    _streak.nodes = now
    return _streak.count > PATIENCE


def _lent(cell: Cell) -> np.ndarray:
    """The memory of a cell, lent from now on, by who holds `writing`."""
    if written[0] > LOOPS_BOUND:
        balance.lost(written[0] * SECONDS_PER_WRITE, _streak.largest)
        written[0] = _streak.largest = 0
    _streak.largest = max(_streak.largest, cell.type.size)
    heat = _heat.get(cell)
    if heat is not None:
        if len(_loops) >= LOOPS_BOUND:
            _loops.clear()
        _loops.add(heat.origin)
    return lend(cell)


def _fetch(cell: Cell, count: float) -> bool:
    """Get the values of an array to the host, in memory of its own, if that has come to pay for
    looking at `count` elements.

    Rent or buy: when small operations have cost what fetching does; of an array that is filled with
    one number, or where there was a loop over parts the last time, at once.
    """
    node, type = cell.node, cell.type
    if count >= settings.small:
        return False
    if node.value is None and node.op is ops.broadcast and node.operands[0].op is SLOT:
        with writing:
            if cell.node is node:  # else another thread was first
                made = memory.allocated(type.shape, type.dtype)
                made[...] = node.operands[0].value
                cell.put(leaf(made, type))
        return True
    if type.size < settings.small:
        return False
    heat = _heat_of(cell)
    if heat.node is not node:
        heat.count, heat.node = 0, node
        heat.origin = node.place, user_place()
    heat.count += 1
    is_loop = heat.count == 1 and heat.origin in _loops
    copying = type.nbytes * SECONDS_PER_BYTE
    each = SECONDS_PER_OPERATION + copying / OPERATIONS_A_CUT
    if not is_loop and heat.count * each < heat.price * (SECONDS_PER_CUT + copying):
        return False
    _loops.discard(heat.origin)
    heat.price *= BACK_OFF
    heat.node, heat.count = None, 0
    _streak.count, _streak.nodes = PATIENCE, nodes_made()  # there were enough of them
    del node
    if cell.node.value is None:
        runtime.sync(cell.node, cause="observation")
    with runtime.lock, writing:
        if cell.__class__ is Cell and not is_own(cell):
            cell.write(leaf(memory.copied(runtime.observe(cell.node)), type))
    return True


def noted(cell: Cell) -> None:
    """A small write was recorded: what the cell holds now is of our doing."""
    heat = _heat.get(cell)
    if heat is not None:
        heat.node = cell.node


def _factor(x: Any, bound: int) -> np.ndarray | None:
    """What NumPy is to multiply, if it is at hand."""
    if type(x) is np.ndarray:
        return x if x.size < bound else None
    if type(x) is not ndarray or x.ref.type.size > LARGEST_FACTOR:
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


_factors: Final[dict[Place | None, int]] = {}
"""Where large parts of lent memory were read for a product: how often that is still relied on."""


def is_factor() -> bool:
    """Whether a large part of lent memory, read at this place of the user's, is for a product.

    So it was the last time that it was looked at. NumPy has the product, and so may have the part.
    """
    place = user_place()
    trust = _factors.get(place, 0)
    if trust:
        _factors[place] = trust - 1
        return True
    _streak.place = place
    return False


def _note_factor() -> None:
    if _streak.place is not None:
        keep(_factors, _streak.place, TRUST, LOOPS_BOUND)
        _streak.place = None


def product(function: Callable[..., Any], x: Any, other: Any) -> Any:
    """The product of a matrix that the host has and something small, by NumPy; else None.

    Nothing fuses with it, and there is nothing in it that XLA does better.
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
    _note_factor()
    return function(first, second)
