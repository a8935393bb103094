"""The ops that NumPy runs faster than XLA:CPU, by enough to pay for a cut of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lazytensor.backends.xla import client
from lazytensor.backends.xla.tables import ALONE, HOST, LOWERINGS
from lazytensor.core.ir.composite import Composite
from lazytensor.core.ir.op import Op, element
from lazytensor.core.ir.program import INPUTS
from lazytensor.core.ir.types import TensorType


def runs_on_host(
    op: Op, operands: Sequence[TensorType], attrs: tuple[Any, ...], *, alone: bool
) -> int:
    """Whether NumPy runs this op faster, or it has no lowering; the number is a `HostRule`'s.

    `alone`: the program has no other work.
    """
    if op in INPUTS or op is element or isinstance(op, Composite):
        return 0
    if op not in LOWERINGS:
        return 1
    if client.platform() != "cpu":
        return 0
    rules = (HOST.get(op), ALONE.get(op) if alone else None)
    given = op.attrs_of(attrs)
    return max((rule(*operands, **given) for rule in rules if rule is not None), default=0)
