"""A function's body as a plan: steps in an order in which they can be run, values by number."""

from __future__ import annotations

from functools import cache
from heapq import heapify, heappop, heappush
from typing import Any, Final, NamedTuple

from tensorflow.python.eager import context
from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.framework import tensor_util

from lazytensor.frontends.tf.dispatch import opdef

VARIABLES: Final = frozenset(
    [
        "ReadVariableOp", "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp",
        "ResourceGather", "ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate",
        "ResourceScatterMul", "ResourceScatterMin", "ResourceScatterMax", "VariableShape",
        "ResourceStridedSliceAssign", "VarIsInitializedOp", "ResourceScatterNdAdd",
        "ResourceScatterNdSub", "ResourceScatterNdUpdate", "ResourceApplyGradientDescent",
        "ResourceApplyMomentum", "ResourceApplyKerasMomentum", "ResourceApplyAdam",
        "ResourceApplyAdaMax", "ResourceApplyAdagrad", "ResourceApplyAdagradV2",
        "ResourceApplyAdadelta", "ResourceApplyRMSProp", "ResourceApplyCenteredRMSProp",
        "ResourceApplyAddSign", "ResourceApplyPowerSign", "ResourceApplyProximalGradientDescent",
        "ResourceApplyProximalAdagrad",
    ]
)  # fmt: skip
"""Raw ops with a state that is only that of variables."""
CHECKED: Final = frozenset(["CheckNumerics"])
"""Raw ops whose only effect is that they demand something of values."""
IGNORED: Final = frozenset(["NoOp", "Assert", "ControlTrigger"])
CALLS: Final = frozenset(["PartitionedCall", "StatefulPartitionedCall"])


JITTED: Final = "_XlaMustCompile"
"""The attribute of a function or call with `jit_compile=True`."""


class Step(NamedTuple):
    """A node of a function: the numbers of its inputs and of its first result.

    `attrs` as the fast path takes them; `named` with all of them; `grouping` has the lengths of
    lists of inputs, -1 for single ones.
    """

    op: str
    name: str
    inputs: tuple[int, ...]
    first: int
    length: int
    attrs: tuple[Any, ...]
    named: dict[str, Any]
    grouping: tuple[int, ...]


class Graph:
    """A function's body.

    `pure`: all it does beyond its results is done to variables. `jitted`: TensorFlow would compile
    a part of it.
    """

    def __init__(self, definition: Any) -> None:
        self.name = definition.signature.name
        self.numbers: dict[str, int] = {}
        self.size = 0
        self.inputs = len(definition.signature.input_arg)
        for arg in definition.signature.input_arg:
            self._number(arg.name, 1)
        nodes = list(definition.node_def)
        firsts = [self._results(node) for node in nodes]
        order = _ordered(nodes)
        self.steps = tuple(self._step(nodes[i], *firsts[i]) for i in order)
        self.outputs = tuple(
            self.numbers[definition.ret[arg.name]] for arg in definition.signature.output_arg
        )
        self.pure = all(_is_pure(step) for step in self.steps)
        own = JITTED in definition.attr and definition.attr[JITTED].b
        self.jitted = own or any(map(_is_jitted, self.steps))
        self.plans: dict[Any, Any] = {}
        self.last: Any = None
        self.static = False
        self.refused = False

    def _number(self, key: str, count: int) -> int:
        first = self.size
        self.size += count
        for i in range(count):
            self.numbers[f"{key}:{i}" if ":" in key else key] = first + i
        if ":" not in key:
            self.numbers[key] = first
        return first

    def _results(self, node: Any) -> tuple[int, int]:
        first = self.size
        for arg, length in _outputs(node):
            for i in range(length):
                self.numbers[f"{node.name}:{arg}:{i}"] = self.size + i
            self.size += length
        return first, self.size - first

    def _step(self, node: Any, first: int, count: int) -> Step:
        inputs = tuple(self.numbers[x] for x in node.input if not x.startswith("^"))
        definition = opdef.find(node.op)
        named = {name: _attr(value) for name, value in node.attr.items()}
        attrs: tuple[Any, ...] = ()
        grouping: tuple[int, ...] = ()
        if definition is not None:
            attrs = tuple(
                part
                for name, value in named.items()
                if name not in definition.inferred and not name.startswith("_")
                for part in (name, _frozen(value))
            )
            grouping = tuple(
                _length(given.number_attr, given.type_list_attr, named)
                for given in definition.inputs
            )
        return Step(node.op, node.name, inputs, first, count, attrs, named, grouping)


