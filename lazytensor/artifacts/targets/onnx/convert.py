"""From StableHLO to ONNX: one loop over the operations, one table of rules."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lazytensor.artifacts.targets.onnx.elementwise import Rule
from lazytensor.artifacts.targets.onnx.graph import Graph, Refused
from lazytensor.backends.xla.portable.operations import Block, Operation

rows: dict[str, Rule] = {}
"""All rules, by the name of StableHLO's operation."""


def inlined(g: Graph, block: Block, arguments: Sequence[str]) -> list[str]:
    """Add a block's operations to the graph. arguments: names for its own; the results' names."""
    g.names.update(zip(block.arguments, arguments, strict=True))
    for op in block.operations:
        made = _made(g, op)
        g.names.update(zip(op.results, made, strict=True))
    return [g.names[value] for value in block.results]


def _made(g: Graph, op: Operation) -> list[str]:
    rule = rows.get(op.name)
    types = [g.type(value) for value in op.results]
    try:
        if rule is None:
            raise Refused(op.name)
        if types and all(0 in type.shape for type in types):  # some runtimes make one element
            return [g.constant(np.zeros([max(n, 0) for n in t.shape], t.dtype)) for t in types]
        made = rule(g, op, *(g.names[value] for value in op.operands))
    except Refused as refused:
        if not refused.place:
            refused.place = op.place
        raise
    return made if isinstance(made, list) else [made]
