"""Binary search in lines that may be unordered: NaN may be anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.composite import composite
from lazytensor.core.ir.dtypes import ORDERED, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import check_dtype, scalar
from lazytensor.core.ops.elementwise import less, minimum, select
from lazytensor.core.ops.indexing import take_along
from lazytensor.core.ops.movement import broadcast

BEHIND: Final[dict[str, Callable[..., Any]]] = {
    "less": less,
    "not greater": lambda x, y: ~(x > y),
    "not greater or equal": lambda x, y: ~(x >= y),
}
"""Per name: whether a value's place is behind an element. The names differ for NaN."""


@composite
def bisect(lines: Node, values: Node, *, behind: str) -> Node:
    """The place of each of `values` in its line of `lines`, found by binary search.

    lines: ordered[..., n]. values: same dtype and batch, [..., k]. behind: `less` and `not greater
    or equal` go before equal elements, `not greater` after them. In an unordered line the place is
    where the comparisons with the middles lead.
    Result: s64, shape of values. Raises: DTypeError, ShapeError. Source: C++ lower_bound,
    upper_bound.
    """
    check_dtype("bisect", ORDERED, lines.type, values.type)
    if not lines.type.ndim or lines.type.shape[:-1] != values.type.shape[:-1]:
        raise ShapeError(f"bisect: one batch is needed, got {lines.type} and {values.type}")
    if behind not in BEHIND:
        raise ValueError(f"bisect: behind must be one of {', '.join(BEHIND)}, got {behind!r}")
    n, axis = lines.type.shape[-1], lines.type.ndim - 1
    start = broadcast(scalar(0, S64), shape=values.type.shape)
    end = broadcast(scalar(n, S64), shape=values.type.shape)
    for _ in range(n.bit_length()):
        middle = (start + end) >> 1
        seen = take_along(lines, minimum(middle, scalar(n - 1, S64)), axis=axis)
        on = (start < end) & BEHIND[behind](seen, values)
        start = select(on, middle + 1, start)
        end = select(on, end, middle)
    return start
