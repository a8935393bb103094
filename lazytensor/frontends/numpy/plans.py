"""Plans: plain calls of ufuncs that were seen before, ready to be recorded.

A plan is found by the types of the operands: a `TensorType`, or a pair of which one may be the
class of a number. That look-up is the hot path of recording.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.dtypes import BOOL
from lazytensor.core.node import Node
from lazytensor.frontends.numpy.array import Scalar, ndarray
from lazytensor.frontends.numpy.loops import Loop

PLANS_BOUND: Final = 20_000


class Plan(NamedTuple):
    """`op(*nodes)` is the result, held by an object of class `cls`.

    A number enters as a scalar of `dtype` if it is within `low` and `high`.
    """

    op: Any
    cls: type
    low: Any = None
    high: Any = None
    dtype: Any = None


def remember(
    plans: dict[Any, Plan], operands: tuple[Any, ...], loop: Loop, made: Node
) -> None:
    """Keep what a plain call has found; its operands are nodes and Python numbers."""
    nodes = [x for x in operands if isinstance(x, Node)]
    types = [x.type if isinstance(x, Node) else type(x) for x in operands]
    cls = ndarray if made.type.ndim else Scalar
    plain = loop.results[0] in (BOOL, loop.dtypes[0]) and all(
        not isinstance(x, Node) or x.type.dtype is dtype
        for x, dtype in zip(operands, loop.dtypes, strict=True)
    )
    op = loop.body if plain else loop
    if len(plans) > PLANS_BOUND:
        plans.clear()
    if len(operands) == 1:
        plans[types[0]] = Plan(op, cls)
    elif len(nodes) == 2:
        plans[tuple(types)] = Plan(op, cls)
    else:
        at = 0 if nodes[0] is operands[1] else 1
        bounds = _bounds(type(operands[at]), loop.dtypes[at])
        if bounds is not None:
            plans[tuple(types)] = Plan(op, cls, *bounds, loop.dtypes[at])


class _Anything:
    """Below and above every number: complex ones are not ordered."""

    def __le__(self, other: Any) -> bool:
        return True

    __ge__ = __le__


def _bounds(number: type, dtype: np.dtype) -> tuple[Any, Any] | None:
    """Between which numbers converting to `dtype` need not be looked at."""
    if dtype.kind == "c" and dtype.itemsize == 16:
        return _Anything(), _Anything()
    if dtype.kind in "iu" and number is int:
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if dtype.itemsize == 8 and dtype.kind == "f":
        return (-(2**53), 2**53) if number is int else (-float("inf"), float("inf"))
    if dtype.itemsize == 4 and dtype.kind == "f":
        return (-(2**24), 2**24) if number is int else (-3e38, 3e38)
    return None
