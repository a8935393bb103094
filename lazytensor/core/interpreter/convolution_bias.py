"""A convolution and the bias added to it, as one call of a framework's kernel.

The kernel adds the bias while the result is in its registers; an addition of its own takes another
pass over memory. The kernel is asked for with a third operand, and is None where it takes none.
"""

from __future__ import annotations

from collections import Counter

from lazytensor.core import ops
from lazytensor.core.interpreter.rows import library_function
from lazytensor.core.interpreter.steps import Step
from lazytensor.core.ir.program import Program


def with_biases(program: Program, steps: list[Step]) -> list[Step]:
    """The steps; where a kernel adds a bias, one step is the convolution and the addition."""
    places = {step.place: at for at, step in enumerate(steps) if step.op is ops.convolution}
    if not places:
        return steps
    uses = Counter(j for step in steps for j in step.operands)
    uses.update(program.results)
    made: list[Step | None] = [*steps]
    for at, step in enumerate(steps):
        before = [j for j in step.operands if j in places and uses[j] == 1]
        if step.op is not ops.add or not before:
            continue
        convolved = steps[places[before[0]]]
        between = steps[places[convolved.place] + 1 : at]
        both = _both(program, convolved, step)
        if both is not None and _are_kept(convolved.operands, between):
            made[places[convolved.place]], made[at] = None, both
    return [step for step in made if step is not None]


def _both(program: Program, convolved: Step, added: Step) -> Step | None:
    """The convolution and the addition; None where no kernel does both."""
    lines = program.instructions
    _, _, attrs, type = lines[convolved.place]
    bias = next(j for j in added.operands if j != convolved.place)
    operands = (*convolved.operands, bias)
    types = [lines[j][3] for j in operands]
    function = library_function(ops.convolution, attrs, types, type)
    if function is None or added.type is not type:
        return None
    last = [j for j in (*convolved.last_uses, *added.last_uses) if j != convolved.place]
    return Step(added.place, added.op, function, operands, type, last)


def _are_kept(operands: tuple[int, ...], between: list[Step]) -> bool:
    """Whether none of the steps between is the last that needs one of the operands."""
    return not any(j in step.last_uses for step in between for j in operands)
