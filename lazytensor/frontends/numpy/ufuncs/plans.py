"""Plans: plain calls of ufuncs that were seen before, ready to be recorded.

A plan's form is the class of the result. It is found by the types of the operands: a `TensorType`,
or a pair of which one may be the class of a number. That look-up is the hot path of recording.
A real array has the plans of a lazy one of its type: it is copied, and becomes a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.device.host_memory import copied
from lazytensor.core.ir.dtypes import BOOL
from lazytensor.core.ir.memo import Memory, keep, memory
from lazytensor.core.ir.node import Node, Recorded, Signature
from lazytensor.core.ir.op import SLOT, Op, leaf, scalar, signature_of
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.elementwise import convert
from lazytensor.core.settings import settings
from lazytensor.core.trace.call_memo import ANY, Paired, limits
from lazytensor.frontends.numpy.arrays.array import Scalar, ndarray, new
from lazytensor.frontends.numpy.arrays.layout import Lay, lay_out
from lazytensor.frontends.numpy.host.access_counters import is_sum
from lazytensor.frontends.numpy.host.alias import Lent
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.profitability import raising
from lazytensor.frontends.numpy.ufuncs.loops import Loop
from lazytensor.frontends.numpy.ufuncs.promotion import CANONICAL

Plans = Memory
suspended = 0
"""How many threads check for floating-point flags: then nothing is remembered."""
_memos: Final[list[Memory]] = []


def memo() -> Memory:
    """A memory of calls that is emptied while calls are to be checked, and when larger arrays
    come to count as small."""
    made = memory()
    _memos.append(made)
    return made


def forget() -> None:
    """Empty every memo."""
    for known in _memos:
        known.clear()


raising.append(forget)


def is_at_hand(ref: Cell | View) -> bool:
    """Whether an operand's values are there, and so few that a call may be NumPy's at once.

    Memory that is lent goes on being so only if nobody asks for its node.
    """
    if ref.__class__ is Lent:
        return True
    return ref.node.value is not None and ref.type.size < settings.small


def forward(
    plans: Plans, slow: Callable[[Any, Any], Any], lay: Lay = lay_out
) -> Callable[[Any, Any], Any]:
    """`f(x, other)` with a lazy `x`; `slow` does what has no plan. `lay` lays out results."""
    array, with_array = np.ndarray, _with_array(plans, slow, lay, swapped=False)

    def call(x: Any, other: Any) -> Any:
        if differing and is_raised() and is_at_hand(x.ref):
            return slow(x, other)
        kind, node = type(other), x.ref.node
        if kind is ndarray or kind is Scalar:
            if differing and is_raised() and other.ref.__class__ is Lent:
                return slow(x, other)
            second = other.ref.node
            plan = plans.get((node.type, second.type))
            if plan is None:
                return slow(x, other)
        elif kind is array:
            return with_array(x, other)
        else:
            plan = plans.get((node.type, kind))
            if plan is None:
                return slow(x, other)
            second = plan.number
            if second is None or second.value is not other:
                if not plan.low <= other <= plan.high or (type(x) is Scalar and is_sum()):
                    return slow(x, other)
                second = plan.number = scalar(other, plan.dtype)
        signature = plan.signature
        result: Any = new(plan.form)
        result.ref = Cell(
            plan.body(node, second) if signature is None else Recorded(signature, (node, second))
        )
        result._shadow = result._base = None
        if x._shadow is not None or (kind is ndarray and other._shadow is not None):
            lay(result, x, other)
        return result

    return call


def backward(
    plans: Plans, slow: Callable[[Any, Any], Any], lay: Lay = lay_out
) -> Callable[[Any, Any], Any]:
    """`f(other, x)` with a lazy `x` and a number or a real array."""
    array, with_array = np.ndarray, _with_array(plans, slow, lay, swapped=True)

    def call(x: Any, other: Any) -> Any:
        if differing and is_raised() and is_at_hand(x.ref):
            return slow(x, other)
        kind, node = type(other), x.ref.node
        if kind is array:
            return with_array(x, other)
        plan = plans.get((kind, node.type))
        if plan is None:
            return slow(x, other)
        first = plan.number
        if first is None or first.value is not other:
            if not plan.low <= other <= plan.high or (type(x) is Scalar and is_sum()):
                return slow(x, other)
            first = plan.number = scalar(other, plan.dtype)
        signature = plan.signature
        result: Any = new(plan.form)
        result.ref = Cell(
            plan.body(first, node) if signature is None else Recorded(signature, (first, node))
        )
        result._shadow = result._base = None
        if x._shadow is not None:
            lay_out(result, x)
        return result

    return call


def _with_array(
    plans: Plans, slow: Callable[[Any, Any], Any], lay: Lay, swapped: bool
) -> Callable[[Any, Any], Any]:
    """`f(x, other)`, or `f(other, x)`, with a lazy `x` and a real array."""

    def call(x: Any, other: np.ndarray) -> Any:
        node = x.ref.node
        found = _plan_with_array(plans, node, other, swapped)
        if found is None:
            return slow(x, other)
        plan, given = found
        operands, arrays = ((given, node), (other, x)) if swapped else ((node, given), (x, other))
        signature = plan.signature
        result: Any = new(plan.form)
        result.ref = Cell(
            plan.body(*operands) if signature is None else Recorded(signature, operands)
        )
        result._shadow = result._base = None
        if x._shadow is not None or not other.flags.c_contiguous:
            lay(result, *arrays)
        return result

    return call


def _plan_with_array(
    plans: Plans, node: Node, other: np.ndarray, swapped: bool = False
) -> tuple[Paired, Node] | None:
    """The plan for a node and a real array, and that array as a leaf; None if there is no plan.

    Nor is there while larger arrays count as small: what is known by now is for NumPy.
    """
    dtype = CANONICAL.get(other.dtype)
    if dtype is None or (differing and is_raised()):
        return None
    type_ = tensor_type(dtype, other.shape)
    plan = plans.get((type_, node.type) if swapped else (node.type, type_))
    if plan is None:
        return None
    own = copied(other)
    return plan, leaf(own if own.dtype is dtype else own.view(dtype), type_)


def alone(plans: Plans, slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`f(x)` with a lazy `x`."""

    def call(x: Any) -> Any:
        if differing and is_raised() and is_at_hand(x.ref):
            return slow(x)
        node = x.ref.node
        plan = plans.get(node.type)
        if plan is None:
            return slow(x)
        signature = plan.signature
        result: Any = new(plan.form)
        result.ref = Cell(plan.body(node) if signature is None else Recorded(signature, (node,)))
        result._shadow = result._base = None
        if x._shadow is not None:
            lay_out(result, x)
        return result

    return call


