"""`torch.compile(model, backend="lazytensor")`: guards of torch's instead of recording.

torch._dynamo traces the user's code once, AOTAutograd makes a graph of the forward and one of the
backward of it. A graph is run on the device once for each signature, as a body of a composite op;
a call records that one op. So the graph stays lazy: forward, backward and optimizer still become
one program, and a graph that torch breaks in two costs nothing more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, wraps
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import torch

from lazytensor.core.node import Node
from lazytensor.core.op import Composite
from lazytensor.core.types import Shape
from lazytensor.frontends.torch.composition import traced
from lazytensor.frontends.torch.strides import in_rows, order_of
from lazytensor.frontends.torch.tensor import held_by, is_lazy, laid, node, wrap

NAME: Final = "lazytensor"
_ops: Final[dict[str, Composite]] = {}
"""Composites by name, which says what their bodies are: a graph compiled again is the same op."""


class _Plan(NamedTuple):
    """What a call records, and how each result lies: at strides, or in rows where that is None."""

    op: Composite
    layouts: tuple[Any, ...]


class Graph:
    """A graph of torch's, called with tensors and numbers.

    Where it cannot be one op (it draws random numbers, asks for a value, or computes something on
    the CPU) it is run anew in every call, which is right, and as fast as code that is not compiled.
    """

    def __init__(self, module: torch.fx.GraphModule) -> None:
        self.module = module
        self.constants = [n.target for n in module.graph.nodes if n.op == "get_attr"]
        self.plans: dict[tuple[Any, ...], _Plan | None] = {}
        (last,) = (n for n in module.graph.nodes if n.op == "output")
        self.outputs: list[Any] = list(last.args[0])

    def __call__(self, *args: Any) -> Any:
        given = [*args, *(getattr(self.module, name) for name in self.constants)]
        nodes: list[Node] = []
        key: list[Any] = []
        for x in given:
            if isinstance(x, torch.Tensor):
                held = held_by(x)
                if held is None:
                    return self.from_elsewhere(args)
                x = held.node
                nodes.append(x)
                x = x.type
            key.append(x)
        known = tuple(key)
        if known not in self.plans:
            self.plans[known] = self.plan(given)
        plan = self.plans[known]
        if plan is None:
            return self.module(*args)
        made = (
            wrap(result) if stride is None else laid(result, stride)
            for result, stride in zip(plan.op(*nodes), plan.layouts, strict=True)
        )
        return [next(made) if isinstance(x, torch.fx.Node) else x for x in self.outputs]

    def from_elsewhere(self, args: Sequence[Any]) -> Any:
        """The results for tensors of which some are on the CPU: moved there and back."""
        moved = (x.to(NAME) if isinstance(x, torch.Tensor) else x for x in args)
        made = self(*moved)
        if any(map(is_lazy, args)):
            return made
        return [x.cpu() if is_lazy(x) else x for x in made]

    def plan(self, given: Sequence[Any]) -> _Plan | None:
        """The graph as one op for operands of these types; None where that cannot be."""
        types = [node(x).type for x in given if is_lazy(x)]
        places = [n for n in self.outputs if isinstance(n, torch.fx.Node)]
        if not places or not all(isinstance(n.meta.get("val"), torch.Tensor) for n in places):
            return None

        numbers = [None if is_lazy(x) else x for x in given]  # a body must not keep tensors

        def body(*operands: Node) -> list[Node]:
            nodes = iter(operands)
            tensors = [wrap(next(nodes)) if x is None else x for x in numbers]
            made = _Run(self, tensors).run(*tensors[: len(tensors) - len(self.constants)])
            return [node(x) for x in made if isinstance(x, torch.Tensor)]

        found = traced(body, types)
        if found is None or found[1]:
            return None
        program, _ = found
        text = f"{program} {program.constants}"
        name = f"graph_{blake2b(text.encode(), digest_size=8).hexdigest()}"
        op = _ops.setdefault(name, Composite(name, body))
        op.programs[tuple(types),] = program
        shapes = [program.instructions[i][3].shape for i in program.outputs]
        strides = (place.meta["val"].stride() for place in places)
        return _Plan(op, tuple(map(_layout, shapes, strides)))


def _layout(shape: Shape, stride: Any) -> Any:
    """The strides that torch has inferred; None where elements are in rows, or have gaps."""
    rows = order_of(shape, stride) is None or tuple(stride) == in_rows(shape)
    return None if rows else stride


class _Run(torch.fx.Interpreter):
    """Runs a graph with tensors in place of its constants."""

    def __init__(self, graph: Graph, tensors: Sequence[Any]) -> None:
        super().__init__(graph.module)
        there = tensors[len(tensors) - len(graph.constants) :]
        self.known = dict(zip(graph.constants, there, strict=True))

    def fetch_attr(self, target: str) -> Any:
        return self.known[target]


def backend(module: torch.fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
    """What `torch.compile` calls for each graph. module: with torch's own operations in it."""
    from torch._dynamo.backends.common import aot_autograd

    _leave_alone()
    return aot_autograd(fw_compiler=_compiled, bw_compiler=_compiled)(module, inputs)


def _compiled(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
    from torch._functorch.aot_autograd import make_boxed_func

    return make_boxed_func(Graph(module))


@cache
def _leave_alone() -> None:
    """Keep dynamo out of this library: it traces every Python function that it meets."""
    from torch._dynamo import trace_rules

    trace_rules.add(__name__.partition(".")[0])


def attach() -> None:
    """Make the backend known; torch finds it by its entry point when dynamo comes later.

    From the first `torch.compile` on dynamo leaves our kernels alone: torch's functions in C++ call
    them before a graph comes to the backend, and other backends have graphs as well.
    """
    theirs = torch.compile

    @wraps(theirs)
    def compile(*args: Any, **kwargs: Any) -> Any:
        _leave_alone()
        return theirs(*args, **kwargs)

    torch.compile = compile
    if "torch._dynamo" in sys.modules:
        from torch._dynamo import list_backends, register_backend

        _leave_alone()
        if NAME not in list_backends(exclude_tags=None):
            register_backend(compiler_fn=backend, name=NAME)
