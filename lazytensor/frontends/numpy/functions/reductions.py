"""Reductions over axes: sums, products, extremes, truth, positions, running totals."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64, U64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib import complexes
from lazytensor.frontends.numpy.arrays.array import ndarray, wrap
from lazytensor.frontends.numpy.arrays.conversion import mask_of, operand
from lazytensor.frontends.numpy.arrays.layout import lay_out, lay_out_like, lay_out_reduced
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.results import check_target, deliver
from lazytensor.frontends.numpy.ufuncs import delivery
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, number, recast

NO_VALUE: Final[Any] = np._NoValue  # NumPy's mark for an argument that is not given
Axes = tuple[int, ...]


def axes_of(axis: Any, ndim: int) -> Axes:
    """The axes to reduce. Raises: AxisError, ValueError, TypeError."""
    if axis is None:
        return tuple(range(ndim))
    if ndim == 0 and not isinstance(axis, tuple):  # NumPy reduces a number over axis 0
        normalize_axis_index(operator.index(axis), 1)
        return ()
    if isinstance(axis, tuple):
        return normalize_axis_tuple(axis, ndim)
    return (normalize_axis_index(operator.index(axis), ndim),)


def axes_within(axis: Any, ndim: int) -> Axes:
    """The same for functions that refuse axis 0 of a number.

    Raises: AxisError, ValueError, TypeError.
    """
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)


def keeps(keepdims: Any) -> bool:
    """Whether reduced axes are kept. Raises: HostOnly for values that NumPy has to judge."""
    if keepdims is NO_VALUE:
        return False
    if type(keepdims) not in (bool, int):
        raise HostOnly(f"keepdims={keepdims!r:.40}")
    return bool(keepdims)


def kept(node: Node, reduced: Node, axes: Axes, keepdims: Any) -> Node:
    """The reduction of `node` with its axes kept as ones, if `keepdims`."""
    return ops.kept(reduced, node, axes, keeps(keepdims))


def _check_target(out: Any, node: Node, axes: Axes, keepdims: Any) -> None:
    """Raise NumPy's error unless the reduction of `node` may be written to `out`."""
    if out is None:
        return
    check_target(out, node.type.dtype)
    delivery.check_writeable(out)
    rank = node.type.ndim - (0 if keeps(keepdims) else len(axes))
    refuse_unless(out.ndim == rank)
    shape = tuple(n for i, n in enumerate(node.type.shape) if i not in axes)
    refuse_unless(rank != len(shape) or out.shape == shape)


def flags_of(where: Any, node: Node) -> Node | None:
    """The mask that `where` is; None if all count. Raises: TypeError, ValueError."""
    if where is NO_VALUE or where is True:
        return None
    mask = mask_of(where)
    shape = np.broadcast_shapes(node.type.shape, mask.type.shape)
    if shape != node.type.shape:
        np.add.reduce(np.zeros(node.type.shape), where=np.zeros(mask.type.shape, bool))  # raises
    return mask


