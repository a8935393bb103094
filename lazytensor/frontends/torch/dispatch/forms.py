"""The arguments of a call, hashable: what is static of its tensors, and all else by value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import torch
from torch import Tensor

from lazytensor.core.ir.node import Node
from lazytensor.core.lib.geometry import Ints, in_rows, kept_strides, order_of
from lazytensor.frontends.torch.tensors.tensor import is_lazy, laid, value

PLAIN: Final = frozenset(
    [
        bool, int, float, complex, str, type(None), torch.dtype, torch.device, torch.layout,
        torch.memory_format,
    ]
)  # fmt: skip
"""Classes of arguments that enter a signature by value."""


class Refused(Exception):
    """An argument, or a result, that one node cannot have."""


class Held:
    """A tensor's place in a form, with its strides; None stands for a bare node."""

    __slots__ = ("stride",)

    def __init__(self, stride: Ints | None) -> None:
        self.stride = stride

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and self.stride == other.stride

    def __hash__(self) -> int:
        return hash(self.stride)

    def __repr__(self) -> str:
        return f"tensor{self.stride}"


class Form:
    """A call's arguments, hashable: each tensor is replaced by its static properties.

    `str` is brief, for printed programs; `repr` is exact.
    """

    __slots__ = ("parts",)

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return repr(self.parts)

    def __str__(self) -> str:
        return f"({', '.join(_words(self.parts[1:]))})"


def kept_order(x: Any) -> Ints:
    """The strides without gaps that keep the order of a tensor's elements."""
    return kept_strides(x.shape, ((x.shape, x.stride()),))


def form_of(x: Any, tensors: list[Any]) -> Any:
    """The static properties of an argument; its tensors are appended to `tensors`."""
    kind = x.__class__
    if isinstance(x, Tensor):
        if not is_lazy(x) or x.is_conj() or x.is_neg():
            raise Refused("what it shows is not a node")
        tensors.append(x)
        return Held(kept_order(x))
    if kind is list or kind is tuple:
        return kind, tuple([form_of(item, tensors) for item in x])
    if kind is dict:
        return kind, tuple([(name, form_of(item, tensors)) for name, item in x.items()])
    if kind is float:
        return kind, x.hex()
    if kind is complex:
        return kind, x.real.hex(), x.imag.hex()
    if kind in PLAIN:
        return kind, x
    raise Refused("it is known to its class only")


def rebuilt(
    form: Any,
    nodes: Iterator[Any],
    made: list[Any] | None = None,
    lay: Callable[[Any, Ints], Any] = laid,
) -> Any:
    """Arguments or results, rebuilt from their form; their tensors are appended to `made`.

    `lay` makes a tensor of the next of `nodes` and of strides.
    """
    if form.__class__ is Held:
        if form.stride is None:
            return next(nodes)
        tensor = lay(next(nodes), form.stride)
        if made is not None:
            made.append(tensor)
        return tensor
    kind, *rest = form
    if kind is list or kind is tuple:
        return kind([rebuilt(item, nodes, made, lay) for item in rest[0]])
    if kind is dict:
        return {name: rebuilt(item, nodes, made, lay) for name, item in rest[0]}
    if kind is float:
        return float.fromhex(rest[0])
    if kind is complex:
        return complex(*map(float.fromhex, rest))
    return rest[0]


def strides_in(form: Any) -> Iterator[Ints | None]:
    """The strides of the tensors in a form, in order."""
    if form.__class__ is Held:
        yield form.stride
    elif form.__class__ is tuple:
        for part in form:
            yield from strides_in(part)


def results_of(made: Any, nodes: list[Node], held: list[Any]) -> Any:
    """The form of results, whose nodes are appended to `nodes`. Refuses shared storages."""
    if isinstance(made, Node):
        nodes.append(made)
        return Held(None)
    if isinstance(made, Tensor):
        handle = made.untyped_storage().handle if is_lazy(made) else None
        if handle is None or any(handle is other for other in held):
            raise Refused("it is a view")
        held.append(handle)
        nodes.append(value(made))
        stride = made.stride()
        return Held(in_rows(made.shape) if order_of(made.shape, stride) is None else stride)
    if isinstance(made, tuple | list):
        kind = list if isinstance(made, list) else tuple
        return kind, tuple([results_of(item, nodes, held) for item in made])
    return form_of(made, [])


def without_floats(form: Any, floats: list[Any]) -> Any:
    """The form with its floats taken out, into `floats`."""
    if form.__class__ is not tuple:
        return form
    if form and form[0] in (float, complex):
        floats.append(form)
        return form[:1]
    return tuple([without_floats(part, floats) for part in form])


def _words(form: Any) -> Iterator[str]:
    """The words of a form, for printing."""
    if form.__class__ is not tuple:
        return
    kind, *rest = form if form and isinstance(form[0], type) else (tuple, form)
    if kind is list or kind is tuple or kind is dict:
        for part in rest[0]:
            name = f"{part[0]}=" if kind is dict else ""
            yield from (name + word for word in _words(part[1] if kind is dict else part))
    elif kind is float:
        yield repr(float.fromhex(rest[0]))
    elif rest[0] is not None:
        yield str(rest[0])
