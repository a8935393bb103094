"""StableHLO's loops and branches, as ONNX's."""

from __future__ import annotations

from typing import Final

import numpy as np
from onnx import TensorProto, helper

from lazytensor.artifacts.targets.onnx import convert
from lazytensor.artifacts.targets.onnx.elementwise import Rule
from lazytensor.artifacts.targets.onnx.graph import Graph, info
from lazytensor.backends.xla.portable.operations import Block, Operation


def _while(g: Graph, op: Operation, *xs: str) -> list[str]:
    """A loop. ONNX's asks before the first round, and after each: so does this one's body."""
    condition, body = op.regions
    before = convert.inlined(g, condition, xs)[0]
    inner = Graph(g.module, g)
    names = [inner.fresh() for _ in xs]
    results = convert.inlined(inner, body, names)
    more = convert.inlined(inner, condition, results)[0]
    types = [g.type(value) for value in body.results]
    counter = helper.make_tensor_value_info(inner.fresh(), TensorProto.INT64, [])
    known = helper.make_tensor_value_info(inner.fresh(), TensorProto.BOOL, [])
    inputs = [counter, known, *map(info, names, types)]
    outs = [inner.node("Identity", x) for x in (more, *results)]
    ends = [helper.make_tensor_value_info(outs[0], TensorProto.BOOL, [])]
    ends += map(info, outs[1:], types)
    made = helper.make_graph(inner.nodes, "body", inputs, ends, inner.constants)
    return g.several("Loop", ["", before, *xs], len(xs), body=made)


def _branch(g: Graph, block: Block) -> object:
    """A branch as a graph; it uses the values around it."""
    inner = Graph(g.module, g)
    results = convert.inlined(inner, block, ())
    outs = [inner.node("Identity", x) for x in results]
    return inner.graph("branch", block, (), outs)


def _case(g: Graph, op: Operation, index: str) -> list[str]:
    """Branches by number: the last for a number that is none."""
    return _chosen(g, op, index, 0)


def _chosen(g: Graph, op: Operation, index: str, at: int) -> list[str]:
    is_this = g.node("Equal", index, g.constant(at, np.int32))
    first = _branch(g, op.regions[at])
    inner, last = Graph(g.module, g), op.regions[-1]
    if at + 2 >= len(op.regions):
        second = _branch(g, last)
    else:
        outs = _chosen(inner, op, index, at + 1)
        second = inner.graph("branch", last, (), outs)
    return g.several("If", [is_this], len(op.results), then_branch=first, else_branch=second)


ROWS: Final[dict[str, Rule]] = {"case": _case, "while": _while}
