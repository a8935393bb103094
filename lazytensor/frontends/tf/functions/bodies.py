"""Calls of `tf.function`: the body is walked through the same table.

A function whose only effects are on variables is one composite node (`calls.py`). One that does
more (takes the next batch, prints, asks for a value to branch on) is walked at each call; functions
it calls may be composites all the same.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from typing import Any, Final

import numpy as np
from tensorflow.python.eager.record import stop_recording
from tensorflow.python.framework import dtypes

from lazytensor.core import ops
from lazytensor.core.errors import LazyTensorError
from lazytensor.core.runtime import scheduler
from lazytensor.frontends.tf.dispatch import fallback, steps, table
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.functions import regions
from lazytensor.frontends.tf.functions.calls import as_node, calls
from lazytensor.frontends.tf.functions.given import Unnamed
from lazytensor.frontends.tf.functions.graphs import (
    CALLS,
    IGNORED,
    Graph,
    Step,
    called_by,
    constant,
    graph_of,
    stripped,
)
from lazytensor.frontends.tf.rows import checks
from lazytensor.frontends.tf.tensors.lifetime import state
from lazytensor.frontends.tf.tensors.tensor import EagerTensor, LazyTensor, ValueNeeded, node_of

BOTH_BRANCHES_STEPS: Final = 16
"""Steps of two branches that are both computed, as to choose between their results fuses."""
UNROLLED: Final = 64
"""Rounds of a loop that are part of the program one by one: what they share fuses."""


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
    steps.step.begin()
    if not calls.depth:
        calls.demands.clear()  # those of a call that was refused
    calls.depth += 1
    calls.whole = None
    try:
        with stop_recording():
            made = invoke(graph, inputs)
    finally:
        calls.depth -= 1
    if not calls.depth and not state.tracing:
        _end(f"end of {stripped(name)}")
    return made


def _end(cause: str) -> None:
    """What a call from outside ends with: a step if it wrote; what it demanded for no result."""
    demands, calls.demands = calls.demands, []
    if calls.written:
        calls.written = False
        steps.step.end(cause, calls.whole)
    if demands:
        scheduler.sync(*[x.node for x in demands], cause=cause)


def invoke(graph: Graph, inputs: list[Any]) -> list[Any]:
    """The results of a function, as one node if it can be."""
    if state.tracing or not graph.pure or graph.refused:
        return walk(graph, inputs)
    try:
        return as_node(walk, graph, inputs)
    except Unnamed:
        return walk(graph, inputs)
    except ValueNeeded:
        if not graph.static:
            graph.static = True
            graph.plans.clear()
            graph.last = None
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
    control = _CONTROL_ROWS.get(step.op)
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
        calls.written = True
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
        small = sum(len(graph.steps) for graph in graphs) <= BOTH_BRANCHES_STEPS
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
        other = ~condition.node if taken else condition.node
        state.flags[before:] = [(flag | other, t) for flag, t in state.flags[before:]]
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


_CONTROL_ROWS: Final[dict[str, Any]] = {
    "If": _branch, "StatelessIf": _branch, "Case": _case, "StatelessCase": _case,
    "While": _loop, "StatelessWhile": _loop,
}  # fmt: skip
