"""Compiled graphs with tensors on the CPU: computed on the device, moved there and back.

A trace depends on the operands' device: it decides on strides, kernels and where new tensors go. So
a graph is rewritten for the device before torch traces it. Tensors are moved outside the traced
graph: autograd sees the moves, and tensors saved for the backward stay on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple

import torch
from torch.fx.node import map_aggregate

from lazytensor.core.ir.node import Node
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.tensor import is_lazy, value

Call = Callable[..., Any]
_STORAGES: Final = ("set_", "resize_", "resize_as_")
_GEOMETRIES: Final = (
    "t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_", "unsqueeze_", "as_strided_",
)  # fmt: skip


def is_here(x: Any) -> bool:
    """Whether `x` is a tensor on the CPU."""
    return isinstance(x, torch.Tensor) and x.device.type == "cpu"


def changes_storages(module: torch.fx.GraphModule, inputs: Sequence[Any]) -> bool:
    """Whether a graph gives a tensor another storage, or another geometry to one on the CPU."""
    names = (*_STORAGES, *_GEOMETRIES) if any(map(is_here, inputs)) else _STORAGES
    return any(_name(place).removeprefix("torch_Tensor_") in names for place in _places(module))


def transferring(compile: Call, module: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
    """`compile(module, inputs)`, as a function that takes and gives tensors where they were."""
    (last,) = (place for place in module.graph.nodes if place.op == "output")
    back = [is_here(_example(x)) for x in last.args[0]]
    if not any(map(is_here, inputs)) and not any(is_here(_example(x)) for x in _places(module)):
        return compile(module, inputs)
    module = _copied(module)
    held = _lifted(module)
    inputs = [*inputs, *held]
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            _rewrite(part)
    there = [_alike(*pair) for pair in zip(inputs, _moved(inputs)[0], strict=True)]
    with _autocast():
        run = compile(module, there)

    def call(*args: Any) -> Any:
        given, moves = _moved([*args, *held])
        made = run(*given)
        for move in moves:
            move.write_back()
        shown = {x.there.untyped_storage()._cdata: x for x in moves}
        return [
            _back(x, shown) if comes and is_lazy(x) else x
            for x, comes in zip(made, back, strict=True)
        ]

    return call


def _copied(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """A copy of the graph with torch's notes: dynamo goes on using the original."""
    graph, known = torch.fx.Graph(), dict[torch.fx.Node, torch.fx.Node]()
    graph.output(graph.graph_copy(module.graph, known))
    for place in module.graph.find_nodes(op="placeholder"):
        known[place]._dynamo_source = getattr(place, "_dynamo_source", None)
    made = torch.fx.GraphModule(module, graph)
    made.meta = module.meta
    if hasattr(module, "_param_name_to_source"):
        made._param_name_to_source = module._param_name_to_source
    return made


def _lifted(module: torch.fx.GraphModule) -> list[Any]:
    """Tensors on the CPU that a graph has as attributes; they become its last arguments."""
    graph = module.graph
    first = next(place for place in graph.nodes if place.op != "placeholder")
    places = [
        place
        for place in graph.nodes
        if place.op == "get_attr" and is_here(getattr(module, place.target, None))
    ]
    arguments: dict[str, torch.fx.Node] = {}
    for place in places:
        if place.target not in arguments:
            with graph.inserting_before(first):
                made = arguments[place.target] = graph.placeholder(place.name)
            made.meta, made._dynamo_source = dict(place.meta), None
        place.replace_all_uses_with(arguments[place.target])
    for place in places:
        graph.erase_node(place)
    held = [getattr(module, name) for name in arguments]
    for name in arguments:
        delattr(module, name)
    return held


class _Move(NamedTuple):
    """A tensor on the CPU, its copy on the device, and the copy's value at that time."""

    here: Any
    there: Any
    was: Node

    def write_back(self) -> None:
        """Copy the graph's writes back to the argument."""
        if value(self.there) is self.was:
            return
        if self.here.is_leaf and self.here.requires_grad:
            self.here.detach().copy_(self.there.detach())
        else:
            self.here.copy_(self.there)


