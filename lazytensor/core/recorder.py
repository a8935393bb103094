"""What one thread has recorded and not yet computed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final
from weakref import ref

if TYPE_CHECKING:
    from lazytensor.core.cell import Cell
    from lazytensor.core.place import Place


class Recorder(threading.local):
    """Per thread: the live pending cells, how much work is pending, where the last cut was made.

    `work` counts elements (see `types.NODE_WORK`); `serial` is the number of nodes that there were
    at the last cut, `stride` the work between the last two automatic ones. `anchor` is the point in the user's program, as
    a stack of places, where the last automatic cut was made; `previous` the point of the last
    record looked at once the bound was passed.
    """

    def __init__(self) -> None:
        self.cells: list[ref[Cell]] = []
        self.work = 0
        self.serial = 0
        self.stride = 0
        self.anchor: tuple[Place, ...] | None = None
        self.previous: tuple[Place, ...] = ()
        self.busy = False


recorder: Final = Recorder()
