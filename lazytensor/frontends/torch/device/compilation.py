"""`torch.compile(model, backend="lazytensor")`: torch's guards take the place of recording.

torch._dynamo traces the user's code once; AOTAutograd makes a forward and a backward graph of it. A
graph is run on the device once for each signature, as the body of a composite op; a call records
that one op. So everything stays lazy: forward, backward and optimizer still become one program, and
a graph break adds no cut.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, wraps
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import torch

from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program
from lazytensor.core.lib.geometry import Ints, in_order, in_rows, order_of
from lazytensor.frontends.torch.dispatch.composition import all_hold, traced
from lazytensor.frontends.torch.dispatch.demands import Demands, demands
from lazytensor.frontends.torch.dispatch.forms import kept_order
from lazytensor.frontends.torch.tensors.placement import At, device_of
from lazytensor.frontends.torch.tensors.tensor import is_lazy, laid, placing, value
from lazytensor.frontends.torch.tensors.transfers import changes_storages, transferring

NAME: Final = "lazytensor"
_ops: Final[dict[str, Composite[Any]]] = {}
"""Composites by name. The name hashes the body, so that a graph compiled again is the same op."""
_TENSOR: Final = object()
"""Marks the place of a tensor among the arguments."""


class _Lying(NamedTuple):
    """Marks the place of a tensor among the results: its elements lie at these strides."""

    stride: Ints


class _GraphPlan(NamedTuple):
    """The op that a call records, the form of its results, and its guards."""

    op: Composite[Any]
    results: list[Any]
    demands: Demands


class Graph:
    """A graph of torch's, called with tensors and numbers.

    A graph that cannot be one op (it draws random numbers, asks for a value, or computes something
    on the CPU) is recorded anew in every call, as fast as code that is not compiled.
    """

    def __init__(self, module: torch.fx.GraphModule) -> None:
        self.module = module
        self.names = [n.target for n in module.graph.nodes if n.op == "get_attr"]
        self.constants = [_constant(module, name) for name in self.names]
        self.plans: dict[tuple[Any, ...], _GraphPlan | None] = {}
        self.is_strided = any("as_strided" in str(n.target) for n in module.graph.nodes)
        self.is_laid = False

    def __call__(self, *args: Any) -> Any:
        if not placing:
            return self.called(args)
        with At(device_of(args)):
            return self.called(args)

    def called(self, args: Sequence[Any]) -> Any:
        """The results, on the current device."""
        given = [*args, *self.constants]
        nodes: list[Node] = []
        key: list[Any] = []
        for i, x in enumerate(given):
            if isinstance(x, torch.Tensor):
                try:
                    held = x.untyped_storage().handle
                except AttributeError:  # one on the CPU
                    x = given[i] = x.to(NAME)
                    held = x.untyped_storage().handle
                if held.__class__ is Cell and not x.is_conj() and not x.is_neg():
                    made = held.node
                else:
                    made = value(x)
                    if self.is_strided and (x.storage_offset() or not _is_dense(x)):
                        return self.anew(given)
                    if not x.is_contiguous():
                        key.append(kept_order(x))
                nodes.append(made)
                x = made.type
            key.append(x)
        known = tuple(key)
        if known not in self.plans:
            self.plans[known] = self.plan(given)
        plan = self.plans[known]
        if plan is None:
            return self.anew(given)
        results = iter(plan.demands.met(plan.op(*nodes)))
        return [laid(next(results), x.stride) if x.__class__ is _Lying else x for x in plan.results]

    def plan(self, given: Sequence[Any]) -> _GraphPlan | None:
        """The graph as one op for operands of these types; None where that cannot be."""
        types = [value(x).type for x in given if is_lazy(x)]
        orders = [kept_order(x) for x in given if is_lazy(x)]
        numbers = [_TENSOR if is_lazy(x) else x for x in given]  # a body must not keep tensors
        results: list[Any] = []

        def body(*operands: Node) -> list[Node]:
            lying = map(laid, operands, orders)
            made = self.run([next(lying) if x is _TENSOR else x for x in numbers])
            results[:] = [_lying(x) if is_lazy(x) else x for x in made]
            return [value(x) for x in made if is_lazy(x)]

        try:
            found = traced(body, types)
        except (RuntimeError, IndexError, TypeError):
            return None  # the graph run anew raises the error again
        if found is None or found[1]:
            return None
        if not found[0].outputs or any(isinstance(x, torch.Tensor) for x in results):
            return None
        program, wanted = demands(found[0])
        if all_hold(found[0], len(types), []):
            program, wanted = demands(found[0], hold=True)
        return _GraphPlan(_op(program, types), results, wanted)

    def run(self, given: Sequence[Any]) -> Any:
        """The results; every intermediate lies as torch inferred. given: arguments, constants."""
        return _Run(self, given).run(*given[: len(given) - len(self.names)])

    def anew(self, given: Sequence[Any]) -> Any:
        """The results, every operation recorded. The first run fixes the graph's layouts."""
        if self.is_laid:
            return self.module(*given[: len(given) - len(self.names)])
        run = _Run(self, given)
        made = run.run(*given[: len(given) - len(self.names)])
        graph = self.module.graph
        for place, order in run.laid.items():
            with graph.inserting_after(place):
                kept = graph.call_function(_in_order, (place, order))
            place.replace_all_uses_with(kept, lambda user, kept=kept: user is not kept)
        self.module.recompile()
        self.is_laid = True
        return made


