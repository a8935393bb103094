"""The debugging mode: each operation runs where it is recorded, by the reference interpreter.

So a failure, a value that is not a number and a breakpoint are at the user's line. Nothing of this
costs anything while it is off: recording calls it after each node. It takes the place of the
tracing of composites' bodies, in which operations are recorded as ever.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core.device.backend import on_host
from lazytensor.core.interpreter.interpreter import apply
from lazytensor.core.ir import composite
from lazytensor.core.ir.node import Input, Node, has_several
from lazytensor.core.ir.op import PARAMETER
from lazytensor.core.ir.program import SLOTS, Program
from lazytensor.core.ir.recording import call_after_each
from lazytensor.core.ir.source_location import describe
from lazytensor.core.ir.types import NUMPYS_AXES
from lazytensor.core.observe.warnings import warn_at
from lazytensor.core.ops.guard import guard
from lazytensor.core.settings import settings

UNCHECKED: Final = frozenset(["bitcast", "parameter", "element"])
"""Ops by name that make numbers of bits, or only hand them on: NaN is no news there."""


class _Tracing(threading.local):
    depth = 0


_tracing: Final = _Tracing()
_trace_body: Final = composite.trace_body
_types: Final[dict[Any, Node]] = {}


def attach() -> None:
    """Run each operation at once from now on, in all threads."""
    call_after_each(_run)
    composite.trace_body = _recorded  # type: ignore[assignment]


def detach() -> None:
    """Record again."""
    call_after_each(None)
    composite.trace_body = _trace_body


def _recorded(*args: Any) -> tuple[Program, list[Node]]:
    """The program of a composite's body, of which nothing is to run."""
    _tracing.depth += 1
    try:
        return _trace_body(*args)
    finally:
        _tracing.depth -= 1


def _run(node: Node) -> None:
    operands = node.operands
    if _tracing.depth or any(x.value is None for x in operands):
        return
    if any(getattr(x.type, "ndim", 0) > NUMPYS_AXES for x in (node, *operands)):
        return  # it is recorded as ever: XLA runs it
    with np.errstate(all="ignore"):
        values = [_value(x) for x in operands]
        result = apply(node.op, values, node.attrs, node.type)
    if node.op is guard and not np.all(result):
        _fail(node)
    if settings.check:
        _check(node, values, result)
    node.value = result
    # Frontends learn from what a call has recorded: they should see that it was of operands, while
    # these themselves are let go.
    node.operands = tuple(map(_type_only, operands))


def _type_only(node: Node) -> Node:
    found = _types.get(node.type)
    if found is None:
        found = _types[node.type] = Input(PARAMETER, node.type)
    return found


def _value(node: Node) -> Any:
    if node.op in SLOTS:
        return np.asarray(node.value, node.type.dtype)
    return node.value if has_several(node) else on_host(node.value)


def _fail(node: Node) -> None:
    """Raise, or give, what the guard was recorded for."""
    error, text = node.attrs
    if not issubclass(error, Warning):
        raise error(text)
    warn_at(node.place, text, error)


def _check(node: Node, operands: Sequence[Any], result: Any) -> None:
    """Raise: FloatingPointError if there are NaN in the result, and in no operand."""
    if node.op.name in UNCHECKED:
        return
    number = _count_nan(result)
    if number and not any(map(_count_nan, operands)):
        raise FloatingPointError(
            f"{node.op.name}: {number} NaN in a result of type {node.type}, and none in its "
            f"operands (recorded at {describe(node.place)})"
        )


def _count_nan(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_count_nan, value))
    if value.dtype.kind not in "fcV":  # the eight-bit floats and bfloat16 are of kind V
        return 0
    return int(np.count_nonzero(np.isnan(value)))
