"""Calls of `tf.function`: the body is walked through the same table.

A function whose only effects are on variables is walked once per signature, over parameters, and
then is one composite node: its operands are the tensors given, the values of the variables it
reads, and its constants; its results are the function's and the variables' new values. A function
that does more (takes the next batch, prints, asks for a value to branch on) is walked at each call;
functions it calls may be composites all the same.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import Any, Final

import numpy as np
from tensorflow.python import pywrap_tfe
from tensorflow.python.framework import dtypes

from lazytensor.core import ops
from lazytensor.core.errors import LazyTensorError
from lazytensor.core.node import Input, Node
from lazytensor.core.op import PARAMETER, SLOT, Composite
from lazytensor.core.program import Program, cut, reachable
from lazytensor.core.types import TensorType
from lazytensor.frontends.tf import checks, fallback, regions, steps, table
from lazytensor.frontends.tf.graphs import (
    CALLS,
    IGNORED,
    Graph,
    Step,
    called_by,
    constant,
    graph_of,
    stripped,
)
from lazytensor.frontends.tf.host import host_value
from lazytensor.frontends.tf.lists import LazyVariant
from lazytensor.frontends.tf.tensor import (
    NUMPY,
    EagerTensor,
    LazyTensor,
    ValueNeeded,
    node_of,
    state,
)
from lazytensor.frontends.tf.variables import adopt, cell_of, is_handle

_stop: Final = pywrap_tfe.TFE_Py_TapeSetStopOnThread
_restart: Final = pywrap_tfe.TFE_Py_TapeSetRestartOnThread
SIGNATURES: Final = 64
"""Signatures of one function that are kept; with more it is walked at each call."""
SHORT: Final = 16
"""Steps of two branches that are both computed, as to choose between their results fuses."""
UNROLLED: Final = 64
"""Rounds of a loop that are part of the program one by one: what they share fuses."""
SMALL: Final = 16
"""Elements of an integer argument whose value may be part of a signature."""


class _Calls(threading.local):
    """`depth`: calls under way in this thread; `written`: whether one assigned to a variable."""

    depth = 0
    written = False


_calls: Final = _Calls()


def called(name: Any, inputs: list[Any], attrs: Any) -> list[Any] | None:
    """The results of a function; None if TF should run it: it has nothing that is lazy."""
    if name in CALLS:
        name = dict(zip(attrs[::2], attrs[1::2], strict=True))["f"]
        name = getattr(name, "name", name)
    name = name.decode() if isinstance(name, bytes) else name
    try:
        graph = graph_of(name)
    except Exception:  # noqa: BLE001 -- whatever it is that we cannot read, TF can run it
        return None
    if steps.step.fresh:
        steps.settle_variables()
    steps.hold_cuts()
    _calls.depth += 1
    _stop()
    try:
        made = invoke(graph, inputs)
    finally:
        _restart()
        _calls.depth -= 1
    if not _calls.depth and _calls.written and not state.tracing:
        _calls.written = False
        steps.end_step(f"end of {stripped(name)}")
    return made


def invoke(graph: Graph, inputs: list[Any]) -> list[Any]:
    """The results of a function, as one node if it can be."""
    if state.tracing or not graph.pure or graph.refused:
        return walk(graph, inputs)
    try:
        return _as_node(graph, inputs)
    except Uninitialized:
        return walk(graph, inputs)
    except ValueNeeded:
        if not graph.static:
            graph.static = True
            graph.plans.clear()
            return invoke(graph, inputs)
        graph.refused = True
        return walk(graph, inputs)


def walk(graph: Graph, inputs: list[Any]) -> list[Any]:
    """The results of a function, its steps run one by one."""
    values: list[Any] = [None] * graph.size
    values[: graph.inputs] = inputs
    ctx = fallback.current()
    for line in graph.steps:
        if line.op in IGNORED:
            if line.op == "Assert" and state.tracing:
                _assert([values[i] for i in line.inputs])
            continue
        made = _run(ctx, line, [values[i] for i in line.inputs])
        values[line.first : line.first + line.length] = made
    return [values[i] for i in graph.outputs]


def _assert(inputs: list[Any]) -> None:
    """A flag of the function: what it asserts, with the words it says it in."""
    condition = node_of(inputs[0])
    if condition is None:
        return
    texts = [np.ravel(x.numpy()) for x in inputs[1:] if x.dtype == dtypes.string]
    words = [text.decode(errors="replace") for each in texts for text in each]
    flag = ops.reduce_and(condition, axes=tuple(range(condition.type.ndim)))
    checks.guard(flag, " ".join(["assertion failed:", *words]))


def _run(ctx: Any, step: Step, inputs: list[Any]) -> list[Any]:
    if step.op == "Const":
        return [constant(step)]
    control = _CONTROL.get(step.op)
    if control is not None:
        return control(step, inputs)
    if step.op.startswith("Collective"):
        raise LazyTensorError(
            f"{step.op}: distributed functions are not lazy; call disable() first"
        )
    names = called_by(step)
    if names:
        return invoke(graph_of(names[0]), inputs)
    handler = table.find(step.op)
    assert handler is not None
    if step.op.startswith(("Assign", "ResourceScatter", "ResourceStrided", "ResourceApply")):
        _calls.written = True
    made = handler(ctx, None, (*_grouped(step, inputs), *step.attrs))
    return flat(made)


def flat(made: Any) -> list[Any]:
    """The results of a raw op in one list."""
    if made is None:
        return []
    if isinstance(made, list | tuple):
        return [tensor for item in made for tensor in flat(item)]
    return [made]


def _grouped(step: Step, inputs: list[Any]) -> list[Any]:
    if all(n < 0 for n in step.grouping):
        return inputs
    rest = iter(inputs)
    return [next(rest) if n < 0 else [next(rest) for _ in range(n)] for n in step.grouping]


def _truth(x: Any) -> bool:
    return bool(host_value(x).array.any())


def _branch(step: Step, inputs: list[Any]) -> list[Any]:
    names = step.named["then_branch"], step.named["else_branch"]
    condition, rest = inputs[0], inputs[1:]
    if regions.is_pending(condition):
        graphs = [graph_of(name) for name in names]
        small = sum(len(graph.steps) for graph in graphs) <= SHORT
        if small and step.op == "StatelessIf" and _is_choice(condition):
            chosen = _both(condition, *_branches(condition, names, rest))
            if chosen is not None:
                return chosen
        with suppress(regions.NoRegion):
            return regions.branch(walk, regions.number_of(condition), graphs, rest)
    return invoke(graph_of(names[0] if _truth(condition) else names[1]), rest)


def _is_choice(condition: LazyTensor) -> bool:
    """Whether both branches may be computed, and one chosen."""
    type = condition.node.type
    return bool(state.tracing) and not type.ndim and type.dtype.kind == "b"


def _branches(condition: LazyTensor, names: Any, given: list[Any]) -> list[list[Any]]:
    """The results of both branches; what a branch demands counts only where it is taken."""
    found = []
    for name, taken in zip(names, (True, False), strict=True):
        before = len(state.flags)
        found.append(walk(graph_of(name), given))
        other = ops.not_(condition.node) if taken else condition.node
        state.flags[before:] = [(ops.or_(flag, other), t) for flag, t in state.flags[before:]]
    return found


def _both(condition: LazyTensor, first: list[Any], second: list[Any]) -> list[Any] | None:
    """What a condition chooses of the results of both branches, if these are alike."""
    found: list[Any] = []
    for x, y in zip(first, second, strict=True):
        if any(type(t) not in (LazyTensor, EagerTensor) for t in (x, y)):
            return None
        a, b = node_of(x), node_of(y)
        if a is None or b is None or a.type is not b.type:
            return None
        found.append(LazyTensor(ops.select(condition.node, a, b)))
    return found


def _case(step: Step, inputs: list[Any]) -> list[Any]:
    names = step.named["branches"]
    if regions.is_pending(inputs[0]):
        graphs = [graph_of(name) for name in names]
        with suppress(regions.NoRegion):
            return regions.branch(walk, inputs[0].node, graphs, inputs[1:])
    i = int(host_value(inputs[0]).array)
    return invoke(graph_of(names[i if 0 <= i < len(names) else -1]), inputs[1:])


def _loop(step: Step, inputs: list[Any]) -> list[Any]:
    """Rounds are walked while the condition is known, the first `UNROLLED` of them."""
    condition, body = (graph_of(step.named[name]) for name in ("cond", "body"))
    values = list(inputs)
    tried = False
    for rounds in count():
        test = walk(condition, values)[0]
        if not tried and (rounds == UNROLLED or regions.is_pending(test)):
            tried = True
            with suppress(regions.NoRegion):
                return regions.loop(walk, condition, body, values)
        if not _truth(test):
            return values
        values = walk(body, values)
    raise AssertionError("the loop above has no end")


_CONTROL: Final[dict[str, Any]] = {
    "If": _branch, "StatelessIf": _branch, "Case": _case, "StatelessCase": _case,
    "While": _loop, "StatelessWhile": _loop,
}  # fmt: skip


class Uninitialized(Exception):
    """A variable has no value yet, or one that XLA has no dtype for: this call is walked."""


class TracedCell:
    """A variable's value while a body is traced over parameters."""

    __slots__ = ("first", "node")
    native = -1

    def __init__(self, node: Node) -> None:
        self.node = self.first = node

    def write(self, node: Node) -> None:
        """The new value."""
        self.node = node


