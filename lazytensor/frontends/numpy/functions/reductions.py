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
from lazytensor.frontends.numpy.functions.results import check_target, deliver
from lazytensor.frontends.numpy.functions.signatures import (
    NO_VALUE,
    Function,
    Given,
    along,
    like,
    named,
)
from lazytensor.frontends.numpy.ufuncs import delivery
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, number, recast

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


def _check_target(given: Given, node: Node, axes: Axes) -> None:
    """Raise NumPy's error unless the reduction of `node` may be written to `out`."""
    out = given.out
    if out is None:
        return
    check_target(out, node.type.dtype)
    delivery.check_writeable(out)
    rank = node.type.ndim - (0 if keeps(given.keepdims) else len(axes))
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


def _total(real: Function, op: Op, combine: Op, of_flags: tuple[Op, Op]) -> Function:
    """`sum` and `prod`. `of_flags`: the ops with `dtype=bool`: whether any, or all, are true."""

    @like(real)
    def reduce(given: Given) -> Any:
        node = operand(given.a)
        axes = axes_of(given.axis, node.type.ndim)
        if given.dtype is not None:
            node = recast(node, canonical(np.dtype(given.dtype)))
            check_target(given.out, node.type.dtype)
        elif given.out is not None:
            _check_target(given, node, axes)
            node = convert(node, canonical(given.out.dtype))
        else:
            node = convert(node, sum_dtype(node.type.dtype))
        dtype = node.type.dtype
        one, two = of_flags if dtype == BOOL else (op, combine)
        chosen = masked(node, given.where, int(combine is ops.multiply))
        made = one(chosen, axes=axes) if axes else chosen
        if dtype != BOOL:
            check("reduce", [chosen], made, axes=axes)
        if given.initial is not NO_VALUE:
            made = two(made, _initial(given.initial, dtype))
        return _delivered(node, made, axes, given)

    return reduce


def _delivered(node: Node, made: Node, axes: Axes, given: Given, casting: str = "same_kind") -> Any:
    """Deliver `made`, the reduction of `node` over `axes`, as a call asks for it."""
    result = deliver(kept(node, made, axes, given.keepdims), given.out, casting)
    if given.out is None and result.ndim > 1:
        lay_out_reduced(result, axes, given.a, given.where)
    return result


def _initial(value: Any, dtype: np.dtype) -> Node:
    """The start value of a reduction. Raises: OverflowError."""
    return number(value, dtype) if type(value) is int else convert(operand(value), dtype)


def _extreme(real: Function, op: Op, combine: Op) -> Function:
    """`max` and `min`."""

    @like(real)
    def reduce(given: Given) -> Any:
        initial = NO_VALUE if given.initial is None else given.initial
        node = operand(given.a)
        axes = axes_of(given.axis, node.type.ndim)
        _check_target(given, node, axes)
        dtype = node.type.dtype
        one, two = (op, combine) if dtype.kind != "c" else _complex(op)
        empty = any(node.type.shape[i] == 0 for i in axes)
        if initial is NO_VALUE and given.where is not NO_VALUE and given.where is not True:
            real(np.zeros(0 if empty else 1, dtype), where=np.ones(1, bool))  # raises
        if initial is NO_VALUE and empty:
            real(np.zeros(0, dtype))  # raises
        if empty:
            shape = tuple(n for i, n in enumerate(node.type.shape) if i not in axes)
            masked(node, given.where, 0)  # raises if `where` does not fit
            made = ops.broadcast(_initial(initial, dtype), shape=shape)
        else:
            if (flags := flags_of(given.where, node)) is not None:
                node = ops.select(flags, node, _initial(initial, dtype))
            made = one(node, axes=axes) if axes else node
            if initial is not NO_VALUE:
                made = two(made, _initial(initial, dtype))
        return _delivered(node, made, axes, given)

    return reduce


def _complex(op: Op) -> tuple[Callable[..., Node], Callable[[Node, Node], Node]]:
    """The functions for an extreme of complex numbers: over axes, and of two numbers."""
    greatest = op is ops.reduce_max
    return lambda node, axes: complexes.extreme(node, axes, greatest), complexes.COMPLEX_PAIRS[op]


def _truth(real: Function, op: Op) -> Function:
    """`all` and `any`."""

    @like(real)
    def reduce(given: Given) -> Any:
        node = convert(operand(given.a), BOOL)
        axes = axes_of(given.axis, node.type.ndim)
        chosen = masked(node, given.where, op is ops.reduce_and)
        made = op(chosen, axes=axes) if axes else chosen
        return _delivered(node, made, axes, given, "unsafe")

    return reduce


