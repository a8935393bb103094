"""Recurrent networks: torch composes them of a cell's operations at each time.

Above autograd a network is looked at. A plain one becomes one operation for each layer and
direction, and one for its gradient; what is unusual (projections, halves, autocast, derivatives
taken forwards, `torch.func`) is composed as elsewhere. A gradient that is differentiated again is
that of the composed network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter

from lazytensor.core import ops
from lazytensor.core.lib.sequences import (
    NETWORKS,
    Kind,
    Packing,
    recurrent_layer,
    recurrent_layer_backward,
)
from lazytensor.core.policy import EAGER_ELEMENTS, EAGER_TABLE
from lazytensor.frontends.torch.dispatch.eager import is_at_hand
from lazytensor.frontends.torch.dispatch.promotion import like
from lazytensor.frontends.torch.dispatch.registry import (
    prepare_thread,
    register,
    register_above,
    thread,
)
from lazytensor.frontends.torch.random.randomness import DEVICE
from lazytensor.frontends.torch.tensors.tensor import held_by, value, wrap

Tensors = Sequence[Tensor]
EAGER_STEPS: Final = 4
"""Steps of a network, at most, that torch composes where the host has all its tensors."""


class Layer(NamedTuple):
    """A layer in one direction: what is not a tensor of the device."""

    kind: str
    biases: int
    backwards: bool
    sizes: Tensor | None
    """Number of packed sequences at each time, on the CPU; None if nothing is packed."""

    def composed(self, x: Tensor, *rest: Tensor) -> list[Tensor]:
        """The output and the last states as torch composes them, of x, weights and states."""
        weights, states = rest[: 2 + self.biases], rest[2 + self.biases :]
        ways = 2 if self.backwards else 1  # only a network of both directions goes backwards
        first = [torch.stack([state] * ways) for state in states]
        given = first if NETWORKS[self.kind].states > 1 else first[0]
        packed = [] if self.sizes is None else [self.sizes]
        order = [] if packed else [False]
        network = composed_of(self.kind, bool(packed))
        made, *last = network(
            x, *packed, given, weights * ways, self.biases > 0, 1, 0.0, False, ways > 1, *order
        )
        width = made.shape[-1] // ways
        return [made[..., -width:], *(state[-1] for state in last)]


def composed_of(kind: str, packed: bool) -> Callable[..., Any]:
    """Torch's own of a network: `decompose()` would take one that is written for tracers."""
    op = getattr(getattr(torch.ops.aten, kind), "data" if packed else "input")
    return partial(op._op_dk, torch._C.DispatchKey.CompositeImplicitAutograd)


def _recorded(layer: Layer, packing: Packing | None, tensors: Tensors) -> list[Tensor]:
    """The output, the last states, and the tables that the gradient needs."""
    made = recurrent_layer(
        *map(value, tensors), *(packing or ()),
        kind=layer.kind, biases=layer.biases, backwards=layer.backwards,
    )  # fmt: skip
    return [*map(wrap, made)]


