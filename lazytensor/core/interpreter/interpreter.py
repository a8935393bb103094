"""The reference interpreter: a program run op by op with NumPy.

It is the oracle of the tests, the first tier of execution for small new programs, and runs the ops
at which the host is faster. References are pure: they never write to an operand; a result may share
memory with one. A result may take the memory of an operand at its last use, if the operand was made
here or is a given leaf, as NumPy's does in `x *= y` and in `x * y + z`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.interpreter.convolution_bias import with_biases
from lazytensor.core.interpreter.kernels import IN_PLACE, PARTS, REFERENCES
from lazytensor.core.interpreter.quiet import quietly
from lazytensor.core.interpreter.rows import Reference, library_function
from lazytensor.core.interpreter.steps import Step, WrittenPart, checked, put_numbers, run_steps
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import Attrs, Op, element
from lazytensor.core.ir.program import INPUTS, Program
from lazytensor.core.ir.trait import Trait
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.control import Region

REUSE_BYTES: Final = 2**16
"""Bytes of an operand from which a result may take its memory: below, the check costs more."""


def interpret(program: Program, leaves: Sequence[np.ndarray], slots: Sequence[Any]) -> list[Any]:
    """The results of `program`, computed by NumPy. Leaves are not written to."""
    values = _begun(program, leaves, slots)
    quietly(run_steps, steps_of(program), values, {})
    return [values[i] for i in program.results]


def _begun(program: Program, leaves: Sequence[Any], slots: Sequence[Any]) -> list[Any]:
    """Per instruction its value, if it is an input, or None."""
    values: list[Any] = [None] * len(program.instructions)
    for i, leaf in zip(program.parameters, leaves, strict=True):
        values[i] = leaf
    put_numbers(values, places_of(program), slots)
    return values


def places_of(program: Program) -> list[tuple[int, np.dtype]]:
    """The instruction of each slot, and its dtype."""
    return [(i, program.instructions[i][3].dtype) for i in program.slots]


def takes(program: Program) -> tuple[int, ...]:
    """The parameters whose memory results could take, as positions among the parameters."""
    if program.takes is None:
        lines = program.instructions
        over = {i for step in steps_of(program) for i in step.over}
        over.update(step.part.base for step in steps_of(program) if step.part is not None)
        for i in range(len(lines) - 1, -1, -1):
            if i in over and Trait.RESHAPES in lines[i][0].traits:
                over.add(lines[i][1][0])
        program.takes = tuple(at for at, i in enumerate(program.parameters) if i in over)
    return program.takes


def steps_of(program: Program) -> list[Step]:
    """The instructions that compute, cached on the program."""
    if program.steps is None:
        lines = enumerate(program.instructions)
        steps = [_step(program, i) for i, line in lines if line[0] not in INPUTS]
        steps = with_biases(program, steps)
        for step, following in pairwise(steps):
            step.part = _part(program, step, following.place)
        program.steps = steps
    return program.steps


def _step(program: Program, index: int) -> Step:
    lines = program.instructions
    op, operands, attrs, type = lines[index]
    last = program.last_uses[index]
    types = [lines[j][3] for j in operands]
    library = library_function(op, attrs, types, type)
    function = library or _own_function(op, attrs, types)
    step = Step(index, op, function, operands, type, last)
    if op in IN_PLACE and library is None:
        found = IN_PLACE[op](**op.attrs_of(attrs)).items()
        usable = {operands[at]: _bound(f, op, attrs) for at, f in found}
        alone = [j for j in last if operands.count(j) == 1 and lines[j][3] is type]
        step.writing = {j: f for j, f in usable.items() if j in alone}
        step.over = tuple(step.writing)
    elif isinstance(function, np.ufunc) and type.nbytes >= REUSE_BYTES:
        step.over = tuple(j for j in last if lines[j][3] is type)
    return step


def function_of(op: Op, attrs: Attrs, types: Sequence[Any], type: Any) -> Reference:
    """The function from an op's operands of these types to its result, by the best library."""
    return library_function(op, attrs, types, type) or _own_function(op, attrs, types)


def _own_function(op: Op, attrs: Attrs, types: Sequence[Any]) -> Reference:
    """The function that needs NumPy only."""
    if isinstance(op, Composite) and op not in REFERENCES:
        return op.on_host(_composed(op.program(tuple(types), op.attrs_of(attrs))))
    return reference_of(op, attrs)


