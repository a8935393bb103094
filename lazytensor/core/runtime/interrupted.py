"""What a run of the host has computed before an error or a Ctrl-C ended it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import elements
from lazytensor.core.runtime.arguments import in_rows


def settle_computed(nodes: Sequence[Node | None], values: Sequence[Any]) -> None:
    """Settle it: the run's inputs may be gone, and the next one goes on there.

    nodes: per instruction the pending node, if it has one. values: per instruction its value, if it
    has one.
    """
    for node, value in zip(nodes, values, strict=True):
        if node is not None and value is not None and node.value is None:
            settle(node, value)


def settle(node: Node, value: Any) -> None:
    """Settle a node, or the nodes that pick from it if it has several results: a tuple."""
    if isinstance(value, tuple):
        for part in elements(node):
            part.settle(in_rows(value[part.attrs[0]]))
    else:
        node.settle(in_rows(value))
