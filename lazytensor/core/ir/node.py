"""Nodes: recorded, immutable results. Only `value` changes, once, when a node is settled.

Nodes have Python's operators, so that a composition reads as its formula: `a * b + 1` records the
nodes that `ops.add(ops.multiply(a, b), ops.scalar(1, …))` does.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import numpy as np

from lazytensor.core.ir.source_location import Place, hidden, is_hidden
from lazytensor.core.ir.trace_state import serials, thread
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import TensorType, tensor_type

if TYPE_CHECKING:
    from lazytensor.core.ir.op import Op

Scalar = bool | int | float | complex
_SCALARS: Final = (int, float, complex, np.number, np.bool_)
"""What `Scalar` says (a bool is an int), and NumPy's numbers, which users give in their place."""


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
        self.fuses = Trait.ELEMENTWISE in op.traits
        self.parts: tuple[Signature, ...] = ()


OPERATORS: dict[str, Op] = {}
"""The op behind each of Python's operators, by the name of its method; `slot`, of the numbers.

The modules that declare these ops enter them.
"""


def _binary(name: str) -> Callable[[Node, Node | Scalar], Node]:
    # Written out for each operator, without a call of `Op.__call__`, which would take longer.
    def method(self: Node, other: Node | Scalar) -> Node:
        op = OPERATORS[name]
        if not isinstance(other, Node):
            other = _number(op, other, self)
        types = self.type, other.type
        signature = op.signatures.get(types) or op.signature(types, {})
        return Recorded(signature, (self, other))

    return method


def _reversed(name: str) -> Callable[[Node, Scalar], Node]:
    def method(self: Node, other: Scalar) -> Node:
        op = OPERATORS[name]
        number = _number(op, other, self)
        types = number.type, self.type
        signature = op.signatures.get(types) or op.signature(types, {})
        return Recorded(signature, (number, self))

    return method


def _unary(name: str) -> Callable[[Node], Node]:
    def method(self: Node) -> Node:
        op = OPERATORS[name]
        types = (self.type,)
        signature = op.signatures.get(types) or op.signature(types, {})
        return Recorded(signature, (self,))

    return method


def _number(op: Op, value: object, beside: Node) -> Node:
    """The slot that a number is beside a node."""
    if isinstance(value, _SCALARS):
        return Input(OPERATORS["slot"], tensor_type(beside.type.dtype), value)
    given = type(value).__name__
    raise TypeError(f"{op.name}: a node or a Python number is needed beside a node, got {given}")


class Node:
    """One result of one op, or an input of a graph.

    `value` is None while pending; a NumPy array or a device buffer once the node is a leaf; the
    Python numbers themselves for a slot. `type` is a tuple for an op with several results, which
    only `element` nodes read.

    Each operator records the op that `OPERATORS` names, with the operands in the order written:
    `/` between integers rounds towards zero, as `divide` does. A Python number becomes a slot of
    the other operand's dtype, as `ops.scalar` makes it. `==` and `!=` compare identities, because
    nodes are keys of tables: the ops are `equal` and `not_equal`. A number is on the right of a
    comparison, as Python would turn `0 < x` into `x > 0`. A comparison is a node and always true:
    `a < b < c` means nothing.

    No class of nodes is a subclass of another one that is compared: Python would ask the subclass
    first, and turn `x < y` into `y > x`.
    """

    __slots__ = ("__weakref__", "attrs", "op", "operands", "place", "serial", "type", "value")

    # NumPy's arrays and scalars leave an operator with a node to the node, which refuses arrays.
    __array_ufunc__ = None

    attrs: tuple[Any, ...]
    op: Op[Any]
    operands: tuple[Node, ...]
    place: Place | None
    serial: int
    type: TensorType
    value: Any

    def settle(self, value: Any) -> None:
        """Become a leaf holding `value`; the graph behind is let go."""
        self.value = value
        self.operands = ()

    def __repr__(self) -> str:
        state = "pending" if self.value is None else "leaf"
        return f"<{state} {self.op.name} {self.type}>"

    __add__ = _binary("add")
    __radd__ = _reversed("add")
    __sub__ = _binary("sub")
    __rsub__ = _reversed("sub")
    __mul__ = _binary("mul")
    __rmul__ = _reversed("mul")
    __truediv__ = _binary("truediv")
    __rtruediv__ = _reversed("truediv")
    __pow__ = _binary("pow")
    __rpow__ = _reversed("pow")
    __floordiv__ = _binary("floordiv")
    __mod__ = _binary("mod")
    __and__ = _binary("and")
    __or__ = _binary("or")
    __xor__ = _binary("xor")
    __lshift__ = _binary("lshift")
    __rshift__ = _binary("rshift")
    __lt__ = _binary("lt")
    __le__ = _binary("le")
    __gt__ = _binary("gt")
    __ge__ = _binary("ge")
    __neg__ = _unary("neg")
    __invert__ = _unary("invert")


class Recorded(Node):
    """A node that an op made. Making one records it: as pending work, at the user's place."""

    __slots__ = ()

    def __init__(self, signature: Signature, operands: tuple[Node, ...]) -> None:
        self.op = signature.op
        self.operands = operands
        self.attrs = signature.attrs
        self.type = signature.type
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


class TupleNode(Recorded):
    """A node whose op has several results; `parts` are the nodes that pick these, while in use."""

    __slots__ = ("parts",)

    parts: tuple[ref[ResultNode], ...]


class ResultNode(Node):
    """One of several results, recorded together with the node that has them."""

    __slots__ = ()

    def __init__(self, signature: Signature, whole: TupleNode) -> None:
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