def _moved(args: Sequence[Any]) -> tuple[list[Any], list[_Move]]:
    """The arguments on the device, and the moves. Arguments that share a storage go on doing so."""
    storages = [x.untyped_storage()._cdata if is_here(x) else None for x in args]
    wholes: dict[tuple[int, torch.dtype], Any] = {}
    given: list[Any] = []
    moves: list[_Move] = []
    for x, storage in zip(args, storages, strict=True):
        if storage is None:
            given.append(x)
            continue
        there = x.to(DEVICE)
        if storages.count(storage) > 1 and not (x.requires_grad or x.is_conj() or x.is_neg()):
            key = storage, x.dtype
            if key not in wholes:
                line = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage())
                wholes[key] = line.to(DEVICE)
            there = wholes[key].as_strided(x.shape, x.stride(), x.storage_offset()).data
        given.append(there)
        moves.append(_Move(x, there, value(there)))
    return given, moves


def _back(x: Any, shown: dict[int, _Move]) -> Any:
    """A result on the CPU: a view where it is a view of an argument, else a copy."""
    move = shown.get(x.untyped_storage()._cdata)
    if move is None or move.here.stride() != move.there.stride() or x.dtype != move.here.dtype:
        return x.cpu()
    start = move.here.storage_offset() + x.storage_offset() - move.there.storage_offset()
    made = move.here.as_strided(x.shape, x.stride(), start)
    return made.conj() if x.is_conj() != made.is_conj() else made


def _alike(here: Any, there: Any) -> Any:
    """The tensor that AOTAutograd traces for an argument, with its leafness and static sizes."""
    if there is here:
        return here
    if here.is_leaf:
        there = there.detach().requires_grad_(here.requires_grad)
    context = torch._guards.TracingContext.try_get()
    if context is not None and here in context.tensor_to_context:
        context.tensor_to_context[there] = context.tensor_to_context[here]
    return there


def _autocast() -> AbstractContextManager[Any]:
    """The CPU's autocast settings, applied to the device."""
    if not torch.is_autocast_enabled("cpu"):
        return nullcontext()
    return torch.autocast(DEVICE, torch.get_autocast_dtype("cpu"))


def _places(module: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    for part in module.modules():
        if isinstance(part, torch.fx.GraphModule):
            yield from part.graph.nodes


def _example(place: Any) -> Any:
    """The example value that dynamo has recorded at a place of its graph."""
    return place.meta.get("example_value") if isinstance(place, torch.fx.Node) else None


def _name(place: torch.fx.Node) -> str:
    """The name of a method or function that is called."""
    found = place.target
    return found if isinstance(found, str) else str(getattr(found, "__name__", ""))


def _rewrite(module: torch.fx.GraphModule) -> None:
    """Make new tensors on the device; moves between devices become copies."""
    from torch.utils._device import _device_constructors

    makers = _device_constructors()
    for place in list(module.graph.nodes):
        if place.op not in ("call_function", "call_method"):
            continue
        place.args = map_aggregate(place.args, _there)
        place.kwargs = map_aggregate(place.kwargs, _there)
        if place.op == "call_method" and place.target == "cpu":
            place.target = "to"
            place.args = (place.args[0], DEVICE, *place.args[1:])
        elif place.target in makers and is_here(_example(place)):
            place.kwargs = {**place.kwargs, "device": DEVICE}
        first, made = (_example(x) for x in ((*place.args, None)[0], place))
        tensors = isinstance(first, torch.Tensor) and isinstance(made, torch.Tensor)
        if tensors and is_here(first) is not is_here(made):
            with module.graph.inserting_after(place):
                copy = module.graph.call_method("clone", (place,))
            place.replace_all_uses_with(copy, lambda user, copy=copy: user is not copy)
    module.recompile()


def _there(x: Any) -> Any:
    here = (isinstance(x, torch.device) and x.type == "cpu") or x == "cpu"
    return DEVICE if here and x.__class__ in (torch.device, str) else x