def planned(plans: Plans, node: Node, other: Any) -> Node | None:
    """What `f(node, other)` records, for an array or a number; None if it has no plan."""
    kind = type(other)
    if kind is ndarray or kind is Scalar:
        second = other.ref.node
        plan = plans.get((node.type, second.type))
        if plan is None:
            return None
    elif kind is np.ndarray:
        found = _plan_with_array(plans, node, other)
        if found is None:
            return None
        plan, second = found
    else:
        plan = plans.get((node.type, kind))
        if plan is None:
            return None
        second = plan.scalar(other)
        if second is None:
            return None
    signature = plan.signature
    made = plan.body(node, second) if signature is None else Recorded(signature, (node, second))
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
        made = plan.body(node) if plan.signature is None else Recorded(plan.signature, (node,))
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
    number = next((i for i, x in enumerate(inputs) if issubclass(type(x), _NUMBER_CLASSES)), None)
    types = [x.type if isinstance(x, Node) else type(x) for x in operands]
    plain = loop.results[0] in (BOOL, loop.dtypes[0])
    for x, dtype in zip(operands, loop.dtypes, strict=True):
        plain = plain and (not isinstance(x, Node) or x.type.dtype is dtype)
    op = loop.body if plain else loop
    cls = ndarray if made.type.ndim else Scalar
    found: Any = (None, None, None)
    if number is not None:
        types[number] = type(inputs[number])
        operand, dtype = operands[number], loop.dtypes[number]
        own = isinstance(operand, Node)  # a number with a dtype of its own
        found = (ANY, ANY, operand.type.dtype) if own else limits(type(operand), dtype)
        if found is None:
            return
    signature = None
    alike = number is None and len(set(operands)) == len(operands) and made.operands == operands
    if plain and (alike or (isinstance(op, Op) and made.op is op)):
        signature = signature_of(made)
    elif not plain and made.op is loop.body:  # a function may look at a number's value
        op = _of_casts(operands, made) or op
    key = types[0] if len(types) == 1 else tuple(types)
    keep(plans, key, Paired(signature, found, op, cls))


def _of_casts(operands: Sequence[Any], made: Node) -> Callable[..., Node] | None:
    """What makes a node such as `made`, one op of the operands in the loop's dtypes, of others."""
    casts: list[Signature | None] = []
    for x, used in zip(operands, made.operands, strict=True):
        if used is x or (used.op is SLOT and not isinstance(x, Node)):
            casts.append(None)
        elif used.op is convert:
            casts.append(signature_of(used))
        else:
            return None
    signature = signature_of(made)
    if len(casts) == 1:
        return lambda x: Recorded(signature, (_cast(x, casts[0]),))
    if len(casts) > 2:
        return None
    first, second = casts
    return lambda x, y: Recorded(signature, (_cast(x, first), _cast(y, second)))


def _cast(node: Node, signature: Signature | None) -> Node:
    return node if signature is None else Recorded(signature, (node,))


_NUMBER_CLASSES: Final = (bool, int, float, complex, np.generic)