def _position(real: Function, op: Op, of_complex: Op) -> Function:
    """`argmax` and `argmin`."""

    @like(real)
    def reduce(given: Given) -> Any:
        node = operand(given.a)
        ndim = node.type.ndim
        flat = given.axis is None or ndim == 0
        if given.axis is not None:
            axes = axes_of(operator.index(given.axis), ndim)
        check_positions(given.out)
        line, place = (ops.line(node), 0) if flat else (node, axes[0])
        refuse_unless(line.type.shape[place])
        made = (of_complex if line.type.dtype.kind == "c" else op)(line, axis=place)
        gone = tuple(range(ndim)) if flat else (place,)
        found = kept(node, made, gone, given.keepdims)
        refuse_unless(given.out is None or given.out.shape == found.type.shape)
        return deliver(found, given.out, "unsafe")

    return reduce


def check_positions(out: Any) -> None:
    """Raise HostOnly for an `out` that cannot hold positions, so that NumPy refuses it."""
    if out is None:
        return
    delivery.check_array(out)
    if not isinstance(out, ndarray) or not np.can_cast(out.dtype, S64, "safe"):
        raise HostOnly("positions are int64")


OF_FLAGS: Final[dict[Op, Op]] = {ops.cumsum: ops.cummax, ops.cumprod: ops.cummin}
"""Running sums and products of flags: whether any, or all, have been true so far."""


def _running(real: Function, op: Op) -> Function:
    """`cumsum` and `cumprod`."""

    @like(real)
    def accumulate(given: Given) -> Any:
        node, place = along(given.a, given.axis, least=1)
        kind = sum_dtype(node.type.dtype) if given.dtype is None else np.dtype(given.dtype)
        check_target(given.out, canonical(kind))
        if given.dtype is None and given.out is not None:
            kind = given.out.dtype
        node = recast(node, kind)
        made = (OF_FLAGS[op] if node.type.dtype == BOOL else op)(node, axis=place)
        check("accumulate", [node], made, axes=(place,), running=True)
        result = deliver(made, given.out)
        if given.out is None and result.ndim > 1:
            lay_out(result, given.a)
        return result

    return accumulate


@like(np.ptp)
def ptp(given: Given) -> Any:
    """See numpy.ptp."""
    node = operand(given.a)
    axes = axes_of(given.axis, node.type.ndim)
    refuse_unless(all(node.type.shape[i] != 0 for i in axes))
    refuse_unless(node.type.dtype != BOOL)
    check_target(given.out, node.type.dtype)
    extremes = ops.reduce_max, ops.reduce_min
    plain = node.type.dtype.kind != "c"
    most, least = ((op if plain else _complex(op)[0])(node, axes=axes) for op in extremes)
    return _delivered(node, most - least, axes, given)


@like(np.count_nonzero)
def count_nonzero(given: Given) -> Any:
    """See numpy.count_nonzero."""
    node = operand(given.a)
    axes = axes_of(given.axis, node.type.ndim)
    truths = convert(node, BOOL)
    made = ops.reduce_sum(convert(truths, S64), axes=axes)
    if truths is not node:  # NumPy counts in a copy, laid out as `a`
        flags = wrap(truths)
        lay_out_like(flags, given.a)
        given.a = flags
    given.out = None
    return _delivered(node, made, axes, given)


_EXTREMES: Final = (
    _extreme(np.max, ops.reduce_max, ops.maximum),
    _extreme(np.min, ops.reduce_min, ops.minimum),
)

LAZY: dict[str, Function] = named(
    _truth(np.all, ops.reduce_and),
    _truth(np.any, ops.reduce_or),
    _position(np.argmax, ops.argmax, ops.complex_argmax),
    _position(np.argmin, ops.argmin, ops.complex_argmin),
    count_nonzero,
    _running(np.cumprod, ops.cumprod),
    _running(np.cumsum, ops.cumsum),
    _total(np.prod, ops.reduce_prod, ops.multiply, (ops.reduce_and, ops.and_)),
    ptp,
    _total(np.sum, ops.reduce_sum, ops.add, (ops.reduce_or, ops.or_)),
    *_EXTREMES,
    amax=_EXTREMES[0],
    amin=_EXTREMES[1],
)