def _constant(module: torch.fx.GraphModule, name: str) -> Any:
    """An attribute of a graph; a tensor is moved to the device for good."""
    found = getattr(module, name)
    if isinstance(found, torch.Tensor) and not is_lazy(found):
        found = found.detach().to(NAME)
        delattr(module, name)
        setattr(module, name, found)
    return found


def _op(program: Program, types: Sequence[Any]) -> Composite[Any]:
    text = f"{program} {program.constants}"
    name = f"graph_{blake2b(text.encode(), digest_size=8).hexdigest()}"
    op = _ops.setdefault(name, Composite(name, _planned))
    op.programs[tuple(types),] = program
    return op


def _planned(*operands: Node) -> Any:
    """A placeholder body: a graph's programs are known before the op is recorded."""
    raise AssertionError("a graph is traced when it is planned")


def _is_dense(x: Any) -> bool:
    return order_of(x.shape, x.stride()) is not None


def _lying(x: Any) -> _Lying:
    return _Lying(tuple(x.stride()) if _is_dense(x) else in_rows(tuple(x.shape)))


def _in_order(x: Any, order: Ints) -> Any:
    """The tensor with its elements in rows once the axes are in `order`."""
    stride = in_order(tuple(x.shape), order)
    return x if x.stride() == stride else laid(value(x), stride)


class _Run(torch.fx.Interpreter):
    """Runs a graph with tensors in place of its constants.

    Views that torch has traced need the element order of torch's kernels. `laid`: the graph nodes
    whose results were reordered, and the order of their axes.
    """

    def __init__(self, graph: Graph, given: Sequence[Any]) -> None:
        super().__init__(graph.module)
        there = given[len(given) - len(graph.names) :]
        self.known = dict(zip(graph.names, there, strict=True))
        self.laid: dict[torch.fx.Node, Ints] = {}

    def fetch_attr(self, target: str) -> Any:
        return self.known[target]

    def run_node(self, n: torch.fx.Node) -> Any:
        made, inferred = super().run_node(n), n.meta.get("val")
        if n.op != "call_function" or not is_lazy(made) or not isinstance(inferred, torch.Tensor):
            return made
        size, stride = ([_hint(x) for x in given] for given in (inferred.shape, inferred.stride()))
        order = order_of(size, stride)
        if order is None or len(size) != made.ndim or order == order_of(made.shape, made.stride()):
            return made
        self.laid[n] = order
        return _in_order(made, order)


def _hint(x: Any) -> int:
    """A size; for a symbolic one its value at torch's trace."""
    return int(x.node.hint) if isinstance(x, torch.SymInt) else int(x)


def backend(module: torch.fx.GraphModule, inputs: Sequence[Any], **options: Any) -> Any:
    """Compile a graph for `torch.compile`. module: the graph, in torch's own operations."""
    _leave_alone()
    if changes_storages(module, inputs):
        return module  # AOTAutograd cannot trace it
    return transferring(_aot, module, inputs)


def _aot(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
    from torch._dynamo.backends.common import aot_autograd

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
    """Register the backend; if dynamo is imported later, torch finds it by its entry point.

    From the first `torch.compile` on dynamo skips this library's kernels: torch's C++ functions
    call them before a graph reaches the backend, also for other backends.
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
