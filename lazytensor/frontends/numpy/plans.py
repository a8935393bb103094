"""Plans: plain calls of ufuncs that were seen before, ready to be recorded.

A plan is found by the types of the operands: a `TensorType`, or a pair of which one may be the
class of a number. That look-up is the hot path of recording.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from lazytensor.core.cell import Cell
from lazytensor.core.dtypes import BOOL
from lazytensor.core.node import Node, Signature
from lazytensor.core.op import Op, scalar
from lazytensor.frontends.numpy.array import Scalar, ndarray, new
from lazytensor.frontends.numpy.layout import lay_out
from lazytensor.frontends.numpy.loops import Loop

PLANS_BOUND: Final = 20_000


class Plan:
    """What a plain call records, `signature`, or if that is None calls; an object of class `cls`
    holds the result.

    A number enters as a scalar of `dtype` if it is within `low` and `high`. `number` is the scalar
    of the last call: a program's constants come back as the same objects.
    """

    __slots__ = ("cls", "dtype", "high", "low", "number", "op", "signature")

    def __init__(
        self,
        op: Any,
        cls: type,
        signature: Signature | None,
        limits: tuple[Any, Any, Any] = (None, None, None),
    ) -> None:
        self.op = op
        self.cls = cls
        self.signature = signature
        self.low, self.high, self.dtype = limits
        self.number: Node | None = None


Plans = dict[Any, Plan]
suspended = 0
"""How many threads check for floating-point flags: then nothing is remembered."""
_memos: Final[list[dict[Any, Any]]] = []


def memo() -> dict[Any, Any]:
    """A dict of what calls have found, which is emptied while calls are to be checked."""
    made: dict[Any, Any] = {}
    _memos.append(made)
    return made


def forget() -> None:
    """Empty every memo."""
    for known in _memos:
        known.clear()


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
        else:
            plan = plans.get((node.type, kind))
            if plan is None:
                return slow(x, other)
            second = plan.number
            if second is None or second.value is not other:
                if not plan.low <= other <= plan.high:
                    return slow(x, other)
                second = plan.number = scalar(other, plan.dtype)
        signature = plan.signature
        result: Any = new(plan.cls)
        result.ref = Cell(
            plan.op(node, second) if signature is None else Node(signature, (node, second))
        )
        result._shadow = result._base = None
        if x._shadow is not None or (kind is ndarray and other._shadow is not None):
            lay_out(result, x, other)
        return result

    return call


def backward(plans: Plans, slow: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`f(other, x)` with a lazy `x` and a number."""

    def call(x: Any, other: Any) -> Any:
        node = x.ref.node
        plan = plans.get((type(other), node.type))
        if plan is None:
            return slow(x, other)
        first = plan.number
        if first is None or first.value is not other:
            if not plan.low <= other <= plan.high:
                return slow(x, other)
            first = plan.number = scalar(other, plan.dtype)
        signature = plan.signature
        result: Any = new(plan.cls)
        result.ref = Cell(
            plan.op(first, node) if signature is None else Node(signature, (first, node))
        )
        result._shadow = result._base = None
        if x._shadow is not None:
            lay_out(result, x)
        return result

    return call


def alone(plans: Plans, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`f(x)` with a lazy `x`."""

    def call(x: Any) -> Any:
        node = x.ref.node
        plan = plans.get(node.type)
        if plan is None:
            return slow(x)
        signature = plan.signature
        result: Any = new(plan.cls)
        result.ref = Cell(plan.op(node) if signature is None else Node(signature, (node,)))
        result._shadow = result._base = None
        if x._shadow is not None:
            lay_out(result, x)
        return result

    return call


def planned(plans: Plans, node: Node, other: Any) -> Node | None:
    """What `f(node, other)` records, for a lazy `other` or a number; None if it has no plan."""
    kind = type(other)
    if kind is ndarray or kind is Scalar:
        second = other.ref.node
        plan = plans.get((node.type, second.type))
        if plan is None:
            return None
    else:
        plan = plans.get((node.type, kind))
        if plan is None:
            return None
        second = plan.number
        if second is None or second.value is not other:
            if not plan.low <= other <= plan.high:
                return None
            second = plan.number = scalar(other, plan.dtype)
    signature = plan.signature
    made = plan.op(node, second) if signature is None else Node(signature, (node, second))
    return cast(Node, made)


def written(plans: Plans, args: Sequence[Any], out: Any) -> bool:
    """Do `f(*args, out=out)` if it has a plan that gives an array of `out`'s type; say whether."""
    x = args[0] if args else None
    if type(x) is not ndarray or (out._shadow is not None and not out._shadow.flags.writeable):
        return False
    node = x.ref.node
    made: Node | None = None
    if len(args) == 2:
        made = planned(plans, node, args[1])
    elif len(args) == 1 and node.type in plans:
        plan = plans[node.type]
        made = plan.op(node) if plan.signature is None else Node(plan.signature, (node,))
    if made is None or made.type is not out.ref.type:
        return False
    out.ref.write(made)
    return True


def remember(
    plans: Plans, inputs: Sequence[Any], operands: Sequence[Any], loop: Loop, made: Node
) -> None:
    """Keep what a plain call has found. `operands` are the inputs as nodes, or Python numbers."""
    if suspended:
        return
    if len(plans) > PLANS_BOUND:
        plans.clear()
    number = next((i for i, x in enumerate(inputs) if issubclass(type(x), _NUMBERS)), None)
    types = [x.type if isinstance(x, Node) else type(x) for x in operands]
    plain = loop.results[0] in (BOOL, loop.dtypes[0])
    for x, dtype in zip(operands, loop.dtypes, strict=True):
        plain = plain and (not isinstance(x, Node) or x.type.dtype is dtype)
    op = loop.body if plain else loop
    cls = ndarray if made.type.ndim else Scalar
    found: Any = (None, None, None)
    if number is not None:
        types[number] = type(inputs[number])
        found = limits(operands[number], loop.dtypes[number])
        if found is None:
            return
    signature = None
    alike = number is None and len(set(operands)) == len(operands) and made.operands == operands
    if plain and (alike or (isinstance(op, Op) and made.op is op)):
        types_ = tuple(x.type for x in made.operands)
        signature = made.op.signature(types_, made.op.attrs_of(made.attrs))
    plans[types[0] if len(types) == 1 else tuple(types)] = Plan(op, cls, signature, found)


_NUMBERS: Final = (bool, int, float, complex, np.generic)


class _Anything:
    """Below and above every number: complex ones are not ordered."""

    def __le__(self, other: Any) -> bool:
        return True

    __ge__ = __le__


_ANY: Final = _Anything()


def limits(operand: Any, dtype: np.dtype) -> tuple[Any, Any, np.dtype] | None:
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
