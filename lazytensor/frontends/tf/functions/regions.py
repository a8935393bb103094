"""Loops and branches of functions as control flow inside a program.

A body is walked over parameters; what it uses of outside becomes an operand. That is possible if it
does nothing but compute, asks for no value, and gives tensors of the types that it takes (a loop)
or that the other branches give. Otherwise it is walked, round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S32
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER, scalar
from lazytensor.core.ir.program import SLOTS, Program, cut
from lazytensor.core.ir.recording import nodes_made
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.control import Region
from lazytensor.frontends.tf.functions.graphs import Graph, called_by, graph_of, stripped
from lazytensor.frontends.tf.rows import checks
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, ValueNeeded, node_of

Walk = Callable[[Graph, list[Any]], list[Any]]
WRITING: Final = ("Assign", "ResourceScatter", "ResourceStrided", "ResourceApply")


class NoRegion(Exception):
    """A body that cannot be control flow inside a program."""


class Body:
    """A body that was walked over parameters: its results, and the flags that it demands."""

    def __init__(self, walk: Walk, graph: Graph, arguments: list[Any], given: list[Node]) -> None:
        if not computes_only(graph):
            raise NoRegion
        self.name = stripped(graph.name)
        self.given = given
        self.first = nodes_made()
        flags, state.flags = state.flags, []
        state.tracing += 1
        try:
            self.results = walk(graph, arguments)
            self.flags = state.flags
        except ValueNeeded:
            raise NoRegion from None
        finally:
            state.tracing -= 1
            state.flags = flags

    def ok(self) -> Node:
        """Whether all is as the body demands."""
        flags = [flag for flag, _ in self.flags]
        return checks.every(flags) if flags else _one(scalar(True, BOOL))

    def parts(self, results: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """What is computed in the body for its results, and what it uses of outside."""
        given, seen = set(self.given), set(results)
        inner, outside = [], []
        stack = list(seen)
        while stack:
            node = stack.pop()
            if node in given:
                continue
            if node.serial < self.first or node.op is PARAMETER:
                outside.append(node)
            elif node.op not in SLOTS:
                inner.append(node)
                stack += [x for x in node.operands if x not in seen]
                seen.update(node.operands)
        inner.sort(key=lambda node: node.serial)
        return inner, sorted(outside, key=lambda node: node.serial)

    def region(self, results: Sequence[Node], outside: Sequence[Node], passed: bool) -> Region:
        """The body over its parameters and all of `outside`, which are results too if `passed`."""
        inner, _ = self.parts(results)
        inputs: dict[Node, Node] = {node: Input(PARAMETER, node.type) for node in outside}
        for node in inner:
            node.operands = tuple(inputs.get(x, x) for x in node.operands)
        ends = [inputs.get(node, node) for node in results]
        ends += inputs.values() if passed else []
        made = cut([*self.given, *inputs.values(), *inner], ends)
        program = Program(made.program.instructions, made.program.outputs, True, tuple(made.slots))
        return Region(self.name, program)


@cache
def computes_only(graph: Graph) -> bool:
    """Whether a body does nothing but give results."""
    return graph.pure and all(
        not step.op.startswith(WRITING) and all(computes_only(graph_of(n)) for n in called_by(step))
        for step in graph.steps
    )


def is_pending(x: Any) -> bool:
    """Whether a value is not known yet."""
    return type(x) is LazyTensor and x.node.value is None


def loop(walk: Walk, condition: Graph, body: Graph, values: list[Any]) -> list[Any]:
    """What the values of a loop are after it, as one op. Raises: NoRegion."""
    moving = [i for i, result in enumerate(body.outputs) if result != i]
    before = _nodes([values[i] for i in moving])
    given: list[Node] = [Input(PARAMETER, node.type) for node in before]
    arguments = list(values)
    for i, parameter in zip(moving, given, strict=True):
        arguments[i] = LazyTensor(parameter)
    round_ = Body(walk, body, list(arguments), given)
    after = _nodes([round_.results[i] for i in moving])
    if [x.type for x in after] != [x.type for x in before]:
        raise NoRegion
    text = _said([round_])
    if text:
        flag = Input(PARAMETER, tensor_type(BOOL))
        given.append(flag)
        before.append(scalar(True, BOOL))
        after.append(flag & round_.ok())
    test = Body(walk, condition, list(arguments), given)
    if test.flags:
        raise NoRegion
    more = _nodes(test.results)
    if more[0].type is not tensor_type(BOOL):
        raise NoRegion
    outside = _union(test.parts(more)[1], round_.parts(after)[1])
    made = ops.while_(
        *before, *outside,
        condition=test.region(more, outside, passed=False),
        body=round_.region(after, outside, passed=True),
    )  # fmt: skip
    made = list(made) if isinstance(made, tuple) else [made]
    found = list(values)
    for i, x in zip(moving, _demanded(made[: len(before)], text), strict=True):
        found[i] = LazyTensor(x)
    return found


def branch(walk: Walk, index: Node, graphs: Sequence[Graph], values: list[Any]) -> list[Any]:
    """What branch number `index` gives, as one op. Raises: NoRegion."""
    bodies = [Body(walk, graph, list(values), []) for graph in graphs]
    results = [_nodes(body.results) for body in bodies]
    text = _said(bodies)
    if text:
        results = [[*found, body.ok()] for found, body in zip(results, bodies, strict=True)]
    types = {tuple(x.type for x in found) for found in results}
    if len(types) != 1 or not results[0]:
        raise NoRegion
    both = list(zip(bodies, results, strict=True))
    outside = _union(*(body.parts(found)[1] for body, found in both))
    regions = tuple(body.region(found, outside, passed=False) for body, found in both)
    made = ops.case(index, *outside, branches=regions)
    made = list(made) if isinstance(made, tuple) else [made]
    return [LazyTensor(x) for x in _demanded(made, text)]


def number_of(condition: LazyTensor) -> Node:
    """Which branch a condition takes: 0 if it is true, else 1. Raises: NoRegion."""
    node = condition.node
    if node.type.ndim:
        raise NoRegion
    if node.type.dtype != BOOL:
        node = ops.not_equal(node, scalar(0, node.type.dtype))
    return ops.convert(~node, dtype=S32)


def _nodes(tensors: Sequence[Any]) -> list[Node]:
    """Their nodes; numbers of the host's as tensors of no axes."""
    found = [node_of(x) if type(x) in (LazyTensor, EagerTensor) else None for x in tensors]
    if None in found:
        raise NoRegion
    return [_one(node) if node.op in SLOTS else node for node in found if node is not None]


def _one(node: Node) -> Node:
    return ops.broadcast(node, shape=())


def _union(*lists: list[Node]) -> list[Node]:
    return list(dict.fromkeys(node for nodes in lists for node in nodes))


def _said(bodies: Sequence[Body]) -> str:
    return "; ".join(dict.fromkeys(text for body in bodies for _, text in body.flags))


def _demanded(made: list[Node], text: str) -> list[Node]:
    """Results that mean something only if the last of them is true, if there is a text for it."""
    if not text:
        return made
    *found, flag = made
    ok = checks.guard(flag, text)
    return found if ok is None else [ops.guarded(node, ok) for node in found]
