"""What the boxed kernel asks of the core: nodes of cells, and plans recorded again.

Its functions are C functions where the hot path is compiled: `boxed.cpp` calls them by pointer.
Where a cut may follow, they go on below a frame of this frontend: the policies look for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import get_ident
from typing import Any, Final

import numpy as np

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.device.backend import is_apart
from lazytensor.core.device.padded import Padded
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.ir.recording import here, nodes_made, record, thread
from lazytensor.core.policy import EAGER_ELEMENTS, EAGER_TABLE, TRIALS
from lazytensor.core.runtime.arguments import can_be_shown
from lazytensor.core.runtime.program_cache import Entry
from lazytensor.core.settings import settings
from lazytensor.core.trace.call_memo import CallPlan
from lazytensor.frontends.torch.native.frame import call

Note = tuple[Any, CallPlan, list[int], list[int]]
"""A row, the plan that it has replayed, the serial numbers of the operands and of the results."""
ASKED: Final = 2 * TRIALS
"""Calls that ask for what a program has computed until the next one may be eager. A training step
asks for each of its weights less often."""
ASKED_KEPT: Final = 4096
_asked: dict[int, int] = {}
"""By serial number of a computed node, the calls that have asked for it."""
_since = 0
"""The serial number from which nodes have been recorded since the last program that was large."""
_notes: dict[int, Note] = {}
"""By thread, what was replayed last."""


def node_of(cell: Cell) -> Node:
    """What a cell holds."""
    return cell.node


def type_of(node: Node) -> int:
    """The number of a node's type."""
    type = node.type
    return type.number


def serial_of(node: Node) -> int:
    """A node's serial number."""
    return node.serial


def may_be_eager() -> int:
    """Whether tensors may be brought to the host's memory now: not where a body is traced."""
    if settings.small <= 0 or settings.eager or settings.check:
        return False
    return not thread.recorder.tracing


def is_entered(cell: Cell) -> int:
    """Whether the host can look at what a cell holds, and an eager call may: one asks for it.

    It may if that came from the host, if only small programs have run since it was recorded, or if
    calls have asked for it `ASKED` times. So words are generated eagerly after a long prompt, and
    so are forward passes between training steps.
    """
    node = cell.node
    if node.value is None:  # a pending one, as most are: the rest takes longer
        return False
    kind = node.value.__class__
    is_padded = kind is Padded and not is_apart()
    if kind is not np.ndarray and not is_padded and not can_be_shown(node):
        return False
    if node.op is PARAMETER or node.serial >= _since:
        return True
    if len(_asked) >= ASKED_KEPT:
        _asked.clear()
    count = _asked[node.serial] = _asked.get(node.serial, 0) + 1
    return count >= ASKED


def ran(entry: Entry, is_observed: bool, room: float) -> None:
    """Take note of a cut: whether eager calls could have computed all of it."""
    global _since
    extent = entry.extent
    if extent.widest > EAGER_ELEMENTS or extent.elements > EAGER_TABLE:
        _since = nodes_made()


def recorded(plan: CallPlan, nodes: tuple[Node, ...]) -> tuple[Cell, ...]:
    """New cells that hold the results of a plan."""
    if plan.signature is not None:
        return (_held(record(plan.signature, nodes)),)
    made = plan.replay(nodes)
    return tuple([_held(made[i]) for i in plan.results])


def _held(node: Node) -> Cell:
    recorder = here()
    if recorder.work > recorder.bound:
        return call(Cell, node)
    return Cell(node)


def written(cell: Cell, plan: CallPlan, nodes: tuple[Node, ...]) -> None:
    """Write the result of a plan to a cell of its type."""
    made = plan.replay(nodes)
    recorder = here()
    if recorder.work > recorder.bound:
        call(cell.write, made[plan.results[0]])
    else:
        cell.write(made[plan.results[0]])


def note(row: Any, plan: CallPlan, given: Sequence[Node], made: Sequence[Node]) -> None:
    """A row has replayed a plan in this thread."""
    serials = [x.serial for x in given], [x.serial for x in made]
    _notes[get_ident()] = (row, plan, *serials)


def taken() -> Note | None:
    """What this thread has replayed since the last call."""
    return _notes.pop(get_ident(), None)
