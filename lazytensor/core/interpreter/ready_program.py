"""A program, ready to be run by NumPy again and again: what does not change is made once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from lazytensor.core.buffers.refcounts import beside_the_list, has_own_array
from lazytensor.core.interpreter.interpreter import places_of, steps_of, takes
from lazytensor.core.interpreter.quiet import quietly
from lazytensor.core.interpreter.steps import put_numbers, run_steps
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.program import Program


class ReadyProgram:
    """The program's steps, and the numbers of its slots in the last run.

    `takes`: the parameters, by position, whose memory results may take. Where there are guards,
    none: a run that breaks one is repeated, to be told of.
    """

    __slots__ = (
        "numbers", "parameters", "places", "results", "steps", "takes", "text", "values",
    )  # fmt: skip

    def __init__(self, program: Program) -> None:
        self.steps = steps_of(program)
        self.parameters, self.results = program.parameters, program.results
        self.takes = () if program.guards else takes(program)
        self.places = places_of(program)
        self.numbers: list[Any] | None = None
        self.text = ""  # of numbers with a zero, which has a sign
        self.values: list[Any] = [None] * len(program.instructions)

    def take(self, numbers: list[Any]) -> bool:
        """Set the slots; whether they are others than in the last run."""
        if numbers == self.numbers and (not self.text or repr(numbers) == self.text):
            return False
        put_numbers(self.values, self.places, numbers)
        self.numbers, self.text = numbers, repr(numbers) if 0 in numbers else ""
        return True

    def values_of(self, leaves: list[np.ndarray]) -> list[Any]:
        """What a run begins with. Another thread may take other numbers from then on."""
        values = self.values.copy()
        for at, leaf in enumerate(leaves):
            values[self.parameters[at]] = leaf
        return values

    def given(self, leaves: list[Node], owned: list[bool]) -> list[int]:
        """The parameters that may be overwritten: nobody else has the node, or its array.

        owned: per leaf, whether nothing but the graph refers to it.
        """
        return [self.parameters[at] for at in self.takes if owned[at] and has_own_array(leaves[at])]

    def run(self, values: list[Any], given: Iterable[int] = ()) -> list[np.ndarray]:
        """The values of the outputs and of the guards.

        given: parameters whose memory results may take; other leaves are not written to. A caller
        has no other name for their arrays. See `steps.py` for what is in `values` after an error.
        """
        held = {id(values[i]): beside_the_list(values, i) for i in given}
        quietly(run_steps, self.steps, values, held)
        return [values[i] for i in self.results]
