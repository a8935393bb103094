"""Calls of ufuncs that were seen before: from the operands to a recorded array.

`plans.py` says what a plan is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lazytensor.core.buffers.array_base import Holder, holding, node_of
from lazytensor.core.buffers.cell import Cell, View
from lazytensor.core.device.host_memory import ALIGNED_BYTES, copied
from lazytensor.core.ir.memo import keep
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.ir.recording import NodeBase, record
from lazytensor.core.ir.types import Shape, TensorType, tensor_type
from lazytensor.core.runtime.lending import Lent
from lazytensor.core.settings import settings
from lazytensor.core.trace.call_memo import Paired
from lazytensor.frontends.numpy.arrays.array import Scalar, ndarray
from lazytensor.frontends.numpy.arrays.layout import Lay, lay_out
from lazytensor.frontends.numpy.arrays.shadow import Turned
from lazytensor.frontends.numpy.host.access_counters import is_sum
from lazytensor.frontends.numpy.host.bound import differing, is_raised
from lazytensor.frontends.numpy.host.small import NUMBERS, is_small, spreads
from lazytensor.frontends.numpy.ufuncs.promotion import CANONICAL

Function = Callable[..., Any]


def is_at_hand(ref: Cell | View) -> bool:
    """Whether an operand's values are there, and so few that a call may be NumPy's at once.

    Memory that is lent goes on being so only if nobody asks for its node.
    """
    if type(ref) is Lent:
        return True
    return ref.node.value is not None and ref.type.size < settings.small


def forward(
    plans: dict[Any, Any], slow: Callable[[Any, Any], Any], lay: Lay = lay_out
) -> Callable[[Any, Any], Any]:
    """`f(x, other)` with a lazy `x`; `slow` does what has no plan. `lay` lays out results."""
    array = np.ndarray

    def call(x: Holder, other: Any) -> Any:
        if differing and is_raised() and is_at_hand(x.ref):
            return slow(x, other)
        kind = type(other)
        node: NodeBase = node_of(x)
        second: NodeBase | None = None
        laid = type(x._shadow) is Turned
        if kind is ndarray or kind is Scalar:
            holder: Holder = other
            if differing and is_raised() and type(holder.ref) is Lent:
                return slow(x, other)
            second = node_of(holder)
            laid = laid or type(holder._shadow) is Turned
            key = node.type, second.type
        elif kind is array:
            return _with_array(plans, slow, lay, False, x, other)
        else:
            key = node.type, kind
        try:
            plan: Paired = plans[key]
        except KeyError:
            return slow(x, other)
        if second is None:
            second = plan.number
            if second is None or second.value is not other:
                if not plan.low <= other <= plan.high or (type(x) is Scalar and is_sum()):
                    return slow(x, other)
                second = plan.number = scalar(other, plan.dtype)
        result: Holder = _held(plan, (node, second))
        if laid:
            lay(result, x, other)
        return result

    return call


def _recorded(plan: Paired, operands: tuple[Any, ...]) -> Any:
    """What a plan records."""
    signature = plan.signature
    return plan.body(*operands) if signature is None else record(signature, operands)


def _held(plan: Paired, operands: tuple[Any, ...]) -> Holder:
    """The result of a plan: an array that holds what it records."""
    result: Holder = holding(plan.form, _recorded(plan, operands))
    return result


def backward(
    plans: dict[Any, Any], slow: Callable[[Any, Any], Any], lay: Lay = lay_out
) -> Callable[[Any, Any], Any]:
    """`f(other, x)` with a lazy `x` and a number or a real array."""
    array = np.ndarray

    def call(x: Holder, other: Any) -> Any:
        if differing and is_raised() and is_at_hand(x.ref):
            return slow(x, other)
        kind = type(other)
        if kind is array:
            return _with_array(plans, slow, lay, True, x, other)
        node: NodeBase = node_of(x)
        try:
            plan: Paired = plans[kind, node.type]
        except KeyError:
            return slow(x, other)
        first: NodeBase | None = plan.number
        if first is None or first.value is not other:
            if not plan.low <= other <= plan.high or (type(x) is Scalar and is_sum()):
                return slow(x, other)
            first = plan.number = scalar(other, plan.dtype)
        result: Holder = _held(plan, (first, node))
        if type(x._shadow) is Turned:
            lay_out(result, x)
        return result

    return call


def _with_array(
    plans: dict[Any, Any],
    slow: Callable[[Any, Any], Any],
    lay: Lay,
    swapped: bool,
    x: Holder,
    other: np.ndarray,
) -> Any:
    """`f(x, other)`, or `f(other, x)` if swapped, with a lazy `x` and a real array."""
    node = node_of(x)
    found = _plan_with_array(plans, node, other, swapped)
    if found is None:
        return slow(x, other)
    plan, given = found
    operands, arrays = ((given, node), (other, x)) if swapped else ((node, given), (x, other))
    result = _held(plan, operands)
    if type(x._shadow) is Turned or (other.ndim > 1 and not other.flags.c_contiguous):
        lay(result, *arrays)
    return result


def _plan_with_array(
    plans: dict[Any, Any], node: NodeBase, other: np.ndarray, swapped: bool = False
) -> tuple[Paired, NodeBase] | None:
    """The plan for a node and a real array, and that array as a leaf; None if there is no plan.

    While larger arrays count as small, no plan is used, because NumPy computes known values.
    """
    if differing and is_raised():
        return None
    dtype, shape = other.dtype, other.shape
    key = (dtype, shape, node.type) if swapped else (node.type, dtype, shape)
    found = plans.get(key)
    if found is None:
        found = _plan_for(plans, node.type, dtype, shape, swapped)
        if found is None:
            return None
        keep(plans, key, found)
    plan, type_, copy = found
    own = copy(other)
    return plan, leaf(own if own.dtype is type_.dtype else own.view(type_.dtype), type_)


def _plan_for(
    plans: dict[Any, Any], type_: TensorType, dtype: np.dtype, shape: Shape, swapped: bool
) -> tuple[Paired, TensorType, Function] | None:
    """The plan for an operand of this type and a real array, that array's type as a leaf, and what
    copies it."""
    canonical = CANONICAL.get(dtype)
    if canonical is None:
        return None
    other = tensor_type(canonical, shape)
    plan = plans.get((other, type_) if swapped else (type_, other))
    copy = np.ndarray.copy if other.nbytes < ALIGNED_BYTES else copied
    return None if plan is None else (plan, other, copy)


def alone(plans: dict[Any, Any], slow: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`f(x)` with a lazy `x`."""

    def call(x: Holder) -> Any:
        if differing and is_raised() and is_at_hand(x.ref):
            return slow(x)
        node: NodeBase = node_of(x)
        try:
            plan: Paired = plans[node.type]
        except KeyError:
            return slow(x)
        result: Holder = _held(plan, (node,))
        if type(x._shadow) is Turned:
            lay_out(result, x)
        return result

    return call


