"""Calls of a function as one node.

A function whose only effects are on variables is walked once per signature, over parameters, and
then is one composite node: its operands are the tensors given, the values of the variables it
reads, and its constants; its results are the function's and the variables' new values.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from lazytensor.core import ops
from lazytensor.core.interpreter.work import extent_of
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER, SLOT
from lazytensor.core.ir.program import Program, cut
from lazytensor.core.ir.recording import thread
from lazytensor.core.ir.types import TensorType
from lazytensor.core.runtime import cost_model, replay_call
from lazytensor.core.runtime.replay_call import Call
from lazytensor.core.runtime.tier_timing import Costs
from lazytensor.frontends.tf.dispatch import steps
from lazytensor.frontends.tf.functions.given import Given, Places
from lazytensor.frontends.tf.functions.graphs import Graph, stripped
from lazytensor.frontends.tf.functions.regions import Walk
from lazytensor.frontends.tf.host.functions import FasterCall, NativeCall, is_callable
from lazytensor.frontends.tf.rows import checks
from lazytensor.frontends.tf.rows.lists import LazyVariant
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import LazyTensor, ValueNeeded

SIGNATURES: Final = 64
"""Signatures of one function that are kept; with more it is walked at each call."""
TRIES: Final = 200
"""Calls after which nothing will change any more in how a step is run."""


class _Calls(threading.local):
    """`depth`: calls under way in this thread; `written`: whether one assigned to a variable.

    `whole`: what was recorded where nothing was pending before. `demands`: flags that no result
    depends on.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.written = False
        self.whole: Call | None = None
        self.demands: list[LazyTensor] = []


calls: Final = _Calls()


class Demands:
    """What a body demands of values, as far as it has been walked."""

    __slots__ = ("_known", "_ok", "flags")

    def __init__(self) -> None:
        self.flags: list[tuple[Node, str]] = []
        self._known: tuple[Node, ...] = ()
        self._ok: Node | None = None

    def so_far(self) -> Node | None:
        """Whether all of it is met; None if nothing is demanded."""
        now = tuple(flag for flag, _ in self.flags)
        if now != self._known:
            n = len(self._known)
            if self._ok is not None and now[:n] == self._known:
                self._ok = checks.every((self._ok, *now[n:]))
            else:
                self._ok = checks.every(now) if now else None
            self._known = now
        return self._ok


class TracedCell:
    """A variable's value while a body is traced over parameters.

    It is the old value if what has been demanded is not met. That is chosen where the value is
    assigned, so that what reads it reads what will be stored: chosen at the end, an optimizer's
    means were computed again for each variable, from copies of the old ones.
    """

    __slots__ = ("demands", "first", "node", "ok")
    native = -1

    def __init__(self, node: Node, demands: Demands) -> None:
        self.node = self.first = node
        self.demands = demands
        self.ok: Node | None = None

    def write(self, node: Node) -> None:
        """The new value."""
        ok = self.demands.so_far()
        before = self.node if ok is self.ok else self.first
        self.node, self.ok = _kept(node, before, ok), ok

    def kept(self) -> Node:
        """The last value; the first if anything that was demanded since is not met either."""
        ok = self.demands.so_far()
        return self.node if ok is self.ok else _kept(self.node, self.first, ok)


class FunctionOp(Composite[tuple[Node, ...]]):
    """A function at one signature. `native`: TensorFlow's call of it, if there is one."""

    def __init__(self, name: str, body: Program, native: NativeCall | None) -> None:
        super().__init__(name, lambda *operands: operands)
        self.traced, self.native = body, native

    def program(self, types: tuple[TensorType, ...], attrs: dict[str, Any]) -> Program:
        """The body."""
        return self.traced

    def on_host(self, interpreted: Callable[..., Any]) -> Callable[..., Any]:
        """The faster one of `interpreted` and TensorFlow's call."""
        if self.native is None:
            return interpreted
        work = extent_of(self.traced)
        own = Costs(work.operations, work.operations, work.elements)
        return FasterCall(interpreted, self.native, cost_model.estimate(own))


