"""Composites: ops whose body is other ops, and the programs of such bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.attribute import Definition
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER, Op, R, TypeRule, register
from lazytensor.core.ir.program import Cut, Program, cut
from lazytensor.core.ir.types import ResultType, TensorType


class Composite(Op[R]):
    """An op whose body is other ops: one node when recorded, inlined when lowered.

    Its type is found by tracing the body once per signature.
    """

    def __init__(self, name: str, body: Callable[..., R]) -> None:
        super().__init__(name, cast(TypeRule, body))
        self.body = body
        self.rule = self._trace_type
        self.programs: dict[tuple[Any, ...], Program] = {}

    def program(self, types: tuple[TensorType, ...], attrs: dict[str, Any]) -> Program:
        """The body as a Program over operands of these types; memoised."""
        key = (types, *(attrs[a] if a in attrs else self.defaults[a] for a in self.attributes))
        found = self.programs.get(key)
        if found is None:
            found = self.programs[key] = trace_types(self.body, types, attrs)
        return found

    def on_host(self, interpreted: Callable[..., Any]) -> Callable[..., Any]:
        """The function of arrays that the host runs; `interpreted` runs the body op by op."""
        return interpreted

    def _trace_type(self, *types: TensorType, **attrs: Any) -> ResultType:
        try:
            program = self.program(types, attrs)
        except (DTypeError, ShapeError) as error:
            if str(error).startswith(f"{self.name}: "):
                raise
            given = ", ".join(map(str, types))
            raise type(error)(f"{self.name}: {error} (in its body, given {given})") from None
        results = tuple(program.instructions[i][3] for i in program.outputs)
        return results if program.multiple else results[0]


def composite(body: Callable[..., R]) -> Composite[R]:
    """Declare a composite op by its body, a function of nodes."""
    return register(Composite(body.__name__.rstrip("_"), body))


def one_node(body: Callable[..., R]) -> Composite[R]:
    """Declare a composition that is recorded as one node. The table of ops does not have it."""
    return Composite(body.__name__, body)


def composites(program: Program) -> dict[str, str]:
    """The bodies of the composites in `program`, and in those bodies, by name and signature; and
    what its attributes define, by name.
    """
    found: dict[str, str] = {}
    todo = [program]
    while todo:
        lines = todo.pop().instructions
        for op, operands, attrs, _ in lines:
            for value in attrs:
                if isinstance(value, Definition) and str(value) not in found:
                    found[str(value)] = value.text
                    todo += value.programs
            if isinstance(op, Composite):
                types = tuple(lines[j][3] for j in operands)
                name = f"{op.name}{types}{attrs}"
                if name not in found:
                    body = op.program(types, op.attrs_of(attrs))
                    found[name] = f"{body} constants {body.constants}"
                    todo.append(body)
    return found


def trace_types(
    body: Callable[..., Any], types: Sequence[TensorType], attrs: dict[str, Any]
) -> Program:
    """The program of `body` over operands of these types, parameters first and in order."""
    program, leaves = trace_body(body, types, attrs)
    if leaves:
        raise ValueError("a composite's body may use its operands and scalars only, not arrays")
    return program


def trace_body(
    body: Callable[..., Any], types: Sequence[TensorType], attrs: dict[str, Any]
) -> tuple[Program, list[Node]]:
    """The program of `body`, and the leaves that it uses: parameters after those of `types`."""
    parameters: list[Node] = [Input(PARAMETER, type) for type in types]
    result = body(*parameters, **attrs)
    multiple = isinstance(result, tuple | list)
    program, found = body_program(parameters, list(result) if multiple else [result], multiple)
    return program, found.leaves


def body_program(
    parameters: list[Node], outputs: list[Node], multiple: bool = True
) -> tuple[Program, Cut]:
    """The program of recorded outputs, `parameters` first and its scalars constants; its cut."""
    pending = reachable([*parameters, *outputs])
    inside = [*parameters, *(node for node in pending if node.op is not PARAMETER)]
    found = cut(inside, outputs)
    lines, results = found.program.instructions, found.program.outputs
    return Program(lines, results, multiple, tuple(found.slots)), found
