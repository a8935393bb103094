"""Plans: plain calls of ufuncs that were seen before, ready to be recorded.

A plan is found by the types of the operands: a `TensorType`, or a pair of which one may be the
class of a number. That look-up is the hot path of recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from lazytensor.core.cell import Cell
from lazytensor.core.dtypes import BOOL
from lazytensor.core.node import Node
from lazytensor.core.op import scalar
from lazytensor.frontends.numpy.array import Scalar, ndarray, new
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


Plans = dict[Any, Plan]


def forward(plans: Plans, slow: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`f(x, other)` with a lazy `x`; `slow` does what has no plan."""

    def call(x: Any, other: Any) -> Any:
        kind = type(other)
        node = x.ref.node
        if kind is ndarray or kind is Scalar:
            second = other.ref.node
            plan = plans.get((node.type, second.type))
            if plan is None:
                return slow(x, other)
            made = plan[0](node, second)
        else:
            plan = plans.get((node.type, kind))
            if plan is None or not plan[2] <= other <= plan[3]:
                return slow(x, other)
            made = plan[0](node, scalar(other, plan[4]))
        result: Any = new(plan[1])
        result.ref = Cell(made)
        result._shadow = result._base = None
        return result

    return call


def backward(plans: Plans, slow: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`f(other, x)` with a lazy `x` and a number."""

    def call(x: Any, other: Any) -> Any:
        node = x.ref.node
        plan = plans.get((type(other), node.type))
        if plan is None or not plan[2] <= other <= plan[3]:
            return slow(x, other)
        result: Any = new(plan[1])
        result.ref = Cell(plan[0](scalar(other, plan[4]), node))
        result._shadow = result._base = None
        return result

    return call


def alone(plans: Plans, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`f(x)` with a lazy `x`."""

    def call(x: Any) -> Any:
        node = x.ref.node
        plan = plans.get(node.type)
        if plan is None:
            return slow(x)
        result: Any = new(plan[1])
        result.ref = Cell(plan[0](node))
        result._shadow = result._base = None
        return result

    return call


def remember(
    plans: Plans, inputs: Sequence[Any], operands: Sequence[Any], loop: Loop, made: Node
) -> None:
    """Keep what a plain call has found. `operands` are the inputs as nodes, or Python numbers."""
    if len(plans) > PLANS_BOUND:
        plans.clear()
    number = next((i for i, x in enumerate(inputs) if issubclass(type(x), _NUMBERS)), None)
    types = [x.type if isinstance(x, Node) else type(x) for x in operands]
    plain = loop.results[0] in (BOOL, loop.dtypes[0])
    for x, dtype in zip(operands, loop.dtypes, strict=True):
        plain = plain and (not isinstance(x, Node) or x.type.dtype is dtype)
    op = loop.body if plain else loop
    cls = ndarray if made.type.ndim else Scalar
    if len(inputs) == 1:
        plans[types[0]] = Plan(op, cls)
    elif number is None:
        plans[tuple(types)] = Plan(op, cls)
    else:
        types[number] = type(inputs[number])
        limits = _limits(operands[number], loop.dtypes[number])
        if limits is not None:
            plans[tuple(types)] = Plan(op, cls, *limits)


_NUMBERS: Final = (bool, int, float, complex, np.generic)


class _Anything:
    """Below and above every number: complex ones are not ordered."""

    def __le__(self, other: Any) -> bool:
        return True

    __ge__ = __le__


_ANY: Final = _Anything()


def _limits(operand: Any, dtype: np.dtype) -> tuple[Any, Any, np.dtype] | None:
    """Between which numbers converting need not be looked at, and to which dtype."""
    if isinstance(operand, Node):  # a number with a dtype of its own
        return _ANY, _ANY, operand.type.dtype
    weak = type(operand)
    if dtype.kind == "c" and dtype.itemsize == 16:
        return _ANY, _ANY, dtype
    if dtype.kind in "iu" and weak is int:
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), dtype
    if dtype.itemsize == 8 and dtype.kind == "f":
        return (-(2**53), 2**53, dtype) if weak is int else (-float("inf"), float("inf"), dtype)
    if dtype.itemsize == 4 and dtype.kind == "f":
        return (-(2**24), 2**24, dtype) if weak is int else (-3e38, 3e38, dtype)
    return None
