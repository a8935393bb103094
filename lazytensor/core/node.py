"""Nodes: recorded, immutable results. Only `value` changes, once, when a node is settled."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lazytensor.core.op import Op
    from lazytensor.core.place import Place
    from lazytensor.core.types import TensorType

Scalar = bool | int | float | complex
serials: Final = itertools.count()
"""Orders nodes by when they were recorded; `next` on it is atomic."""


def nodes_made() -> int:
    """How many nodes there have been."""
    # `itertools.count` shows its next value only in its repr; a counter of ours would be slower.
    return int(repr(serials)[len("count(") : -1])


class Node:
    """One result of one op.

    `value` is None while pending; a NumPy array or a device buffer once the node is a leaf; the
    Python numbers themselves for a slot. `type` is a tuple for an op with several results, which
    only `element` nodes read.
    """

    __slots__ = ("__weakref__", "attrs", "op", "operands", "place", "serial", "type", "value")

    def __init__(
        self,
        op: Op,
        operands: tuple[Node, ...],
        attrs: tuple[Any, ...],
        type: TensorType,
        place: Place | None = None,
        value: Any = None,
    ) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs
        self.type = type
        self.place = place
        self.value = value
        self.serial = next(serials)

    def settle(self, value: Any) -> None:
        """Become a leaf holding `value`; the graph behind is let go."""
        self.value = value
        self.operands = ()

    def __repr__(self) -> str:
        state = "pending" if self.value is None else "leaf"
        return f"<{state} {self.op.name} {self.type}>"


def has_several(node: Node) -> bool:
    """Whether the node's op has several results, which `element` nodes pick from."""
    type: object = node.type
    return isinstance(type, tuple)
