"""Calls that are several operations, recorded as one node: traced once for each signature.

A signature is the types and strides of the tensors among the arguments, and all other arguments by
value. Arrays that a call makes of constants become operands. Some calls are recorded operation by
operation: those that draw random numbers, ask for a value, check an index, or give a view; and
those whose floats change from call to call, which must stay outside a program's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lazytensor.core.device.backend import on_host
from lazytensor.core.errors import LazyTensorError
from lazytensor.core.interpreter.interpreter import interpret
from lazytensor.core.ir.composite import Composite, trace_body
from lazytensor.core.ir.memo import ENTRIES_BOUND, keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Signature, record, thread
from lazytensor.core.ir.types import TensorType
from lazytensor.frontends.torch.tensors.strides import Ints, in_rows, kept_strides, order_of
from lazytensor.frontends.torch.tensors.tensor import is_lazy, laid, node, value

PLAIN: Final = frozenset(
    [
        bool, int, float, complex, str, type(None), torch.dtype, torch.device, torch.layout,
        torch.memory_format,
    ]
)  # fmt: skip
"""Classes of arguments that enter a signature by value."""


class Refused(Exception):
    """An argument, or a result, that one node cannot have."""


class _Held:
    """A tensor's place in a form, with its strides; None stands for a bare node."""

    __slots__ = ("stride",)

    def __init__(self, stride: Ints | None) -> None:
        self.stride = stride

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.stride == other.stride

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


class _CallPlan(NamedTuple):
    """What a call of one signature records, and the tree of its results."""

    signature: Signature
    constants: tuple[Node, ...]
    results: Any


@contextmanager
def tracing() -> Iterator[None]:
    """Record the body of a composite: no cuts and no values meanwhile."""
    recorder = thread.recorder
    before = recorder.work, recorder.busy, recorder.tracing
    recorder.busy, recorder.tracing = recorder.busy + 1, True
    try:
        with torch.no_grad():
            yield
    finally:
        recorder.work, recorder.busy, recorder.tracing = before


def traced(
    body: Callable[..., Any], types: Sequence[TensorType]
) -> tuple[Program, list[Node]] | None:
    """The body's program and the leaves that it uses; None if it asks for a value."""
    try:
        with tracing():
            return trace_body(body, types, {})
    except (LazyTensorError, ValueError):
        return None


class Composition:
    """A function of tensors whose calls are recorded as one node each."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.function = function
        self.op = Composite(name, _planned)
        self.plans: dict[Any, _CallPlan | None] = memory()
        self.floats: dict[Any, Any] = memory()

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any], known: bool = False) -> Any:
        """The results, nodes or tensors as the function gives them; NotImplemented without a plan.

        `known`: use only signatures that were traced before.
        """
        tensors: list[Any] = []
        try:
            form = Form(torch.get_default_dtype(), _form(args, tensors), _form(kwargs, tensors))
        except Refused:
            return NotImplemented
        nodes = tuple(map(node, tensors))
        key = form, tuple([x.type for x in nodes])
        plan = self.plans.get(key)
        if plan is None and not known and key not in self.plans:
            plan = self._plan(form, key[1])
        if plan is None:
            return NotImplemented
        signature, constants, results = plan
        operands = nodes + constants
        if signature.type.__class__ is not tuple:
            return _rebuilt(results, iter((record(signature, operands),)))
        named = signature.op.attrs_of(signature.attrs)
        return _rebuilt(results, iter(signature.op(*operands, **named)))

    def _plan(self, form: Form, types: tuple[TensorType, ...]) -> _CallPlan | None:
        if len(self.floats) >= ENTRIES_BOUND:
            self.floats.clear()
        floats: list[Any] = []
        same = _without_floats(form.parts, floats), types
        if self.floats.setdefault(same, floats) != floats:
            return None
        found = self._traced(form, types)
        keep(self.plans, (form, types), found)
        return found

    def _traced(self, form: Form, types: tuple[TensorType, ...]) -> _CallPlan | None:
        results: list[Any] = []

        def body(*parameters: Node) -> Any:
            given: list[Any] = []
            rest = iter(parameters)
            args, kwargs = (_rebuilt(part, rest, given) for part in form.parts[1:])
            made = self.function(*args, **kwargs)
            if any(node(x) is not p for x, p in zip(given, parameters, strict=True)):
                raise Refused("it writes to its operands")
            nodes: list[Node] = []
            results.append(_results(made, nodes, [x.untyped_storage().handle for x in given]))
            if not nodes:
                raise Refused("it makes no tensor")
            return nodes[0] if len(nodes) == 1 else nodes

        try:
            found = traced(body, types)
        except (Refused, RuntimeError, IndexError, TypeError, ZeroDivisionError):
            return None  # the call, recorded op by op, raises the error again
        if found is None or not all_hold(found[0], len(types), found[1]):
            return None
        program, leaves = found
        every = (*types, *(x.type for x in leaves))
        self.op.programs[every, form] = program
        return _CallPlan(self.op.signature(every, {"form": form}), tuple(leaves), results[0])


def all_hold(program: Program, count: int, leaves: list[Node]) -> bool:
    """Whether the body's guards depend on constants only, not its `count` operands, and hold."""
    if not program.guards:
        return True
    lines = program.instructions
    needed = set(program.guards)
    for i in reversed(range(len(lines))):
        if i in needed:
            needed.update(lines[i][1])
    if needed.intersection(program.parameters[:count]):
        return False
    places = {i: place for place, i in enumerate(sorted(needed))}
    kept = [
        (op, tuple([places[j] for j in operands]), attrs, type)
        for op, operands, attrs, type in map(lines.__getitem__, places)
    ]
    checks = Program(tuple(kept), tuple([places[i] for i in program.guards]))
    arrays = zip(program.parameters[count:], leaves, strict=True)
    scalars = zip(program.slots, program.constants, strict=True)
    results = interpret(
        checks,
        [on_host(leaf.value) for i, leaf in arrays if i in needed],
        [number for i, number in scalars if i in needed],
    )
    return all(map(np.all, results))


