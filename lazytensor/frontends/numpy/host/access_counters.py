"""When the values of an array are fetched to the host, and when its memory is lent.

Both are decided by counts of small reads and writes, which come mostly from loops over rows or
elements. `parts.py` does the reads and writes.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell, Watcher, put, writing
from lazytensor.core.buffers.refcounts import is_own
from lazytensor.core.device import host_memory
from lazytensor.core.device.backend import on_host
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.ir.memo import keep
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT, leaf
from lazytensor.core.ir.recording import Place, nodes_made, user_place
from lazytensor.core.policy import (
    LOOP_OPERATIONS,
    SECONDS_PER_CALL,
    SECONDS_PER_ELEMENT,
    SECONDS_PER_OPERATION,
    TRIALS,
)
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.arguments import can_be_shown
from lazytensor.core.runtime.lending import Lent, lend
from lazytensor.core.runtime.locking import lock
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.profitability import account

LOOPS_KEPT: Final = 1000
"""Loops, and lines with products, that are remembered."""
WRITES_COUNTED: Final = 1000
"""Small writes to lent memory that are accounted for at once."""
NODES_OF_A_SUM: Final = 2
"""Nodes that an operation of a scalar and a number makes."""

Origin = tuple[Place | None, Place | None]


class Heat(Watcher):
    """Counts small operations on an array whose values are not on the host.

    `node`: the array's node after the last of them. Another node means that something else wrote
    in between. `price`: a factor on the number of operations until the values are fetched.
    `origin`: the source locations of the array's node before the first of them, and of the first.
    """

    __slots__ = ("count", "origin", "price")

    def __init__(self) -> None:
        self.count = 0
        self.node = None
        self.origin: Origin = (None, None)
        self.price = 1.0


_loops: Final[set[Origin]] = set()
"""Origins of small operations that went on until memory was lent. The next time, values are fetched
at the first operation, and the origin is removed until memory is lent again."""


class Streak:
    """Small reads and writes of values on the host.

    `count`: how many in a row. `nodes`: the nodes made before the last. `sums`: operations in a row
    of a lazy scalar and a number. `summed`: the nodes made before the last of these. `elements`:
    the nodes made before the last `look`. `largest`: elements of the largest array lent since
    `written` was last reset. `place`: where a large part of lent memory was last read.
    """

    __slots__ = ("count", "elements", "largest", "nodes", "place", "summed", "sums")

    def __init__(self) -> None:
        self.count = self.elements = self.largest = self.nodes = self.summed = self.sums = 0
        self.place: Place | None = None


_streak: Final = Streak()
written: Final = [0]
"""Small writes to lent memory. A list, as its item is incremented fastest."""
elements: Final = [0]
"""Elements read of memory that is on the host and not lent."""


def look(cell: Cell) -> None:
    """Lend the memory of a cell if its elements are read with little recorded in between.

    Called once in `LOOP_OPERATIONS` elements, as the check takes longer than reading an element.
    """
    now = nodes_made()
    is_loop = now - _streak.elements <= LOOP_OPERATIONS
    _streak.elements = now
    if is_loop:
        if cell.watcher is not None:
            _remember(cell.watcher.origin)
        memory_of(cell)


def is_sum() -> bool:
    """Whether only operations of a lazy scalar and a number have been recorded for a while.

    So it is for a sum that began lazy, in a loop that is otherwise NumPy's.
    """
    now = nodes_made()
    _streak.sums = _streak.sums + 1 if now - _streak.summed <= NODES_OF_A_SUM else 0
    _streak.summed = now
    return _streak.sums > LOOP_OPERATIONS and settings.small > 0


def end_sum() -> None:
    """Reset the count: the sum is NumPy's from now on."""
    _streak.sums = 0


def _remember(origin: Origin) -> None:
    if len(_loops) >= LOOPS_KEPT:
        _loops.clear()
    _loops.add(origin)


def is_worth_lending() -> bool:
    """Whether there have been enough small reads and writes, this one included."""
    now = nodes_made()
    _streak.count = _streak.count + 1 if now - _streak.nodes <= LOOP_OPERATIONS else 1
    _streak.nodes = now
    return _streak.count > TRIALS


def lent(cell: Cell, like: np.ndarray | None = None) -> np.ndarray:
    """Lend the memory of a cell, laid out as `like`, and return it. The caller holds `writing`."""
    if written[0] > WRITES_COUNTED:
        account().lost(written[0] * SECONDS_PER_OPERATION, _streak.largest)
        written[0] = _streak.largest = 0
    _streak.largest = max(_streak.largest, cell.type.size)
    if cell.watcher is not None:
        _remember(cell.watcher.origin)
    return lend(cell, like)


