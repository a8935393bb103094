"""References of control flow: Python's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.interpreter import REFERENCES, interpret
from lazytensor.core.ops.control import Region


def _results(region: Region, operands: Any) -> list[Any]:
    program = region.program
    return interpret(program, operands, program.constants)[: len(program.outputs)]


def _given(results: list[Any]) -> Any:
    return tuple(results) if len(results) > 1 else results[0]


def _while(*state: np.ndarray, condition: Region, body: Region) -> Any:
    values = list(state)
    while _results(condition, values)[0]:
        values = _results(body, values)
    return _given(values)


def _case(index: np.ndarray, *operands: np.ndarray, branches: tuple[Region, ...]) -> Any:
    at = int(index)
    return _given(_results(branches[at if 0 <= at < len(branches) else -1], operands))


REFERENCES[ops.while_] = _while
REFERENCES[ops.case] = _case
