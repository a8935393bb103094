"""Graphs: the nodes that outputs need, in the order of recording, numbered as a program's lines.

A numbered graph has a key: the bytes of integers that say everything that is a program's identity.
So a program that was run before is found by one look-up, and no `Program` is made of the graph.

Layout of a key, in 32-bit integers: the number of nodes; per node its signature's number, how many
operands it has, and each of them; each output. An operand is the line that made it. One that is new
is negative: it says which kind of input it is, and the number of its type.

Reference counts say what must be an output, and which inputs may be overwritten: the protocol is in
`buffers/refcounts.py`.

`graph.pyx` does the same with CPython's C API; the two are kept alike by hand.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final
from weakref import getweakrefcount

import numpy as np

from lazytensor.core.ir.node import Input, Node, has_several
from lazytensor.core.ir.op import DATUM, PARAMETER, SLOT, Op, element
from lazytensor.core.ir.recording import Signature, record
from lazytensor.core.ir.types import tensor_type

_by_serial: Final = attrgetter("serial")
_operands_of: Final = attrgetter("operands")
before_reading: Final[list[Callable[[list[Node]], bool]]] = []
"""Called with a graph's nodes: settle those that a program computes, and say if there were any."""
_KINDS_OF_INPUTS: Final[dict[Op, int]] = {PARAMETER: 0, SLOT: 1, DATUM: 2}


class NumberedGraph:
    """A graph whose nodes have the numbers of a program's lines.

    recorded: the nodes, in order. outputs: the nodes that the program gives. nodes: per line the
    node that was recorded, None for an input. leaves, slots: the parameters' nodes and the slots'
    values, in the program's order. owned: per leaf, whether nothing but the graph's nodes refers to
    it, weakly (a read) or not. key: see above.
    """

    __slots__ = ("key", "leaves", "nodes", "outputs", "owned", "recorded", "slots")

    def __init__(self, recorded: list[Node], outputs: list[Node]) -> None:
        self.recorded = recorded
        self.outputs = outputs
        self.nodes: list[Node | None] = []
        self.leaves: list[Node] = []
        self.slots: list[Any] = []
        self.owned: list[bool] = []
        self.key = b""


def reachable(outputs: Iterable[Node]) -> list[Node]:
    """The pending nodes that `outputs` need, themselves included, in the order of recording."""
    outputs = list(outputs)
    nodes = _pending(outputs)
    if any(settle(nodes) for settle in before_reading):
        nodes = _pending(outputs)
    return nodes


def _pending(outputs: Iterable[Node]) -> list[Node]:
    nodes = list(dict.fromkeys(node for node in outputs if node.value is None))
    found = set(nodes)
    for node in nodes:  # which grows
        for operand in node.operands:
            if operand.value is None and operand not in found:
                found.add(operand)
                nodes.append(operand)
    nodes.sort(key=_by_serial)
    return nodes


def numbered(
    nodes: list[Node], outputs: Sequence[Node], keeping_held: bool = False
) -> NumberedGraph:
    """The numbered graph of `nodes`, which are what `outputs` need, in order.

    keeping_held: every pending node that anything but the graph's own nodes refers to becomes an
    output as well, and outputs stand in the order of recording, whatever holds them. A node with
    several results has no value: the nodes of its results are asked.
    """
    wanted = [*outputs]
    if keeping_held:
        asked = set(wanted)
        counts = zip(nodes, _references(nodes), strict=True)
        wanted += [n for n, count in counts if count > _OF_NODE and n not in asked]
        wanted.sort(key=_by_serial)
    graph = NumberedGraph(nodes, wanted)
    writer = _Writer(graph)
    for node in nodes:
        writer.enter_node(node)
    for node in wanted:
        writer.enter_output(node)
    graph.owned = [
        count <= _OF_LEAF and not getweakrefcount(leaf)
        for leaf, count in zip(graph.leaves, writer.references, strict=True)
    ]
    graph.key = writer.numbers.tobytes()
    return graph


def _references(nodes: list[Node]) -> list[int]:
    """Per node how many references there are beside the graph's edges, those made here included.

    A node that no node of the graph has as an operand counts as referred to by something else.
    """
    edges = _edges(nodes)
    return [
        0 if has_several(node) else sys.getrefcount(node) - edges[node] if node in edges else _MANY
        for node in nodes
    ]


def _edges(nodes: list[Node]) -> Counter[Node]:
    return Counter(chain.from_iterable(map(_operands_of, nodes)))


class _Writer:
    """Writes a key, and enters lines into a graph.

    references: per leaf, what `_references` gives for a node.
    """

    def __init__(self, graph: NumberedGraph) -> None:
        self.graph = graph
        self.lines: dict[Node, int] = {}
        self.numbers = array("i", [len(graph.recorded)])
        self.references: list[int] = []
        self.edges = _edges(graph.recorded)

    def enter_input(self, node: Node, op: Op) -> None:
        """Write an input of a new line."""
        self.numbers.append(-1 - (node.type.number * len(_KINDS_OF_INPUTS) + _KINDS_OF_INPUTS[op]))
        self.graph.nodes.append(None)

    def enter_leaf(self, node: Node) -> None:
        """Write a new parameter."""
        if node.value is not None:  # a composite's operand is a parameter, but has no value
            self.references.append(sys.getrefcount(node) - self.edges[node])
            self.graph.leaves.append(node)
        self.lines[node] = len(self.graph.nodes)
        self.enter_input(node, PARAMETER)

    def enter_node(self, node: Node) -> None:
        """Write a node and its operands."""
        if node.op is PARAMETER:
            self.enter_leaf(node)
            return
        self.numbers.extend((node.kind, len(node.operands)))
        for operand in node.operands:
            if operand in self.lines:
                self.numbers.append(self.lines[operand])
            elif operand.op is SLOT or operand.op is DATUM:  # each use is a slot of its own
                self.enter_input(operand, operand.op)
                self.graph.slots.append(operand.value)
            else:
                self.enter_leaf(operand)
        self.lines[node] = len(self.graph.nodes)
        self.graph.nodes.append(node)

    def enter_output(self, node: Node) -> None:
        """Write an output."""
        if node in self.lines:
            self.numbers.append(self.lines[node])
        else:
            self.enter_leaf(node)


_MANY: Final = 2**30


def _measured() -> tuple[int, int]:
    """What `_references` and a writer see of a node, and a leaf, that only one edge refers to."""
    type = tensor_type(np.dtype(np.float32))
    signature = Signature(element, (0,), type)
    last = record(signature, (record(signature, (Input(PARAMETER, type, 0),)),))
    nodes = reachable([last])
    node = _references(nodes)[0]
    writer = _Writer(NumberedGraph(nodes, []))
    writer.enter_node(nodes[0])
    return node, writer.references[0]


_OF_NODE, _OF_LEAF = _measured()