def _part(program: Program, step: Step, place: int) -> WrittenPart | None:
    """The next step, with value `place`, if it only writes the result of `step` to a part."""
    op, operands, attrs, type = program.instructions[place]
    if op not in PARTS or operands[1] != step.place or operands[0] == step.place:
        return None
    last = program.last_uses[place]
    is_free = operands[0] in last and step.place in last
    if not is_free or not isinstance(step.function, np.ufunc) or step.type.nbytes < REUSE_BYTES:
        return None
    if step.type.dtype is not type.dtype:
        return None
    shown = partial(PARTS[op], step.type.shape, **op.attrs_of(attrs))
    return WrittenPart(place, operands[0], operands[2:], shown, last)


def _bound(reference: Reference, op: Op, attrs: Attrs) -> Reference:
    return partial(reference, **op.attrs_of(attrs)) if attrs else reference


def reference_of(op: Op, attrs: Attrs) -> Reference:
    """The function from an instruction's operands to its result. Raises: Unsupported."""
    if op is element:
        return lambda results: results[attrs[0]]
    reference = REFERENCES.get(op)
    if reference is not None:
        return _bound(reference, op, attrs)
    if isinstance(op, Composite):
        return partial(_apply_composite, op, attrs)
    raise Unsupported(
        f"{op.name}: no NumPy reference; add a row in lazytensor/core/interpreter/kernels/"
    )


def apply(op: Op, operands: Sequence[Any], attrs: Attrs, type: Any) -> Any:
    """One op's result, checked against the type that the core inferred."""
    return checked(op, reference_of(op, attrs)(*operands), type)


def _results_of(program: Program) -> Callable[..., list[Any]]:
    """The function of a body, whose scalars are its constants. It sets no errstate."""
    begun = _begun(program, [None] * len(program.parameters), program.constants)

    def function(*operands: np.ndarray) -> list[Any]:
        values = begun.copy()
        for i, operand in zip(program.parameters, operands, strict=True):
            values[i] = operand
        run_steps(steps_of(program), values, {})
        return [values[i] for i in program.outputs]

    return function


def _composed(program: Program) -> Reference:
    """The function of a composite of these types."""
    results = _results_of(program)
    if program.multiple:
        return lambda *operands: tuple(results(*operands))
    return lambda *operands: results(*operands)[0]


def _apply_composite(op: Composite, attrs: Attrs, *operands: Any) -> Any:
    types = tuple(tensor_type(x.dtype, x.shape) for x in operands)
    return quietly(_composed(op.program(types, op.attrs_of(attrs))), *operands)


# --- control flow: Python's own ------------------------------------------------------------------


def _region_results(region: Region, operands: Any) -> list[Any]:
    program = region.program
    return interpret(program, operands, program.constants)[: len(program.outputs)]


def _one_or_all(results: list[Any]) -> Any:
    return tuple(results) if len(results) > 1 else results[0]


def _while(*state: np.ndarray, condition: Region, body: Region) -> Any:
    values = list(state)
    while _region_results(condition, values)[0]:
        values = _region_results(body, values)
    return _one_or_all(values)


def _case(index: np.ndarray, *operands: np.ndarray, branches: tuple[Region, ...]) -> Any:
    at = int(index)
    chosen = branches[at if 0 <= at < len(branches) else -1]
    return _one_or_all(_region_results(chosen, operands))


def _scan(
    end: np.ndarray, *operands: np.ndarray, body: Region, given: int, state: int, backwards: bool
) -> Any:
    whole, rest = operands[:given], operands[given:]
    before: Sequence[Any] = rest[:state]
    shared, count = rest[state:], len(whole[0])
    tables = [np.zeros((count, *x.shape), x.dtype) for x in body.results[state:]]
    step = _results_of(body.program)
    times = range(int(end))
    for time in reversed(times) if backwards else times:
        lines = [x[time, ...] for x in whole]
        made = step(np.asarray(time, np.int64), *lines, *before, *shared)
        before = made[:state]
        for table, line in zip(tables, made[state:], strict=True):
            table[time] = line
    return _one_or_all([*before, *tables])


REFERENCES.update({ops.while_: _while, ops.case: _case, ops.scan: _scan})
