"""Loops inside a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lazytensor.backends.xla.attributes import comparison, direction
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.types import tensor_type

INDEX = tensor_type(S64)
_FLAG = tensor_type(BOOL)


def repeat(
    e: Emitter, count: int, state: Sequence[Value], body: Callable[..., Sequence[Value]]
) -> tuple[Value, ...]:
    """`state` after `count` times `state = body(i, *state)`, for i = 0, 1, …"""

    def more(i: Value, *_: Value) -> list[Value]:
        end = e.constant(count, S64)
        attributes = {"comparison_direction": direction("LT"), "compare_type": comparison(S64)}
        return [e.op("compare", _FLAG, i, end, **attributes)]

    def step(i: Value, *inside: Value) -> list[Value]:
        return [e.op("add", INDEX, i, e.constant(1, S64)), *body(i, *inside)]

    types = [INDEX, *(x.type for x in state)]
    start = [e.constant(0, S64), *state]
    return e.region_op("while", types, start, [(types, more), (types, step)])[1:]
