"""A program of small arrays, ready to be run by NumPy again and again.

No result takes an operand's memory, as the interpreter's do: to look whether one may costs more
than a small array. What does not change from run to run is made once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import asarray, generic, ndarray

from lazytensor.core.interpreter.interpreter import steps_of
from lazytensor.core.interpreter.quiet import quietly
from lazytensor.core.interpreter.steps import checked
from lazytensor.core.ir.program import Program


class SmallProgram:
    """The program's kernels, and the numbers of its slots in the last run."""

    __slots__ = ("numbers", "outputs", "parameters", "places", "steps", "text", "values")

    def __init__(self, program: Program) -> None:
        lines = program.instructions
        self.steps = [
            (s.place, lines[s.place][0], s.function, s.operands, s.type) for s in steps_of(program)
        ]
        self.parameters, self.outputs = program.parameters, program.outputs
        self.places = [(i, lines[i][3].dtype) for i in program.slots]
        self.numbers: list[Any] | None = None
        self.text = ""  # of numbers with a zero, which has a sign
        self.values: list[Any] = [None] * len(lines)

    def take(self, numbers: list[Any]) -> bool:
        """Set the slots; whether they are others than in the last run."""
        if numbers == self.numbers and (not self.text or repr(numbers) == self.text):
            return False
        with np.errstate(over="ignore"):  # a number that a dtype cannot hold is infinite in it
            for (i, dtype), number in zip(self.places, numbers, strict=True):
                self.values[i] = np.asarray(number, dtype)
        self.numbers, self.text = numbers, repr(numbers) if 0 in numbers else ""
        return True

    def values_of(self, leaves: list[np.ndarray]) -> list[Any]:
        """What a run begins with. Another thread may take other numbers from then on."""
        values = self.values.copy()
        for at, leaf in enumerate(leaves):
            values[self.parameters[at]] = leaf
        return values

    def run(self, values: list[Any]) -> list[np.ndarray]:
        """The outputs' values. Leaves are not written to."""
        found: list[np.ndarray] = quietly(self._run, values)
        return found

    def _run(self, values: list[Any]) -> list[Any]:
        for place, op, function, operands, type in self.steps:
            arguments = [values[j] for j in operands]
            made = function(*arguments)
            if isinstance(made, generic):  # NumPy's reductions give scalars
                made = asarray(made)
            if (
                made.__class__ is not ndarray
                or made.dtype is not type.dtype
                or made.shape != type.shape
            ):
                made = checked(op, made, type)
            values[place] = made
        return [values[i] for i in self.outputs]
