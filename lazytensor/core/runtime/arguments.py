"""Values of leaves and slots, where and as the host or the device needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.cell import Cell, View, shown
from lazytensor.core.device.backend import backend, is_apart, is_host, on_host
from lazytensor.core.device.padded import Padded, padded
from lazytensor.core.device.sharded import Sharded
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Cut
from lazytensor.core.runtime.guards import Failure

_ELSEWHERE: Final = frozenset([np.ndarray, Padded, Sharded])
LOOKS_KEPT: Final = 256
LOOKS_BOUND: Final = 64
"""Looks after which a value stays on the host, however often programs take it to the device."""


def can_be_shown(leaf: Node) -> bool:
    """Whether the host can look at a leaf's buffer without a copy: it is in the host's memory."""
    value = leaf.value
    if value is None or type(value) is Failure or type(value) in _ELSEWHERE:
        return False
    return not is_apart()


def seen_through(ref: Cell | View) -> np.ndarray | None:
    """What a view shows of values that the host can look at, for a look at once; else None.

    Asking for its node's value would run a program and cut all that is pending.
    """
    if type(ref) is not View:
        return None
    known = ref.known()
    if known is not None:
        return known
    leaf = ref.cell.node
    return shown(on_host(leaf.value), ref.chain) if can_be_shown(leaf) else None


_looks: Final[dict[int, tuple[int, int]]] = {}
"""By serial number of a leaf whose value is on the device: how many more looks of the host's there
are until the value stays on the host, and how many it took the last time."""


def host_value(leaf: Node) -> np.ndarray:
    """The leaf's value on the host. It stays there when it is looked at for the second time.

    To look costs as much as some whole operations. Not at the first time: a loop that looks at each
    of its results once donates them, which would then cost a copy. If a program takes it back to
    the device, it takes twice as many looks, up to `LOOKS_BOUND`. It never stays where that would
    be a copy to another memory, or where the value is split, or has room for more.
    """
    value: Any = leaf.value
    if type(value) is np.ndarray:
        return value
    found = on_host(value)
    if is_apart() or type(value) in _ELSEWHERE:
        return found
    if len(_looks) >= LOOKS_KEPT:
        _looks.clear()
    left, last = _looks.get(leaf.serial, (2, 2))
    if left > 1:
        _looks[leaf.serial] = left - 1, last
    else:
        leaf.value = found
        last = min(2 * last, LOOKS_BOUND)
        _looks[leaf.serial] = last, last
    return found


def in_rows(value: np.ndarray) -> np.ndarray:
    """The value, no view with strides of its own: whoever needs it next would have to copy it."""
    return value if value.flags.c_contiguous else np.ascontiguousarray(value)


def argument(leaf: Node, shared: bool) -> Any:
    """The leaf's device buffer; a copy of it if the program overwrites what others still need."""
    if is_host(leaf.value):
        leaf.value = backend().to_device(leaf.value, owned=True)
    elif type(leaf.value) is Padded:
        leaf.value = backend().to_device(on_host(leaf.value), owned=True)
    elif type(leaf.value) is Sharded:  # whole on every device, or the program had a mesh
        return backend().first_part(leaf.value.buffer)
    return backend().copy(leaf.value) if shared else leaf.value


def arguments(leaves: Sequence[Node]) -> list[Any]:
    """The leaves' device buffers, of which the program overwrites none that others need."""
    values = [leaf.value for leaf in leaves]
    if _ELSEWHERE.isdisjoint(map(type, values)):  # hundreds of them in a training step
        return values
    return [argument(leaf, False) for leaf in leaves]


def with_room(found: Cut, shared: list[bool]) -> list[Any]:
    """The arguments of a program with room for more: a buffer that has room goes in as it is."""
    lines = found.program.instructions
    buffers = []
    for leaf, at, is_shared in zip(found.leaves, found.program.parameters, shared, strict=True):
        capacity, value = lines[at][3], leaf.value
        if capacity is leaf.type:
            buffers.append(argument(leaf, is_shared))
        elif type(value) is Padded and value.capacity is capacity:
            buffers.append(backend().copy(value.buffer) if is_shared else value.buffer)
        else:
            buffers.append(backend().to_device(padded(on_host(value), capacity), owned=True))
    return buffers