def fetch(cell: Cell, count: float, reads: bool = False) -> bool:
    """Get the values of an array to the host, in memory of its own, if that pays for an access to
    `count` elements.

    Rent or buy: values are fetched once small operations have cost as much as the fetch. They are
    fetched at once if the array is filled with one number, or if there was a loop over parts here
    the last time. `reads`: the values are only read, so the device's memory serves if the host can
    see it.
    """
    node, type = cell.node, cell.type
    if count >= settings.small or node.value.__class__ is Sharded:
        return False
    if node.operands and node.op is ops.broadcast and node.operands[0].op is SLOT:
        with writing:
            if cell.node is node:  # else another thread was first
                made = host_memory.allocated(type.shape, type.dtype)
                made[...] = node.operands[0].value
                put(cell, leaf(made, type))
        return True
    if type.size < settings.small:
        if not (reads and differing and is_raised() and can_be_shown(node)):
            return False
        show(node)  # small only by the raised bound
        return True
    heat: Heat | None = cell.watcher
    if heat is None:
        heat = cell.watcher = Heat()
    if heat.node is not node:
        heat.count, heat.node = 0, node
        heat.origin = node.place, user_place()
    heat.count += 1
    is_loop = heat.count == 1 and heat.origin in _loops
    is_shown = reads and can_be_shown(node)
    copying = 0.0 if is_shown else type.size * SECONDS_PER_ELEMENT
    each = SECONDS_PER_CALL + copying / LOOP_OPERATIONS
    if not is_loop and heat.count * each < heat.price * (TRIALS * SECONDS_PER_CALL + copying):
        return False
    _loops.discard(heat.origin)
    if is_shown:
        show(node)
        return True
    heat.price *= 2.0
    heat.node, heat.count = None, 0
    _streak.count, _streak.nodes = TRIALS, nodes_made()  # there were enough of them
    del node
    if cell.node.value is None:
        scheduler.sync(cell.node, cause="observation")
    if cell.node.value.__class__ is Sharded:  # in one host's memory it would not be split
        return False
    own(cell)
    return True


def show(node: Node) -> None:
    """Replace a leaf's value by the host's view of it, if that takes no copy."""
    with lock, writing:
        if can_be_shown(node):
            node.value = on_host(node.value)


def own(cell: Cell) -> None:
    """Give a cell memory of its own, if the host has its values."""
    while not _is_given_its_own(cell):
        scheduler.sync(cell.node, cause="observation")  # another thread has written to it


def _is_given_its_own(cell: Cell) -> bool:
    """Copy the cell's values if others share them. Returns: whether they are computed."""
    with lock, writing:
        if cell.__class__ is Cell and not is_own(cell):
            if cell.node.value is None:
                return False
            put(cell, leaf(host_memory.copied(scheduler.observe(cell.node)), cell.type))
        return True


def value_of(cell: Cell, count: float) -> np.ndarray | None:
    """The values, if the host has them or a fetch pays by now; else None."""
    value = cell.node.value
    if value.__class__ is not np.ndarray and fetch(cell, count, reads=True):
        value = cell.node.value  # pending again, if another thread has written in between
    return value if isinstance(value, np.ndarray) else None


def memory_of(cell: Cell, like: np.ndarray | None = None) -> np.ndarray | None:
    """The lent memory of a cell; None if it cannot be lent.

    Memory that is the cell's own is lent from now on, laid out as `like`.
    """
    with writing:
        if cell.__class__ is Lent:
            return cell.memory
        return lent(cell, like) if cell.__class__ is Cell and is_own(cell) else None


_factors: Final[dict[Place | None, int]] = {}
"""Where large parts of lent memory were read for a product, and for how many more reads that is
assumed."""


def is_factor() -> bool:
    """Whether a large part of lent memory, read at this line of the user's, is for a product.

    It is assumed if the last checked read at this line was. NumPy computes the product, so it may
    take the part.
    """
    place = user_place()
    trust = _factors.get(place, 0)
    if trust:
        _factors[place] = trust - 1
        return True
    _streak.place = place
    return False


def note_factor() -> None:
    """Note that a product was computed: the large part read last, if any, was for it."""
    if _streak.place is not None:
        keep(_factors, _streak.place, LOOP_OPERATIONS, LOOPS_KEPT)
        _streak.place = None