class _Differentiated(torch.autograd.Function):
    """A layer of which a derivative may be asked for."""

    @staticmethod
    def forward(
        ctx: Any, layer: Layer, packing: Packing | None, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        made = _recorded(layer, packing, tensors)
        count = 1 + NETWORKS[layer.kind].states
        ctx.layer, ctx.packing, ctx.count = layer, packing, len(tensors)
        ctx.save_for_backward(*tensors, *made[count:])
        ctx.set_materialize_grads(False)
        return tuple(made[:count])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        saved = ctx.saved_tensors
        tensors, tables = saved[: ctx.count], saved[ctx.count :]
        step = _again if torch.is_grad_enabled() else _gradients
        wanted = ctx.needs_input_grad[2:]
        found = step(ctx.layer, ctx.packing, grads, tensors, tables, wanted)
        return None, None, *found


def _gradients(
    layer: Layer, packing: Packing | None, grads: Sequence[Tensor | None], tensors: Tensors,
    tables: Tensors, wanted: Sequence[bool],
) -> list[Tensor | None]:  # fmt: skip
    given = [value(x) for x in tensors]
    states = given[3 + layer.biases :]
    shape = tensors[0].shape[:-1] + states[0].type.shape[-1:]
    shapes = [tuple(shape), *(state.type.shape for state in states)]
    zero = like(0, given[0])
    to_results = [
        ops.broadcast(zero, shape=shape) if grad is None else value(grad)
        for grad, shape in zip(grads, shapes, strict=True)
    ]
    made = recurrent_layer_backward(
        *to_results, *given, *(packing or ()), *map(value, tables),
        kind=layer.kind, biases=layer.biases, backwards=layer.backwards, packed=packing is not None,
    )  # fmt: skip
    return [wrap(x) if each else None for x, each in zip(made, wanted, strict=True)]


def _again(
    layer: Layer, packing: Packing | None, grads: Sequence[Tensor | None], tensors: Tensors,
    tables: Tensors, wanted: Sequence[bool],
) -> list[Tensor | None]:  # fmt: skip
    """The gradients as something to differentiate."""
    results = layer.composed(*tensors)
    pairs = [(x, grad) for x, grad in zip(results, grads, strict=True) if grad is not None]
    inputs = [x for x, each in zip(tensors, wanted, strict=True) if each]
    outputs, given = zip(*pairs, strict=True)
    made = torch.autograd.grad(outputs, inputs, given, create_graph=True, allow_unused=True)
    found = iter(made)
    return [next(found) if each else None for each in wanted]


def _layer(layer: Layer, packing: Packing | None, tensors: list[Tensor]) -> list[Tensor]:
    if torch.is_grad_enabled() and any(x.requires_grad for x in tensors):
        return [*_Differentiated.apply(layer, packing, *tensors)]
    return _recorded(layer, packing, tensors)[: 1 + NETWORKS[layer.kind].states]


class _Call(NamedTuple):
    """What torch calls a network with."""

    x: Tensor
    sizes: Tensor | None
    states: Tensors
    params: Tensors
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    ways: int

    def groups(self) -> list[Tensors]:
        """The weights and biases of each layer and direction."""
        each = 4 if self.has_biases else 2
        return [self.params[i : i + each] for i in range(0, len(self.params), each)]


def _is_plain(call: _Call) -> bool:
    """Whether the tensors are the device's, in one dtype that is computed as it is."""
    if forward_ad._current_level >= 0 or torch.is_autocast_enabled(DEVICE):
        return False
    tensors, dtype = [call.x, *call.states, *call.params], call.x.dtype
    return dtype in (torch.float32, torch.float64) and all(
        (x.__class__ is Tensor or x.__class__ is Parameter)  # no stand-in of a compiler's
        and x.dtype == dtype
        and held_by(x) is not None  # neither on the CPU nor within torch.func
        for x in tensors
    )


def _is_eager(call: _Call) -> bool:
    """Whether what torch composes it of is computed at once, and is little: few steps."""
    steps = call.x.shape[0] if call.sizes is None else len(call.sizes)
    if steps > EAGER_STEPS:
        return False
    has_data = all(is_at_hand(x, EAGER_ELEMENTS) for x in (call.x, *call.states))
    return has_data and all(is_at_hand(x, EAGER_TABLE) for x in call.params)


def _fits(call: _Call, kind: Kind) -> bool:
    """Whether shapes are as they should be: what torch refuses, it refuses with its own words."""
    axes, layers = (3 if call.sizes is None else 2), call.num_layers * call.ways
    each = 4 if call.has_biases else 2
    if len(call.params) != layers * each or len(call.states) != kind.states:
        return False
    if call.x.ndim != axes or not call.x.numel() or call.params[1].ndim != 2:
        return False
    hidden = call.params[1].shape[1]
    count = call.x.shape[1] if call.sizes is None else int(call.sizes[0])
    gates, given = kind.gates * hidden, call.x.shape[-1]
    wanted = []
    for i in range(layers):
        inputs = given if i < call.ways else call.ways * hidden
        wanted += [(gates, inputs), (gates, hidden), (gates,), (gates,)][:each]
    return (
        hidden > 0
        and all(x.shape == (layers, count, hidden) for x in call.states)
        and all(x.shape == shape for x, shape in zip(call.params, wanted, strict=True))
    )


def _run(call: _Call, kind: str) -> tuple[Tensor, ...]:
    """The output, and the last states of all layers."""
    if not thread.ready:
        prepare_thread()
    sizes, groups = call.sizes, call.groups()
    packing = None if sizes is None else Packing.of(sizes.numpy())
    first = [*zip(*(x.unbind() for x in call.states), strict=True)]
    x, last = call.x, []
    for i in range(0, len(groups), call.ways):
        results = [
            _layer(
                Layer(kind, len(groups[k]) - 2, k > i, sizes), packing, [x, *groups[k], *first[k]]
            )
            for k in range(i, i + call.ways)
        ]
        last += [states for _, *states in results]
        x = results[0][0] if call.ways == 1 else torch.cat([made[0] for made in results], -1)
        if call.dropout and call.train and i + call.ways < len(groups):
            x = torch.dropout(x, call.dropout, True)
    return x, *map(torch.stack, zip(*last, strict=True))


def _kernel(kind: str, packed: bool) -> Callable[..., Any]:
    composed = composed_of(kind, packed)

    def network(x: Any, *args: Any) -> Any:
        sizes, rest = (args[0], args[1:]) if packed else (None, args)
        hx, params, has_biases, layers, dropout, train, bidirectional, *order = rest
        turned = any(order) and x.ndim == 3  # the sequences come before time
        call = _Call(
            x.transpose(0, 1) if turned else x, sizes, hx if NETWORKS[kind].states > 1 else [hx],
            params, has_biases, layers, dropout, train, 2 if bidirectional else 1,
        )  # fmt: skip
        if _is_eager(call) or not _is_plain(call) or not _fits(call, NETWORKS[kind]):
            return composed(x, *args)
        made, *last = _run(call, kind)
        return made.transpose(0, 1) if turned else made, *last

    return network


for kind in NETWORKS:
    for packed in (False, True):
        kernel, name = _kernel(kind, packed), f"{kind}.{'data' if packed else 'input'}"
        register(name, kernel, has_derivative=True)
        register_above(name, kernel)