def _length(number: str, types: str, named: dict[str, Any]) -> int:
    if number:
        return int(named[number])
    return len(named[types]) if types else -1


def _outputs(node: Any) -> list[tuple[str, int]]:
    """Name and length of each result."""
    definition = _definition(node.op)
    if definition is None:
        raise KeyError(node.op)
    found = []
    for arg in definition.output_arg:
        if arg.number_attr:
            found.append((arg.name, node.attr[arg.number_attr].i))
        elif arg.type_list_attr:
            found.append((arg.name, len(node.attr[arg.type_list_attr].list.type)))
        else:
            found.append((arg.name, 1))
    return found


def _definition(name: str) -> Any:
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(name) or context.context().get_function_def(name).signature


def _ordered(nodes: list[Any]) -> list[int]:
    """The nodes in an order in which each has its inputs, as near to their own as can be."""
    places = {node.name: i for i, node in enumerate(nodes)}
    needs = [
        {places[x.lstrip("^").split(":")[0]] for x in node.input if _source(x) in places}
        for node in nodes
    ]
    users: list[list[int]] = [[] for _ in nodes]
    for i, given in enumerate(needs):
        for j in given:
            users[j].append(i)
    left = [len(given) for given in needs]
    ready = [i for i, n in enumerate(left) if not n]
    heapify(ready)
    order = []
    while ready:
        i = heappop(ready)
        order.append(i)
        for user in users[i]:
            left[user] -= 1
            if not left[user]:
                heappush(ready, user)
    return order


def _source(reference: str) -> str:
    return reference.lstrip("^").split(":")[0]


def _attr(value: Any) -> Any:
    field = value.WhichOneof("value")
    if field == "func":
        return value.func.name
    if field == "tensor":
        return value.tensor
    if field == "list" and value.list.func:
        return [f.name for f in value.list.func]
    return opdef.plain(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_pure(step: Step) -> bool:
    if step.op in VARIABLES or step.op in CHECKED or step.op in IGNORED or step.op == "Const":
        return True
    names = called_by(step)
    if names:
        return all(graph_of(name).pure for name in names)
    definition = opdef.find(step.op)
    return definition is not None and not definition.stateful


def _is_jitted(step: Step) -> bool:
    return bool(step.named.get(JITTED)) or any(graph_of(name).jitted for name in called_by(step))


def called_by(step: Step) -> list[str]:
    """The functions that a step may call."""
    if step.op in CALLS:
        return [step.named["f"]]
    if step.op in ("If", "StatelessIf"):
        return [step.named["then_branch"], step.named["else_branch"]]
    if step.op in ("While", "StatelessWhile"):
        return [step.named["cond"], step.named["body"]]
    if step.op in ("Case", "StatelessCase"):
        return list(step.named["branches"])
    return [step.op] if opdef.find(step.op) is None else []


_graphs: Final[dict[str, Graph]] = {}


def graph_of(name: str) -> Graph:
    """The plan of a function's body."""
    found = _graphs.get(name)
    if found is None:
        if len(_graphs) > 4096:
            _graphs.clear()
        found = _graphs[name] = Graph(context.context().get_function_def(name))
    return found


def constant(step: Step) -> Any:
    """TF's tensor of a constant."""
    found = step.named.get("tensor")
    if found is None:
        array = tensor_util.MakeNdarray(step.named["value"])
        with tf_ops.init_scope():
            found = tf_ops.convert_to_tensor(array, dtype=step.named["dtype"])
        step.named["tensor"] = found
    return found


@cache
def stripped(name: str) -> str:
    """A function's name without the numbers that TF makes it unique by."""
    return name.removeprefix("__inference_").removeprefix("__forward_").rstrip("0123456789_")
