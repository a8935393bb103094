"""Lowerings of control flow: instructions with regions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from lazytensor.backends.xla.builder import Value
from lazytensor.backends.xla.emitter import Emitter, Rows, emit_body
from lazytensor.core import ops
from lazytensor.core.ops.control import Region


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


ROWS: Rows = {ops.while_: _while, ops.case: _case}