def _planned(*operands: Node, form: Form) -> Any:
    """A placeholder body: a composition's programs are known before the op is recorded."""
    raise AssertionError("a composition is traced when it is planned")


def kept_order(x: Any) -> Ints:
    """The strides without gaps that keep the order of a tensor's elements."""
    return kept_strides(x.shape, ((x.shape, x.stride()),))


def _form(x: Any, tensors: list[Any]) -> Any:
    """The static properties of an argument; its tensors are appended to `tensors`."""
    kind = x.__class__
    if isinstance(x, Tensor):
        if not is_lazy(x) or x.is_conj() or x.is_neg():
            raise Refused("what it shows is not a node")
        tensors.append(x)
        return _Held(kept_order(x))
    if kind is list or kind is tuple:
        return kind, tuple([_form(item, tensors) for item in x])
    if kind is dict:
        return kind, tuple([(name, _form(item, tensors)) for name, item in x.items()])
    if kind is float:
        return kind, x.hex()
    if kind is complex:
        return kind, x.real.hex(), x.imag.hex()
    if kind in PLAIN:
        return kind, x
    raise Refused("it is known to its class only")


def _rebuilt(form: Any, nodes: Iterator[Node], made: list[Any] | None = None) -> Any:
    """Arguments or results, rebuilt from their form; their tensors are appended to `made`."""
    if form.__class__ is _Held:
        if form.stride is None:
            return next(nodes)
        tensor = laid(next(nodes), form.stride)
        if made is not None:
            made.append(tensor)
        return tensor
    kind, *rest = form
    if kind is list or kind is tuple:
        return kind([_rebuilt(item, nodes, made) for item in rest[0]])
    if kind is dict:
        return {name: _rebuilt(item, nodes, made) for name, item in rest[0]}
    if kind is float:
        return float.fromhex(rest[0])
    if kind is complex:
        return complex(*map(float.fromhex, rest))
    return rest[0]


def _results(made: Any, nodes: list[Node], held: list[Any]) -> Any:
    """The form of results, whose nodes are appended to `nodes`. Refuses shared storages."""
    if isinstance(made, Node):
        nodes.append(made)
        return _Held(None)
    if isinstance(made, Tensor):
        handle = made.untyped_storage().handle if is_lazy(made) else None
        if handle is None or any(handle is other for other in held):
            raise Refused("it is a view")
        held.append(handle)
        nodes.append(value(made))
        stride = made.stride()
        return _Held(in_rows(made.shape) if order_of(made.shape, stride) is None else stride)
    if isinstance(made, tuple | list):
        kind = list if isinstance(made, list) else tuple
        return kind, tuple([_results(item, nodes, held) for item in made])
    return _form(made, [])


def _without_floats(form: Any, floats: list[Any]) -> Any:
    """The form with its floats taken out, into `floats`."""
    if form.__class__ is not tuple:
        return form
    if form and form[0] in (float, complex):
        floats.append(form)
        return form[:1]
    return tuple([_without_floats(part, floats) for part in form])


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