class FunctionOp(Composite):
    """A function at one signature."""

    def __init__(self, name: str, body: Program) -> None:
        super().__init__(name, lambda *operands: operands)
        self.traced = body

    def program(self, types: tuple[TensorType, ...], attrs: dict[str, Any]) -> Program:
        """The body."""
        return self.traced


_names: Final[Counter[str]] = Counter()


class Plan:
    """What a call at one signature records.

    `constants`: operands after the given ones. `results`: how each result is made of the node's;
    `written`: positions among the handles, in the order of the new values. `demand`: what the last
    of the node's results is the flag of, if anything.
    """

    __slots__ = ("constants", "demand", "op", "results", "written")

    def __init__(self, graph: Graph, inputs: list[Any], given: Given) -> None:
        parameters = [Input(PARAMETER, node.type) for node in given.nodes]
        rest = iter(parameters)
        arguments = [_rebuilt(form, rest) for form in given.forms]
        cells = [TracedCell(next(rest)) for _ in given.handles]
        made, flags = _traced(graph, arguments, given.handles, cells)
        nodes: list[Node] = []
        self.results = [_form(x, nodes, arguments) for x in made]
        self.written = tuple(i for i, cell in enumerate(cells) if cell.node is not cell.first)
        ok = checks.every([flag for flag, _ in flags]) if flags else None
        nodes += [_kept(cells[i], ok) for i in self.written]
        nodes += [] if ok is None else [ok]
        self.demand = "; ".join(dict.fromkeys(text for _, text in flags))
        nodes = [ops.broadcast(n, shape=()) if n.op is SLOT else n for n in nodes]
        self.op: FunctionOp | None = None
        self.constants: tuple[Node, ...] = ()
        if nodes:
            self._make(graph, parameters, nodes)

    def _make(self, graph: Graph, parameters: list[Input], nodes: list[Node]) -> None:
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
        self.op = FunctionOp(f"tf.function.{name}.{_names[name]}", body)