_names: Final[Counter[str]] = Counter()


class FunctionPlan:
    """What a call at one signature records.

    `constants`: operands after the given ones. `results`: how each result is made of the node's;
    `written`: positions among the handles, in the order of the new values. `demand`: what the last
    of the node's results is the flag of, if anything; `demands_only`: nothing else is a result but
    what is written. `held`: resources that the signature names by
    where they are: as long as it is kept, nothing else is there. `tries`: how many calls more may
    turn out to be steps by themselves.
    """

    __slots__ = (
        "constants", "demand", "demands_only", "held", "op", "results", "tries", "written",
    )  # fmt: skip

    def __init__(self, walk: Walk, graph: Graph, given: Given) -> None:
        parameters = [Input(PARAMETER, node.type) for node in given.nodes]
        rest = iter(parameters)
        self.held = [form[2] for form in given.forms if form[0] == "host"]
        arguments = [_rebuilt(form, rest) for form in given.forms]
        demands = Demands()
        cells = [TracedCell(next(rest), demands) for _ in given.handles]
        made = _traced(walk, graph, arguments, given.handles, cells, demands)
        nodes: list[Node] = []
        self.results = [_form(x, nodes, arguments) for x in made]
        self.written = tuple(i for i, cell in enumerate(cells) if cell.node is not cell.first)
        self.demands_only = bool(demands.flags) and not nodes
        ok = demands.so_far()
        nodes += [cells[i].kept() for i in self.written]
        nodes += [] if ok is None else [ok]
        self.demand = "; ".join(dict.fromkeys(text for _, text in demands.flags))
        nodes = [ops.broadcast(n, shape=()) if n.op is SLOT else n for n in nodes]
        self.tries = TRIES
        self.op: FunctionOp | None = None
        self.constants: tuple[Node, ...] = ()
        if nodes:
            types = [handle.type for handle in parameters[len(parameters) - len(cells) :]]
            native: NativeCall | None = None
            if is_callable(given.forms, self.results) and not graph.jitted:
                form = given.forms, types, self.results, self.written, ok is not None
                native = NativeCall(graph.name, *form)
            self._make(graph, parameters, nodes, native)

    def _make(
        self, graph: Graph, parameters: list[Input], nodes: list[Node], native: NativeCall | None
    ) -> None:
        inner = [node for node in reachable([*parameters, *nodes]) if node.op is not PARAMETER]
        known = set(parameters)
        leaves: dict[Node, None] = {}
        for node in (*nodes, *(x for n in inner for x in n.operands)):
            if node.op is PARAMETER and node not in known:
                leaves.setdefault(node)
        self.constants = tuple(leaves)
        found = cut([*parameters, *leaves, *inner], nodes)
        body = Program(found.program.instructions, found.program.outputs, True, tuple(found.slots))
        name = stripped(graph.name)
        _names[name] += 1
        self.op = FunctionOp(f"tf.function.{name}.{_names[name]}", body, native)


def _kept(node: Node, before: Node, ok: Node | None) -> Node:
    """A variable's new value; another one if the values are not what the body demands.

    What only scattered is in place, with nothing where a position is out of range: it has no copy.
    Raises: ValueNeeded where these are of different shapes, as nothing can choose between them.
    """
    if ok is None or node.op is ops.scatter:
        return node
    if node.type is not before.type:
        raise ValueNeeded
    return ops.select(ok, node, before)


def _traced(
    walk: Walk,
    graph: Graph,
    arguments: list[Any],
    handles: list[Any],
    cells: list[TracedCell],
    demands: Demands,
) -> list[Any]:
    """The results of a body."""
    before = [handle._lazy_cell for handle in handles]
    for handle, cell in zip(handles, cells, strict=True):
        handle._lazy_cell = cell
    state.tracing += 1
    flags, state.flags = state.flags, demands.flags
    try:
        return walk(graph, arguments)
    finally:
        state.tracing -= 1
        state.flags = flags
        for handle, cell in zip(handles, before, strict=True):
            handle._lazy_cell = cell


