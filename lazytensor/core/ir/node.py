"""Nodes: recorded, immutable results. Only `value` changes, once, when a node is settled."""

from __future__ import annotations

from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import ref

from lazytensor.core.ir.source_location import Place, hidden, is_hidden
from lazytensor.core.ir.trace_state import serials, thread

if TYPE_CHECKING:
    from lazytensor.core.ir.op import Op
    from lazytensor.core.ir.types import TensorType

Scalar = bool | int | float | complex


class Signature:
    """An op at operands of certain types: what is the same in every record of it.

    `attrs` are the attributes' values in the op's order. `type` is a tuple for an op with several
    results; `parts` are then the signatures that pick them, once there was a record. `work` is
    what one record counts for, in elements (see `types.NODE_WORK`); `fuses` says whether the op is
    elementwise.
    """

    __slots__ = ("attrs", "fuses", "op", "parts", "type", "work")

    def __init__(self, op: Op[Any], attrs: tuple[Any, ...], type: Any, work: int = 0) -> None:
        self.op = op
        self.attrs = attrs
        self.type = type
        self.work = work
        self.fuses = op.elementwise
        self.parts: tuple[Signature, ...] = ()


class Node:
    """One result of one op. Making one records it: as pending work, at the user's place.

    `value` is None while pending; a NumPy array or a device buffer once the node is a leaf; the
    Python numbers themselves for a slot. `type` is a tuple for an op with several results, which
    only `element` nodes read.
    """

    __slots__ = ("__weakref__", "attrs", "op", "operands", "place", "serial", "type", "value")

    place: Place | None
    value: Any

    def __init__(self, signature: Signature, operands: tuple[Node, ...]) -> None:
        self.op = signature.op
        self.operands = operands
        self.attrs = signature.attrs
        self.type: TensorType = signature.type
        self.value = None
        self.serial = next(serials)
        recorder = thread.recorder
        recorder.work += signature.work
        if not signature.fuses:
            recorder.fuses = False
        # The hottest loop of recording: `source_location.user_place`, written out.
        frame: FrameType | None = _getframe(2)
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            if not (hidden[name] if name in hidden else is_hidden(name)):
                self.place = code, frame.f_lasti
                return
            frame = frame.f_back
        self.place = None

    def settle(self, value: Any) -> None:
        """Become a leaf holding `value`; the graph behind is let go."""
        self.value = value
        self.operands = ()

    def __repr__(self) -> str:
        state = "pending" if self.value is None else "leaf"
        return f"<{state} {self.op.name} {self.type}>"


class Several(Node):
    """A node whose op has several results; `parts` are the nodes that pick these, while in use."""

    __slots__ = ("parts",)

    parts: tuple[ref[Part], ...]


class Part(Node):
    """One of several results, recorded together with the node that has them."""

    __slots__ = ()

    def __init__(self, signature: Signature, whole: Several) -> None:
        self.op = signature.op
        self.operands = (whole,)
        self.attrs = signature.attrs
        self.type = signature.type
        self.value = None
        self.serial = next(serials)
        self.place = whole.place
        thread.recorder.work += signature.work


class Input(Node):
    """A node with nothing before it: a leaf, a slot, a parameter of a composite's body."""

    __slots__ = ()

    def __init__(self, op: Op, type: TensorType, value: Any = None) -> None:
        self.op = op
        self.operands = self.attrs = ()
        self.type = type
        self.place = None
        self.value = value
        self.serial = next(serials)


def has_several(node: Node) -> bool:
    """Whether the node's op has several results, which `element` nodes pick from."""
    type: object = node.type
    return isinstance(type, tuple)
