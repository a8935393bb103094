"""Lowerings written in ops: for what StableHLO lacks, or does otherwise than the core says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazytensor.backends.xla.emit import Emitter, Lowering, Value, emit
from lazytensor.core.program import Program, trace_types


def expansion(body: Callable[..., Any]) -> Lowering:
    """A row: the instructions of `body`, a function of nodes, traced once per signature."""
    traced: dict[tuple[Any, ...], Program] = {}

    def lower(e: Emitter, type: Any, *operands: Value, **attrs: Any) -> Value:
        types = tuple(x.type for x in operands)
        key = (types, *attrs.items())
        program = traced.get(key)
        if program is None:
            program = traced[key] = trace_types(body, types, attrs)
        constants = [
            e.constant(value, program.instructions[i][3].dtype)
            for i, value in zip(program.slots, program.constants, strict=True)
        ]
        return emit(e, program, operands, constants)[0]

    return lower