def _kept(cell: TracedCell, ok: Node | None) -> Node:
    """A variable's new value; its old one if the values are not what the body demands.

    What only scattered is in place, with nothing where a position is out of range: it has no copy.
    """
    if ok is None or cell.node.op is ops.scatter:
        return cell.node
    made: Node = ops.select(ok, cell.node, cell.first)
    return made


def _traced(
    graph: Graph, arguments: list[Any], handles: list[Any], cells: list[TracedCell]
) -> tuple[list[Any], list[tuple[Node, str]]]:
    """The results of a body, and its flags."""
    before = [handle._lazy_cell for handle in handles]
    for handle, cell in zip(handles, cells, strict=True):
        handle._lazy_cell = cell
    state.tracing += 1
    flags, state.flags = state.flags, []
    try:
        made = walk(graph, arguments)
        return made, state.flags
    finally:
        state.tracing -= 1
        state.flags = flags
        for handle, cell in zip(handles, before, strict=True):
            handle._lazy_cell = cell


class Given:
    """The inputs of a call: the nodes of what is data, how the inputs are made of them again.

    `key` is what a body depends on.
    """

    __slots__ = ("forms", "handles", "key", "nodes", "places")

    def __init__(self, inputs: list[Any], static: bool) -> None:
        self.nodes: list[Node] = []
        self.handles: list[Any] = []
        self.places: dict[int, int] = {}
        self.forms = [self._form(x, static) for x in inputs]
        values = [cell_of(handle).node for handle in self.handles]  # type: ignore[union-attr]
        shape = tuple(form[:2] for form in self.forms)
        self.nodes += values
        self.key = (shape, tuple(node.type for node in self.nodes))

    def _form(self, x: Any, static: bool) -> tuple[Any, ...]:
        if type(x) is LazyTensor:
            self.nodes.append(x.node)
            return "data", None
        if type(x) is LazyVariant:
            parts = tuple(
                ("none", None) if item is None else self._form(item, static) for item in x.items
            )
            return "list", tuple(part[:2] for part in parts), parts, x
        if is_handle(x):
            return self._handle(x)
        if x._datatype_enum() not in NUMPY:
            return "host", id(x), x
        if static and x.dtype.is_integer | x.dtype.is_bool and x._num_elements() <= SMALL:
            return "host", host_value(x).key, x
        node = node_of(x)
        assert node is not None
        self.nodes.append(node)
        return "data", None

    def _handle(self, x: Any) -> tuple[Any, ...]:
        place = self.places.get(id(x))
        if place is not None:
            return "handle", place, x
        if cell_of(x) is None:
            data = getattr(x, "_handle_data", None)
            if data is None or not data.is_set:
                return "host", id(x), x
            adopt(fallback.current(), x, data.shape_and_type[0].dtype)
        if cell_of(x) is None:
            raise Uninitialized
        place = self.places[id(x)] = len(self.handles)
        self.handles.append(x)
        return "handle", place, x


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
        return "list", parts, x
    if x is None:
        return "none", None
    for i, given in enumerate(arguments):
        if given is x:
            return "argument", i
    return "host", x


