"""What recording takes from CPython, and what happens at each record.

A node is recorded as pending work of its thread, at the user's instruction. Serial numbers rise in
the order of recording, over all threads. `recording.pyx` does the same with CPython's C API; the
two are kept alike by hand.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from sys import _getframe
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import ref

from lazytensor.core.ir.library_files import hidden, is_hidden
from lazytensor.core.ir.trait import Trait

if TYPE_CHECKING:
    from lazytensor.core.ir.node import Node, Recorded
    from lazytensor.core.ir.op import Op
    from lazytensor.core.ir.trace_state import Recorder

Place = tuple[CodeType, int]
"""A code object and the offset of an instruction in it; made a line only when it is shown."""

_serials: Final = itertools.count()
_signature_numbers: Final = itertools.count()


def nodes_made() -> int:
    """How many nodes there have been."""
    # `itertools.count` shows its next value only in its repr; a counter of ours would be slower.
    return int(repr(_serials)[len("count(") : -1])


def user_frame() -> FrameType | None:
    """The innermost frame that is not the library's own, if any."""
    frame: FrameType | None = _getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not (hidden[name] if name in hidden else is_hidden(name)):
            break
        frame = frame.f_back
    return frame


def user_place() -> Place | None:
    """Where in the user's code the library was called."""
    frame = user_frame()
    return None if frame is None else (frame.f_code, frame.f_lasti)


class Signature:
    """An op at operands of certain types: what is the same in every record of it.

    `attrs` are the attributes' values in the op's order. `type` is a tuple for an op with several
    results; `parts` are then the signatures that pick them, once there was a record. `work` is
    what one record counts for, in elements (see `policy.NODE_WORK`); `fuses` says whether the op is
    elementwise. `number` is the signature's own.
    """

    __slots__ = ("attrs", "fuses", "number", "op", "parts", "type", "work")

    def __init__(self, op: Op[Any], attrs: tuple[Any, ...], type: Any, work: int = 0) -> None:
        self.number = next(_signature_numbers)
        self.op = op
        self.attrs = attrs
        self.type = type
        self.work = work
        self.fuses = Trait.ELEMENTWISE in op.traits
        self.parts: tuple[Signature, ...] = ()


class NodeBase:
    """What a node has.

    `value` is None while it is pending, `serial` its number, `code` and `offset` the user's
    instruction that recorded it, `kind` its signature's number; an input has none. `Node` says what
    the others are.
    """

    __slots__ = ("attrs", "code", "kind", "offset", "op", "operands", "serial", "type", "value")

    attrs: tuple[Any, ...]
    code: CodeType | None
    kind: int
    offset: int
    op: Any
    operands: tuple[Any, ...]
    serial: int
    type: Any
    value: Any

    @property
    def place(self) -> Place | None:
        """Where in the user's code it was recorded, if that is known."""
        return None if self.code is None else (self.code, self.offset)

    @place.setter
    def place(self, place: Place | None) -> None:
        self.code, self.offset = (None, 0) if place is None else place


def number(node: NodeBase) -> None:
    """Give a node the next serial number, at no place."""
    node.serial = next(_serials)
    node.code = None


def locate(node: NodeBase) -> None:
    """Give a node the user's place."""
    node.place = user_place()


class PendingWork:
    """What a record adds to its thread's pending work. `Recorder` says what it is."""

    __slots__ = ("bound", "fuses", "work")

    bound: int
    fuses: bool
    work: int


class Thread(threading.local):
    """`recorder` is the calling thread's."""

    recorder: Recorder

    def __init__(self) -> None:
        if _makers:  # the thread that imports this has its recorder from `complete`
            self.recorder = _makers[0]()


_makers: Final[list[Callable[[], Recorder]]] = []
_classes: Final[list[type[Recorded]]] = []
_after: Final[list[Callable[[Node], None]]] = []


def complete(node: type[Recorded] | None = None, recorder: Callable[[], Any] | None = None) -> None:
    """Say what class a recorded node has, and what makes a thread's recorder."""
    if node is not None:
        _classes.append(node)
    if recorder is not None:
        _makers.append(recorder)
        thread.recorder = recorder()


def call_after_each(hook: Callable[[Node], None] | None) -> None:
    """Call `hook` with each node that is recorded, from now on and in all threads; None: no more.

    The node's operands are there. Its place is known.
    """
    _after[:] = [] if hook is None else [hook]


thread: Final = Thread()
here: Final = cast("Callable[[], Recorder]", partial(attrgetter("recorder"), thread))
"""The calling thread's recorder. Compiled code has it without a look-up by name."""

_blank: Final = object.__new__

weak: Final = ref
"""A weak reference to a node. Compiled code makes one without a call of the class."""


def record(
    signature: Signature, operands: tuple[Any, ...], cls: type[Recorded] | None = None
) -> Recorded:
    """Record a node of a class, `Recorded` unless said otherwise."""
    node: Recorded = _blank(cls or _classes[0])
    node.op = signature.op
    node.operands = operands
    node.attrs = signature.attrs
    node.type = signature.type
    node.kind = signature.number
    node.value = None
    recorder = thread.recorder
    recorder.work += signature.work
    if not signature.fuses:
        recorder.fuses = False
    node.serial = next(_serials)
    node.code = None
    frame: FrameType | None = _getframe(1)
    while frame is not None:  # `user_place`, written out: this is the hottest loop of recording
        code = frame.f_code
        name = code.co_filename
        if not (hidden[name] if name in hidden else is_hidden(name)):
            node.code = code
            node.offset = frame.f_lasti
            break
        frame = frame.f_back
    if _after:
        _after[0](node)
    return node


def record_part(signature: Signature, operands: tuple[Node, ...], cls: type[Any]) -> Any:
    """Record one result of a node with several, `operands[0]`, at that node's place."""
    whole = operands[0]
    node: Node = _blank(cls)
    node.op = signature.op
    node.operands = operands
    node.attrs = signature.attrs
    node.type = signature.type
    node.kind = signature.number
    node.value = None
    thread.recorder.work += signature.work
    number(node)
    node.place = whole.place
    if _after:
        _after[0](node)
    return node
