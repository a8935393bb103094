"""Nodes: recorded, immutable results. Only `value` changes, once, when a node is settled.

Nodes have Python's operators, so that a composition reads as its formula: `a * b + 1` records the
nodes that `ops.add(ops.multiply(a, b), ops.scalar(1, …))` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import numpy as np

from lazytensor.core.ir.recording import (
    NodeBase,
    Signature,
    complete,
    number,
    record,
    record_part,
)
from lazytensor.core.ir.types import TensorType, tensor_type

if TYPE_CHECKING:
    from lazytensor.core.ir.op import Op

Scalar = bool | int | float | complex
_SCALARS: Final = (int, float, complex, np.number, np.bool_)
"""What `Scalar` says (a bool is an int), and NumPy's numbers, which users give in their place."""


OPERATORS: dict[str, Op] = {}
"""The op behind each of Python's operators, by the name of its method; `slot`, of the numbers.

The modules that declare these ops enter them.
"""


def record_several(
    signature: Signature, operands: tuple[Node, ...], picks: tuple[Signature, ...]
) -> tuple[ResultNode, ...]:
    """Record a node with several results. `picks`: the signatures of the nodes that pick these."""
    whole: Any = record(signature, operands, TupleNode)
    parts = tuple([record_part(pick, (whole,), ResultNode) for pick in picks])
    whole.parts = tuple([ref(part) for part in parts])
    return parts


def _binary(name: str, x: Node, other: Node | Scalar) -> Node:
    op = OPERATORS[name]
    second = other if isinstance(other, Node) else _number(op, other, x)
    types = x.type, second.type
    return record(op.signatures.get(types) or op.signature(types, {}), (x, second))


def _reversed(name: str, x: Node, other: Scalar) -> Node:
    op = OPERATORS[name]
    number = _number(op, other, x)
    types = number.type, x.type
    return record(op.signatures.get(types) or op.signature(types, {}), (number, x))


def _unary(name: str, x: Node) -> Node:
    op = OPERATORS[name]
    types = (x.type,)
    return record(op.signatures.get(types) or op.signature(types, {}), (x,))


def _number(op: Op, value: object, beside: Node) -> Node:
    """The slot that a number is beside a node."""
    if isinstance(value, _SCALARS):
        return Input(OPERATORS["slot"], tensor_type(beside.type.dtype), value)
    given = type(value).__name__
    raise TypeError(f"{op.name}: a node or a Python number is needed beside a node, got {given}")


class Node(NodeBase):
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

    __slots__ = ("__weakref__",)

    # NumPy's arrays and scalars leave an operator with a node to the node, which refuses arrays.
    __array_ufunc__ = None

    attrs: tuple[Any, ...]
    op: Op[Any]
    operands: tuple[Node, ...]
    type: TensorType

    def settle(self, value: Any) -> None:
        """Become a leaf holding `value`; the graph behind is let go."""
        self.value = value
        self.operands = ()

    def __repr__(self) -> str:
        state = "pending" if self.value is None else "leaf"
        return f"<{state} {self.op.name} {self.type}>"

    def __add__(self, other: Node | Scalar) -> Node:
        return _binary("add", self, other)

    def __radd__(self, other: Scalar) -> Node:
        return _reversed("add", self, other)

    def __sub__(self, other: Node | Scalar) -> Node:
        return _binary("sub", self, other)

    def __rsub__(self, other: Scalar) -> Node:
        return _reversed("sub", self, other)

    def __mul__(self, other: Node | Scalar) -> Node:
        return _binary("mul", self, other)

    def __rmul__(self, other: Scalar) -> Node:
        return _reversed("mul", self, other)

    def __truediv__(self, other: Node | Scalar) -> Node:
        return _binary("truediv", self, other)

    def __rtruediv__(self, other: Scalar) -> Node:
        return _reversed("truediv", self, other)

    def __pow__(self, other: Node | Scalar) -> Node:
        return _binary("pow", self, other)

    def __rpow__(self, other: Scalar) -> Node:
        return _reversed("pow", self, other)

    def __floordiv__(self, other: Node | Scalar) -> Node:
        return _binary("floordiv", self, other)

    def __mod__(self, other: Node | Scalar) -> Node:
        return _binary("mod", self, other)

    def __and__(self, other: Node | Scalar) -> Node:
        return _binary("and", self, other)

    def __or__(self, other: Node | Scalar) -> Node:
        return _binary("or", self, other)

    def __xor__(self, other: Node | Scalar) -> Node:
        return _binary("xor", self, other)

    def __lshift__(self, other: Node | Scalar) -> Node:
        return _binary("lshift", self, other)

    def __rshift__(self, other: Node | Scalar) -> Node:
        return _binary("rshift", self, other)

    def __lt__(self, other: Node | Scalar) -> Node:
        return _binary("lt", self, other)

    def __le__(self, other: Node | Scalar) -> Node:
        return _binary("le", self, other)

    def __gt__(self, other: Node | Scalar) -> Node:
        return _binary("gt", self, other)

    def __ge__(self, other: Node | Scalar) -> Node:
        return _binary("ge", self, other)

    def __neg__(self) -> Node:
        return _unary("neg", self)

    def __invert__(self) -> Node:
        return _unary("invert", self)


# A compiled class that compares has no hash of its own accord.
Node.__hash__ = object.__hash__  # type: ignore[method-assign]


class Recorded(Node):
    """A node that an op made."""

    __slots__ = ()


complete(node=Recorded)


class TupleNode(Recorded):
    """A node whose op has several results; `parts` are the nodes that pick these, while in use."""

    __slots__ = ("parts",)

    parts: tuple[ref[ResultNode], ...]


class ResultNode(Node):
    """One of several results, recorded together with the node that has them."""

    __slots__ = ()


class Input(Node):
    """A node with nothing before it: a leaf, a slot, a parameter of a composite's body."""

    __slots__ = ()

    def __init__(self, op: Op, type: TensorType, value: Any = None) -> None:
        self.op = op
        self.operands = self.attrs = ()
        self.type = type
        self.value = value
        number(self)


def has_several(node: Node) -> bool:
    """Whether the node's op has several results, which `element` nodes pick from."""
    type: object = node.type
    return isinstance(type, tuple)