def _rebuilt(form: tuple[Any, ...], rest: Any) -> Any:
    kind = form[0]
    if kind == "data":
        return LazyTensor(next(rest))
    if kind == "none":
        return None
    if kind == "list":
        items = [_rebuilt(part, rest) for part in form[2]]
        return LazyVariant(items, form[3].dtype_, form[3].shape_)
    return form[2]


def _form(x: Any, nodes: list[Node], arguments: list[Any]) -> tuple[Any, ...]:
    """How a result is made of the node's results; appends those."""
    if type(x) is LazyTensor:
        nodes.append(x.node)
        return "data", len(nodes) - 1
    if type(x) is LazyVariant:
        parts = [("none", None) if y is None else _form(y, nodes, arguments) for y in x.items]
        return "list", parts, LazyVariant([], x.dtype_, x.shape_)
    if x is None:
        return "none", None
    for i, given in enumerate(arguments):
        if given is x:
            return "argument", i
    return "host", x


def as_node(walk: Walk, graph: Graph, inputs: list[Any]) -> list[Any]:
    """The results of a function as one node. Raises: Unnamed, ValueNeeded."""
    last: Places | None = graph.last
    nodes = None if last is None else last.nodes(inputs, graph.static)
    if last is None or nodes is None:
        given = Given(inputs, graph.static)
        last = graph.last = Places(inputs, given, _plan(walk, graph, given))
        nodes = given.nodes
    plan: FunctionPlan = last.plan
    operands = (*nodes, *plan.constants)
    cells = last.cells(inputs, plan.written)
    made = _repeated(plan, graph, operands)
    if made is None:
        made = _recorded(plan, operands)
        calls.written = calls.written or bool(cells)
    else:
        replay_call.retire([cell.node for cell in cells])
    for cell, node in zip(cells, made[len(made) - len(cells) :], strict=True):
        cell.write(node)
    if plan.demands_only:
        calls.demands.append(LazyTensor(made[0]))
    return [_result(form, made, inputs) for form in plan.results]


def _plan(walk: Walk, graph: Graph, given: Given) -> FunctionPlan:
    plan: FunctionPlan | None = graph.plans.get(given.key)
    if plan is None:
        if len(graph.plans) >= SIGNATURES:
            raise ValueNeeded
        plan = graph.plans[given.key] = FunctionPlan(walk, graph, given)
    return plan


def _repeated(plan: FunctionPlan, graph: Graph, operands: tuple[Node, ...]) -> Any:
    """The results of a call that is a step by itself, if it is one that was met before."""
    if plan.op is None or not plan.written or calls.depth != 1 or state.tracing:
        return None
    made = replay_call.repeated(plan.op, operands, f"end of {stripped(graph.name)}")
    if made is not None:
        steps.step.leave()
    return made


def _recorded(plan: FunctionPlan, operands: tuple[Node, ...]) -> Any:
    if plan.op is None:
        return ()
    alone = not thread.recorder.cells
    made = plan.op(*operands)
    if plan.demand:
        made = _demanded(plan, made)
    if plan.written and plan.tries and alone:
        plan.tries -= 1
        calls.whole = replay_call.call(plan.op, operands, made)
    return made


def _demanded(plan: FunctionPlan, made: tuple[Node, ...]) -> tuple[Node, ...]:
    """A call's results and new values, which mean something only if its last result is true.

    That is the only result of a call that has none.
    """
    *nodes, flag = made
    ok = ops.guard(flag, error=checks.InvalidArgument, text=plan.demand)
    results = len(nodes) - len(plan.written)
    found = [ops.guarded(node, ok) for node in nodes[:results]]
    return *(found or [ok]), *nodes[results:]


def _result(form: tuple[Any, ...], made: Any, inputs: list[Any]) -> Any:
    kind = form[0]
    if kind == "data":
        return LazyTensor(made[form[1]])
    if kind == "list":
        items = [_result(part, made, inputs) for part in form[1]]
        return LazyVariant(items, form[2].dtype_, form[2].shape_)
    if kind == "argument":
        return inputs[form[1]]
    return form[1]