def masked(node: Node, where: Any, otherwise: Any) -> Node:
    """`node` with `otherwise` where `where` does not hold."""
    mask = flags_of(where, node)
    if mask is None:
        return node
    return ops.select(mask, node, number(otherwise, node.type.dtype))


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which NumPy adds and multiplies numbers of `dtype`: wide for narrow integers."""
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return S64
    return U64 if dtype.kind == "u" else dtype


def total(name: str, op: Op, combine: Op, identity: int) -> Function:
    """`sum` and `prod`."""

    def reduce(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        node = operand(a)
        axes = axes_of(axis, node.type.ndim)
        if dtype is not None:
            node = recast(node, canonical(np.dtype(dtype)))
            check_target(out, node.type.dtype)
        elif out is not None:
            _check_target(out, node, axes, keepdims)
            node = convert(node, canonical(out.dtype))
        else:
            node = convert(node, sum_dtype(node.type.dtype))
        if node.type.dtype == BOOL:
            return _flags(name, node, axes, out, keepdims, initial, where, a)
        chosen = masked(node, where, identity)
        made = op(chosen, axes=axes) if axes else chosen
        check("reduce", [chosen], made, axes=axes)
        if initial is not NO_VALUE:
            made = combine(made, _initial(initial, made.type.dtype))
        return _given(kept(node, made, axes, keepdims), out, axes, a, where)

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def _given(node: Node, out: Any, axes: Axes, a: Any, where: Any, casting: str = "same_kind") -> Any:
    """Deliver `node`, the reduction of `a` over `axes`."""
    result = deliver(node, out, casting)
    if out is None and result.ndim > 1:
        lay_out_reduced(result, axes, a, where)
    return result


def _initial(value: Any, dtype: np.dtype) -> Node:
    """The start value of a reduction. Raises: OverflowError."""
    return number(value, dtype) if type(value) is int else convert(operand(value), dtype)


def _flags(
    name: str,
    node: Node,
    axes: Axes,
    out: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
    a: Any,
) -> Any:
    """A sum or product with `dtype=bool`: whether any, or all, are true."""
    op, neutral = (ops.reduce_or, False) if name == "sum" else (ops.reduce_and, True)
    made = op(masked(node, where, neutral), axes=axes)
    if initial is not NO_VALUE:
        combine = ops.or_ if name == "sum" else ops.and_
        made = combine(made, _initial(initial, BOOL))
    return _given(kept(node, made, axes, keepdims), out, axes, a, where)


def extreme(name: str, op: Op, combine: Op, real: Function) -> Function:
    """`max` and `min`."""

    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        initial = NO_VALUE if initial is None else initial
        node = operand(a)
        axes = axes_of(axis, node.type.ndim)
        _check_target(out, node, axes, keepdims)
        dtype = node.type.dtype
        one, two = (op, combine) if dtype.kind != "c" else _complex(op)
        empty = any(node.type.shape[i] == 0 for i in axes)
        if initial is NO_VALUE and where is not NO_VALUE and where is not True:
            real(np.zeros(0 if empty else 1, dtype), where=np.ones(1, bool))  # raises
        if initial is NO_VALUE and empty:
            real(np.zeros(0, dtype))  # raises
        if empty:
            shape = tuple(n for i, n in enumerate(node.type.shape) if i not in axes)
            masked(node, where, 0)  # raises if `where` does not fit
            made = ops.broadcast(_initial(initial, dtype), shape=shape)
        else:
            if (flags := flags_of(where, node)) is not None:
                node = ops.select(flags, node, _initial(initial, dtype))
            made = one(node, axes=axes) if axes else node
            if initial is not NO_VALUE:
                made = two(made, _initial(initial, dtype))
        return _given(kept(node, made, axes, keepdims), out, axes, a, where)

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def _complex(op: Op) -> tuple[Callable[..., Node], Callable[[Node, Node], Node]]:
    """The functions for an extreme of complex numbers: over axes, and of two numbers."""
    greatest = op is ops.reduce_max
    return lambda node, axes: complexes.extreme(node, axes, greatest), complexes.COMPLEX_PAIRS[op]


def truth(name: str, op: Op, neutral: bool) -> Function:
    """`all` and `any`."""

    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
    ) -> Any:
        node = convert(operand(a), BOOL)
        axes = axes_of(axis, node.type.ndim)
        chosen = masked(node, where, neutral)
        made = op(chosen, axes=axes) if axes else chosen
        return _given(kept(node, made, axes, keepdims), out, axes, a, where, "unsafe")

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def position(op: Op, real: Function) -> Function:
    """`argmax` and `argmin`."""

    def reduce(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        node = operand(a)
        ndim = node.type.ndim
        flat = axis is None or ndim == 0
        if axis is not None:
            axes = axes_of(operator.index(axis), ndim)
        check_positions(out)
        line = ops.reshape(node, shape=(node.type.size,)) if flat and ndim != 1 else node
        place = 0 if flat else axes[0]
        refuse_unless(line.type.shape[place])
        if line.type.dtype.kind == "c":
            find = ops.complex_argmax if op is ops.argmax else ops.complex_argmin
            made = find(line, axis=place)
        else:
            made = op(line, axis=place)
        gone = tuple(range(ndim)) if flat else (place,)
        found = kept(node, made, gone, keepdims)
        refuse_unless(out is None or out.shape == found.type.shape)
        return deliver(found, out, "unsafe")

    reduce.__name__ = reduce.__qualname__ = op.name
    return reduce


def check_positions(out: Any) -> None:
    """Raise HostOnly for an `out` that cannot hold positions, so that NumPy refuses it."""
    if out is None:
        return
    delivery.check_array(out)
    if not isinstance(out, ndarray) or not np.can_cast(out.dtype, S64, "safe"):
        raise HostOnly("positions are int64")


def running(op: Op) -> Function:
    """`cumsum` and `cumprod`."""

    def accumulate(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        node = operand(a)
        if axis is None:
            node = node if node.type.ndim == 1 else ops.reshape(node, shape=(node.type.size,))
            axis = 0
        place = normalize_axis_index(operator.index(axis), max(node.type.ndim, 1))
        if not node.type.ndim:
            node = ops.reshape(node, shape=(1,))
        kind = sum_dtype(node.type.dtype) if dtype is None else canonical(np.dtype(dtype))
        check_target(out, kind)
        if dtype is None and out is not None:
            kind = canonical(out.dtype)
        given = recast(node, kind)
        made = _run(op, given, place)
        check("accumulate", [given], made, axes=(place,), running=True)
        result = deliver(made, out)
        if out is None and result.ndim > 1:
            lay_out(result, a)
        return result

    return accumulate


def _run(op: Op, node: Node, place: int) -> Node:
    """`op` along an axis. For flags, whether any, or all, have been true so far."""
    if node.type.dtype == BOOL:
        op = ops.cummax if op is ops.cumsum else ops.cummin
    return op(node, axis=place)


def cumulative(op: Op, neutral: int) -> Function:
    """`cumulative_sum` and `cumulative_prod`."""

    def accumulate(
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: bool = False,
    ) -> Any:
        node = operand(x)
        if node.type.ndim == 0:
            node = ops.reshape(node, shape=(1,))
        if axis is None:
            refuse_unless(node.type.ndim <= 1)
            axis = 0
        place = normalize_axis_index(operator.index(axis), node.type.ndim)
        kind = sum_dtype(node.type.dtype) if dtype is None else canonical(np.dtype(dtype))
        check_target(out, kind)
        given = recast(node, kind)
        made = _run(op, given, place)
        check("accumulate", [given], made, axes=(place,), running=True)
        if include_initial:
            low = tuple(int(i == place) for i in range(node.type.ndim))
            none = (0,) * node.type.ndim
            made = ops.pad(made, number(neutral, kind), low=low, high=none, interior=none)
        return deliver(made, out)

    return accumulate


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """See numpy.ptp."""
    node = operand(a)
    axes = axes_of(axis, node.type.ndim)
    refuse_unless(all(node.type.shape[i] != 0 for i in axes))
    refuse_unless(node.type.dtype != BOOL)
    check_target(out, node.type.dtype)
    extremes = ops.reduce_max, ops.reduce_min
    plain = node.type.dtype.kind != "c"
    most, least = ((op if plain else _complex(op)[0])(node, axes=axes) for op in extremes)
    made = most - least
    return _given(kept(node, made, axes, keepdims), out, axes, a, NO_VALUE)


def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """See numpy.count_nonzero."""
    node = operand(a)
    axes = axes_of(axis, node.type.ndim)
    truths = convert(node, BOOL)
    made = kept(node, ops.reduce_sum(convert(truths, S64), axes=axes), axes, keepdims)
    if made.type.ndim > 1 and truths is not node:  # NumPy counts in a copy, laid out as `a`
        flags = wrap(truths)
        lay_out_like(flags, a)
        a = flags
    return _given(made, None, axes, a, NO_VALUE)


LAZY: dict[str, Function] = {
    "all": truth("all", ops.reduce_and, True),
    "any": truth("any", ops.reduce_or, False),
    "argmax": position(ops.argmax, np.argmax),
    "argmin": position(ops.argmin, np.argmin),
    "count_nonzero": count_nonzero,
    "cumprod": running(ops.cumprod),
    "cumsum": running(ops.cumsum),
    "cumulative_prod": cumulative(ops.cumprod, 1),
    "cumulative_sum": cumulative(ops.cumsum, 0),
    "max": extreme("max", ops.reduce_max, ops.maximum, np.max),
    "min": extreme("min", ops.reduce_min, ops.minimum, np.min),
    "prod": total("prod", ops.reduce_prod, ops.multiply, 1),
    "ptp": ptp,
    "sum": total("sum", ops.reduce_sum, ops.add, 0),
}
LAZY["amax"] = LAZY["max"]
LAZY["amin"] = LAZY["min"]
