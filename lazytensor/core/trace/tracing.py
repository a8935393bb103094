"""Recording a function's body: no cuts, and no values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from lazytensor.core.ir.composite import body_program
from lazytensor.core.ir.node import Input, Node
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.ir.program import Program
from lazytensor.core.ir.recording import Place, thread
from lazytensor.core.ir.types import tensor_type


@contextmanager
def without_values() -> Iterator[None]:
    """Record a body in this block: a request for a value raises `NoValue`, and nothing is cut."""
    recorder = thread.recorder
    before = recorder.work, recorder.busy, recorder.tracing
    recorder.busy, recorder.tracing = recorder.busy + 1, True
    try:
        yield
    finally:
        recorder.work, recorder.busy, recorder.tracing = before


class Body(NamedTuple):
    """A function as a program.

    program: with the function's inputs as its first parameters, and its scalars as constants.
    places: where each instruction was recorded. leaves: the arrays from outside that it uses, which
    are the other parameters.
    """

    program: Program
    places: tuple[Place | None, ...]
    leaves: list[Node]


def traced(function: Callable[[list[Node]], Sequence[Node]], values: Sequence[np.ndarray]) -> Body:
    """The body of a function of nodes.

    values: what the function's inputs are afterwards. Until then they have none.
    """
    inputs: list[Node] = [Input(PARAMETER, tensor_type(x.dtype, x.shape)) for x in values]
    try:
        with without_values():
            return _body(inputs, list(function(inputs)))
    finally:
        for node, x in zip(inputs, values, strict=True):
            node.settle(x)


def _body(inputs: list[Node], results: list[Node]) -> Body:
    program, found = body_program(inputs, results)
    places = tuple(None if node is None else node.place for node in found.nodes)
    return Body(program, places, found.leaves)
