"""What is done when a lazy tensor is made, and when it is gone: each recorded raw op makes one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from tensorflow.python import pywrap_tfe

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.ir.pending import Listed
from lazytensor.core.ir.trace_state import with_room

uid: Final = pywrap_tfe.TFE_Py_UID
_no_tape: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
_forget: Final = pywrap_tfe.TFE_Py_TapeSetDeleteTrace


class _State(threading.local):
    """`on`: whether this thread records. `tracing`: how many functions are being traced.

    `flags`: what must be true of the values in the function being traced, with what is said if not.
    """

    def __init__(self) -> None:
        self.on = False
        self.tracing = 0
        self.flags: list[tuple[Node, str]] = []


state: Final = _State()
alive: Final[set[int]] = set()
"""The `_id` of each living lazy tensor."""
when_none_is_alive: Final[list[Callable[[], None]]] = []
"""Called after the last of them is gone."""


def begin(tensor: Any, node: Node) -> None:
    """Have a new tensor hold a node."""
    tensor._id = number = uid()
    there = alive  # a name of a known type
    there.add(number)
    if node.value is None and node.op is not PARAMETER and not state.tracing:
        recorder = with_room()
        tensor._listed = listed = Listed()  # it is gone when the tensor is
        listed.node = node
        recorder.cells.add(listed)
    tensor._tensor_shape = None
    tensor.node = node


def end(tensor: Any) -> None:
    """Forget a tensor."""
    number, there = tensor._id, alive
    there.discard(number)
    if not there:
        for told in when_none_is_alive:
            told()
    if not _no_tape():
        _forget(number)
