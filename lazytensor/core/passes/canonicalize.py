"""Normal forms: what is left of a program when one forgets how it was written down.

Frontends say the same in different ways: a softmax is one composite in torch and four lines in
NumPy, an operand comes transposed or the product is told which axes to sum over, a backward pass is
recorded in another order. In the normal form composites are opened, what only moves elements is
taken into the op that uses it, commutative operands and outputs are in a fixed order, and so are
the instructions. Every step keeps the results to the bit, but for sums of products, whose order
nobody promises, and the sign of a zero that is a sum of one element.
Programs with equal normal forms compute the same.

Two steps: a program becomes terms, each made by the rules of its op (`rewrites.py`); the terms that
its outputs are become a program again, numbered from these backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import PARAMETER, element
from lazytensor.core.ir.program import SLOTS, Instruction, Program
from lazytensor.core.passes.rewrites import Term, filled, made, parameter, vector
from lazytensor.core.passes.scalar_expression import Constant, Recipe, Slot


class Normal(NamedTuple):
    """A program in its normal form, and where its inputs and outputs are in the original.

    `leaves`: per parameter the position of the original's; `slots`: per slot how it is had from the
    original's slots; `outputs`: per output the position of the original's.
    """

    program: Program
    leaves: tuple[int, ...]
    slots: tuple[Recipe, ...]
    outputs: tuple[int, ...]


Value = Term | tuple[Term, ...]


def normal(program: Program) -> Normal:
    """The normal form of a program."""
    leaves = (parameter(i, program.instructions[at][3]) for i, at in enumerate(program.parameters))
    slots = (Slot(i) for i in range(len(program.slots)))
    values = _values(program, list(leaves), list(slots))
    found = [_one(values[i]) for i in program.outputs]
    outputs = sorted(range(len(found)), key=lambda i: found[i].digest)
    guards = [_one(values[i]) for i in program.guards]
    lines, numbers, terms = _lines([*(found[i] for i in outputs), *guards])
    inputs = tuple(term.leaf for term in terms if term.leaf is not None)
    shardings = tuple(program.shardings[i] for i in inputs) if program.shardings else ()
    results = tuple(numbers[found[i]] for i in outputs)
    made = Program(tuple(lines), results, shardings=shardings, spread=program.spread)
    recipes = tuple(term.recipe for term in terms if term.recipe is not None)
    return Normal(made, inputs, recipes, tuple(outputs))


def _one(value: Value) -> Term:
    assert isinstance(value, Term)
    return value


def _values(program: Program, inputs: list[Term], scalars: Sequence[Recipe]) -> list[Value]:
    """The terms of each instruction's result, composites opened."""
    values: list[Value] = []
    leaves, slots = iter(inputs), iter(scalars)
    for op, operands, attrs, type in program.instructions:
        if op is PARAMETER:
            values.append(next(leaves))
        elif op in SLOTS:
            recipe = next(slots)
            values.append(vector(recipe, type) if type.shape else filled(recipe, type))
        elif op is element and isinstance(several := values[operands[0]], tuple):
            values.append(several[attrs[0]])
        elif isinstance(op, Composite):
            types = tuple(program.instructions[j][3] for j in operands)
            body = op.program(types, op.attrs_of(attrs))
            values.append(_opened(body, [_one(values[j]) for j in operands]))
        else:
            given = tuple(_one(values[j]) for j in operands)
            values.append(made(op, given, op.attrs_of(attrs), type))
    return values


def _opened(body: Program, operands: list[Term]) -> Value:
    values = _values(body, operands, [Constant(value) for value in body.constants])
    results = tuple(_one(values[i]) for i in body.outputs)
    return results if body.multiple else results[0]


def _lines(roots: list[Term]) -> tuple[list[Instruction], dict[Term, int], list[Term]]:
    """Instructions that compute the roots, operands first; the number of each term's; the terms.

    Each use of a scalar is a slot of its own, as in every program.
    """
    lines: list[Instruction] = []
    numbers: dict[Term, int] = {}
    terms: list[Term] = []
    known: dict[Instruction, int] = {}

    def add(term: Term) -> int:
        operands = tuple(add(x) if x.recipe is not None else numbers[x] for x in term.operands)
        line = term.op, operands, term.attrs, term.type
        if line in known and term.leaf is None and term.recipe is None:
            return known[line]
        lines.append(line)
        terms.append(term)
        known[line] = len(lines) - 1
        return len(lines) - 1

    stack = list(reversed(roots))
    while stack:
        term = stack[-1]
        if term in numbers:
            stack.pop()
            continue
        missing = [x for x in term.operands if x not in numbers and x.recipe is None]
        if missing:
            stack.extend(reversed(missing))
        else:
            numbers[stack.pop()] = add(term)
    return lines, numbers, terms