def planned(plans: dict[Any, Any], node: NodeBase, other: Any) -> Any:
    """What `f(node, other)` records, for an array or a number; None if it has no plan."""
    kind = type(other)
    if kind is ndarray or kind is Scalar:
        second = node_of(other)
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
    return _recorded(plan, (node, second))


def written(plans: dict[Any, Any], args: Sequence[Any], out: Any) -> bool:
    """Do `f(*args, out=out)` if it has a plan that gives an array of `out`'s type; say whether."""
    x = args[0] if args else None
    if type(x) is not ndarray or (out._shadow is not None and not out._shadow.flags.writeable):
        return False
    node = node_of(x)
    made: Any = None
    if len(args) == 2:
        made = planned(plans, node, args[1])
    elif len(args) == 1 and node.type in plans:
        made = _recorded(plans[node.type], (node,))
    if made is None or made.type is not out.ref.type:
        return False
    out.ref.write(made)
    return True


def of_one(plans: dict[Any, Any], real: np.ufunc, slow: Function, general: Function) -> Function:
    """Calls of a ufunc of one operand. Numbers and small arrays go to the real ufunc.

    slow: a call with one lazy operand; general: any other call.
    """
    array, known, numbers = np.ndarray, settings, NUMBERS

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return general(args, kwargs)
        x = args[0]
        kind = type(x)
        if kind is ndarray or kind is Scalar:
            return slow(x)
        if kind in numbers or (kind is array and x.size < known.small):
            return real(x)
        return general(args, kwargs)

    return run


def of_two(
    real: np.ufunc,
    host: Function,
    ahead: Function,
    behind: Function,
    lazily: Function,
    general: Function,
    at_once: Function | None = None,
) -> Function:
    """Calls of a ufunc of two operands. Two small arrays go to `host`.

    ahead, behind: calls with a lazy first operand, or second; lazily: calls whose result is lazy;
    general: any other call; at_once: asked first, where there are small arrays, for a result.
    """
    array, known, numbers = np.ndarray, settings, NUMBERS

    def run(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 2 or kwargs:
            return general(args, kwargs)
        x, other = args
        if at_once is not None and known.small:
            made = at_once(x, other)
            if made is not None:
                return made
        kind, second = type(x), type(other)
        if kind is ndarray or kind is Scalar:
            return ahead(x, other)
        if second is ndarray or second is Scalar:
            return behind(other, x)
        if kind is array:
            if second is array:
                # Written out, as are other small calls: loops over small arrays.
                size, bound = x.size, known.small
                if size < bound and other.size < bound:
                    if size * other.size >= bound and spreads(x, other):
                        return lazily(args, kwargs)
                    return host(x, other)
            elif second in numbers and x.size < known.small:
                return real(x, other)
        elif kind in numbers and second in numbers and known.small:
            return real(x, other)
        if is_small(x) and is_small(other):
            return real(x, other)
        return general(args, kwargs)

    return run
