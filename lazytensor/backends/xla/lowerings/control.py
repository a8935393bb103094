"""Lowerings of control flow: instructions with regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lazytensor.backends.xla.attributes import i64s
from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows, emit_body
from lazytensor.backends.xla.lowerings.movement import comparing
from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.control import Region
from lazytensor.core.ops.scanning import divided


def _body(e: Emitter, region: Region) -> Callable[..., Sequence[Value]]:
    return lambda *operands: emit_body(e, region.program, operands)


def _while(e: Emitter, type: Any, *state: Value, condition: Region, body: Region) -> Any:
    types = [x.type for x in state]
    made = e.region_op(
        "while", types, state, [(types, _body(e, condition)), (types, _body(e, body))]
    )
    return made if isinstance(type, tuple) else made[0]


def _case(
    e: Emitter, type: Any, index: Value, *operands: Value, branches: tuple[Region, ...]
) -> Any:
    types = type if isinstance(type, tuple) else (type,)
    for x in operands:
        _ = x.ir  # a constant emitted within one branch is not visible in another
    bodies = [((), partial(_body(e, branch), *operands)) for branch in branches]
    made = e.region_op("case", types, [index], bodies)
    return made if isinstance(type, tuple) else made[0]


def _scan(
    e: Emitter, type: Any, end: Value, *operands: Value,
    body: Region, given: int, state: int, backwards: bool,
) -> Any:  # fmt: skip
    types = type if isinstance(type, tuple) else (type,)
    first = e.constant(0, S64)
    if backwards:
        first = e.op("subtract", end.type, end, e.constant(1, S64))
    tables = [e.full(0, table) for table in types[state:]]
    every = [first, end, *operands, *tables]

    def more(time: Value, end: Value, *_: Value) -> list[Value]:
        other, name = (e.constant(0, S64), "GE") if backwards else (end, "LT")
        return [e.op("compare", tensor_type(BOOL), time, other, **comparing(S64, name))]

    def step(time: Value, end: Value, *rest: Value) -> list[Value]:
        whole, before, shared, tables = divided(rest, given, state, len(operands) - given - state)
        lines = [_line(e, x, time) for x in whole]
        made = emit_body(e, body.program, [time, *lines, *before, *shared])
        pairs = zip(tables, made[state:], strict=True)
        stored = [_stored(e, table, line, time) for table, line in pairs]
        later = e.op("add", time.type, time, e.constant(-1 if backwards else 1, S64))
        return [later, end, *whole, *made[:state], *shared, *stored]

    inside = [x.type for x in every]
    made = e.region_op("while", inside, every, [(inside, more), (inside, step)])[2 + given :]
    found = (*made[:state], *made[len(operands) - given :])
    return found if isinstance(type, tuple) else found[0]


def _corner(e: Emitter, x: Value, time: Value) -> list[Value]:
    return [time, *[e.constant(0, S64)] * (x.type.ndim - 1)]


def _line(e: Emitter, x: Value, time: Value) -> Value:
    rest = x.type.shape[1:]
    row = x.type.with_shape((1, *rest))
    sizes = i64s(row.shape)
    return e.reshape(e.op("dynamic_slice", row, x, *_corner(e, x, time), slice_sizes=sizes), rest)


def _stored(e: Emitter, table: Value, line: Value, time: Value) -> Value:
    row = e.reshape(line, (1, *line.type.shape))
    return e.op("dynamic_update_slice", table.type, table, row, *_corner(e, table, time))


ROWS: Rows = {ops.while_: _while, ops.case: _case, ops.scan: _scan}
