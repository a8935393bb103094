"""Control flow inside a program: loops and choices whose bodies are programs."""

from __future__ import annotations

from collections.abc import Sequence

from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.attribute import Definition
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.op import variadic
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.types import ResultType, TensorType, tensor_type


class Region(Definition):
    """A body of control flow: a program, with the values of its scalars as its constants.

    It takes the operands in order, and gives its outputs.
    """

    def __init__(self, name: str, program: Program) -> None:
        super().__init__(name, f"{program} constants {program.constants!r}")
        self.program = program

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Region):
            return NotImplemented
        # The text has only the names of nested bodies.
        return self.text == other.text and self.program == other.program

    __hash__ = Definition.__hash__

    @property
    def programs(self) -> tuple[Program, ...]:
        """The body's program, alone."""
        return (self.program,)

    @property
    def operands(self) -> tuple[TensorType, ...]:
        """The types it takes."""
        return tuple(self.program.instructions[i][3] for i in self.program.parameters)

    @property
    def results(self) -> tuple[TensorType, ...]:
        """The types it gives."""
        return tuple(self.program.instructions[i][3] for i in self.program.outputs)


def _check(op: str, what: str, found: Sequence[TensorType], wanted: Sequence[TensorType]) -> None:
    if tuple(found) == tuple(wanted):
        return
    given, needed = (", ".join(map(str, types)) for types in (found, wanted))
    same = [t.shape for t in found] == [t.shape for t in wanted]
    raise (DTypeError if same else ShapeError)(f"{op}: {what} must be ({needed}), got ({given})")


@variadic
def while_(*state: TensorType, condition: Region, body: Region) -> ResultType:
    """`state` after `state = body(*state)` for as long as `condition(*state)`.

    state: tensors of any types, at least one. condition: gives a pred[]. body: gives tensors of the
    types of `state`. Result: of the types of `state`, a tuple if there are several. Raises:
    ShapeError, DTypeError if a body takes or gives others.
    """
    _check("while", "what the condition takes", condition.operands, state)
    _check("while", "what the condition gives", condition.results, [tensor_type(BOOL)])
    _check("while", "what the body takes", body.operands, state)
    _check("while", "what the body gives", body.results, state)
    return state if len(state) > 1 else state[0]


@variadic
def scan(
    end: TensorType, *operands: TensorType, body: Region, given: int, state: int, backwards: bool
) -> ResultType:
    """A loop over time: `state, lines = body(time, lines of the given, state, shared)` at each.

    end: s64[], the number of times, from 0 on, or down to 0 if `backwards`. operands: `given`
    tensors with time as their first axis, at least one, of `end` times or more; `state` tensors;
    then those that all times share. Result: the state after the last time; of each line of `body` a
    table, with time as its first axis, 0 from `end` on. One alone is no tuple. Raises: ShapeError,
    DTypeError if the body takes or gives others.
    """
    _check("scan", "the number of times", [end], [tensor_type(S64)])
    whole, rest = operands[:given], operands[given:]
    if not given or any(not x.ndim or x.shape[0] != whole[0].shape[0] for x in whole):
        shapes = ", ".join(str(x.shape) for x in whole)
        raise ShapeError(f"scan: tensors with one first axis were expected, got shapes {shapes}")
    lines = [x.with_shape(x.shape[1:]) for x in whole]
    _check("scan", "what the body takes", body.operands, [end, *lines, *rest])
    _check("scan", "the state that the body gives", body.results[:state], rest[:state])
    times = whole[0].shape[0]
    tables = [x.with_shape((times, *x.shape)) for x in body.results[state:]]
    found = (*rest[:state], *tables)
    return found if len(found) > 1 else found[0]


@variadic
def case(index: TensorType, *operands: TensorType, branches: tuple[Region, ...]) -> ResultType:
    """Branch number `index`, or the last one if out of range, applied to `operands`.

    index: s32[]. branches: they take the types of `operands`, and all give the same types. Result:
    of those types, a tuple if there are several. Raises: ShapeError, DTypeError if they do not.
    """
    _check("case", "the index", [index], [tensor_type(S32)])
    for branch in branches:
        _check("case", "what a branch takes", branch.operands, operands)
        _check("case", "what a branch gives", branch.results, branches[0].results)
    found = branches[0].results
    return found if len(found) > 1 else found[0]
