"""Calls that are several operations, recorded as one node: traced once for each signature.

A signature is the types and strides of the tensors among the arguments, and all other arguments by
value. Arrays that a call makes of constants become operands. Some calls are recorded operation by
operation: those that draw random numbers, ask for a value, check an index, or give a view; and
those whose floats change from call to call, which must stay outside a program's identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from lazytensor.core.device.backend import on_host
from lazytensor.core.errors import LazyTensorError
from lazytensor.core.interpreter.interpreter import interpret
from lazytensor.core.interpreter.rows import HOST_KERNELS
from lazytensor.core.ir.composite import Composite, trace_body
from lazytensor.core.ir.memo import ENTRIES_BOUND, keep, memory
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Signature, record
from lazytensor.core.ir.types import TensorType
from lazytensor.core.trace.tracing import without_values
from lazytensor.frontends.torch.dispatch.forms import (
    Form,
    Refused,
    form_of,
    rebuilt,
    results_of,
    without_floats,
)
from lazytensor.frontends.torch.host import composed
from lazytensor.frontends.torch.tensors.tensor import node


class _CallPlan(NamedTuple):
    """What a call of one signature records, and the tree of its results."""

    signature: Signature
    constants: tuple[Node, ...]
    results: Any


@contextmanager
def tracing() -> Iterator[None]:
    """Record the body of a composite: no cuts, no values, no gradients meanwhile."""
    with without_values(), torch.no_grad():
        yield


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
        called = composed.overload(name)
        if called is not None:
            HOST_KERNELS[name] = partial(composed.kernel, called)
        self.plans: dict[Any, _CallPlan | None] = memory()
        self.floats: dict[Any, Any] = memory()

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any], known: bool = False) -> Any:
        """The results, nodes or tensors as the function gives them; NotImplemented without a plan.

        `known`: use only signatures that were traced before.
        """
        tensors: list[Any] = []
        try:
            form = Form(torch.get_default_dtype(), form_of(args, tensors), form_of(kwargs, tensors))
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
            return rebuilt(results, iter((record(signature, operands),)))
        named = signature.op.attrs_of(signature.attrs)
        return rebuilt(results, iter(signature.op(*operands, **named)))

    def _plan(self, form: Form, types: tuple[TensorType, ...]) -> _CallPlan | None:
        if len(self.floats) >= ENTRIES_BOUND:
            self.floats.clear()
        floats: list[Any] = []
        same = without_floats(form.parts, floats), types
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
            args, kwargs = (rebuilt(part, rest, given) for part in form.parts[1:])
            made = self.function(*args, **kwargs)
            if any(node(x) is not p for x, p in zip(given, parameters, strict=True)):
                raise Refused("it writes to its operands")
            nodes: list[Node] = []
            results.append(results_of(made, nodes, [x.untyped_storage().handle for x in given]))
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