def _as_node(graph: Graph, inputs: list[Any]) -> list[Any]:
    given = Given(inputs, graph.static)
    plan = graph.plans.get(given.key)
    if plan is None:
        if len(graph.plans) >= SIGNATURES:
            raise ValueNeeded
        plan = graph.plans[given.key] = Plan(graph, inputs, given)
    made: Any = ()
    if plan.op is not None:
        made = plan.op(*given.nodes, *plan.constants)
        if plan.demand:
            made = _demanded(plan, made)
    results = [_result(form, made, inputs) for form in plan.results]
    new = made[len(made) - len(plan.written) :]
    for i, node in zip(plan.written, new, strict=True):
        cell = cell_of(given.handles[i])
        assert cell is not None
        cell.write(node)
        _calls.written = True
    return results


def _demanded(plan: Plan, made: tuple[Node, ...]) -> tuple[Node, ...]:
    """A call's results and new values, which mean something only if its last result is true."""
    *nodes, flag = made
    ok = ops.guard(flag, error=checks.InvalidArgument, text=plan.demand)
    results = len(nodes) - len(plan.written)
    found = [ops.guarded(node, ok) for node in nodes[:results]]
    new = nodes[results:]
    if not found and new:  # somebody has to need the guard
        new[0] = ops.select(ok, new[0], new[0])
    return *found, *new


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
