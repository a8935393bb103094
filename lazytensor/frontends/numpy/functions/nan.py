"""Reductions that leave NaN out.

NumPy warns of slices that are all NaN. That depends on data, so it warns when the program runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import mask_of, operand
from lazytensor.frontends.numpy.functions import reductions, statistics
from lazytensor.frontends.numpy.functions.indices import every
from lazytensor.frontends.numpy.functions.reductions import axes_of, flags_of, kept
from lazytensor.frontends.numpy.functions.results import check_target, deliver
from lazytensor.frontends.numpy.functions.signatures import (
    NO_VALUE,
    Function,
    Given,
    like,
    named,
)
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.checks import unwatched, warned
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, number, recast

Reduction = Callable[[Given, Node, Callable[[], Any]], Any]
ALL_NAN: Final = "All-NaN slice encountered"


def _inexact(node: Node) -> bool:
    return node.type.dtype.kind in "fcV"


def _without(node: Node, filler: Any) -> Node:
    """`node` with `filler` for NaN."""
    return ops.select(ops.is_nan(node), number(filler, node.type.dtype), node)


def _replaced(name: str, filler: float) -> Function:
    """The function `name` of an array with `filler` for NaN."""
    plain = reductions.LAZY[name]

    def reduce(a: Any, *args: Any, **kwargs: Any) -> Any:
        node = operand(a)
        return plain(wrap(_without(node, filler)) if _inexact(node) else a, *args, **kwargs)

    return reduce


def _of_floats(name: str, filler: float, function: Reduction) -> Function:
    """The counterpart of `nan…`: `function` for floats, `name` for others.

    `function` gets the call's arguments, the operand's node, and what computes `name` with `filler`
    for NaN.
    """
    plain = reductions.LAZY[name]

    @like(getattr(np, f"nan{name}"))
    def reduce(given: Given) -> Any:
        node = operand(given.a)
        if node.type.dtype.kind == "c":
            raise Unsupported(f"nan{name}: complex numbers")
        if node.type.dtype.kind not in "fV":
            return plain(**vars(given))
        found = {**vars(given), "a": wrap(_without(node, filler)), "out": None}
        return function(given, node, lambda: plain(**found))

    return reduce


def _extreme(given: Given, node: Node, plain: Callable[[], Any]) -> Any:
    """`nanmax` and `nanmin`."""
    check_target(given.out, node.type.dtype)
    axes = axes_of(given.axis, node.type.ndim)
    has_initial = given.initial is not NO_VALUE
    refuse_unless(has_initial or all(node.type.shape[i] != 0 for i in axes))
    top = plain().node
    if has_initial:
        return deliver(top, given.out)
    none = kept(node, ops.reduce_and(ops.is_nan(node), axes=axes), axes, given.keepdims)
    made = ops.select(none, number(math.nan, top.type.dtype), top)
    return deliver(warned(made, none, ALL_NAN), given.out)


def _position(given: Given, node: Node, plain: Callable[[], Any]) -> Any:
    """`nanargmax` and `nanargmin`."""
    reductions.check_positions(given.out)
    found = plain().node
    some = ops.reduce_or(~ops.is_nan(node), axes=axes_of(given.axis, node.type.ndim))
    fine = ops.guard(every(some), error=ValueError, text=ALL_NAN)
    return deliver(ops.guarded(found, fine), given.out)


def _where_numbers(node: Node, where: Any) -> Node:
    """Where `node` is not NaN and `where` holds."""
    numbers = ~ops.is_nan(node)
    return numbers if where is NO_VALUE or where is True else numbers & mask_of(where)


@like(np.nanmean)
def nanmean(given: Given) -> Any:
    """See numpy.nanmean."""
    node = operand(given.a)
    if not _inexact(node):
        return statistics.mean(**vars(given))
    _check_inexact(node, given)
    flags = _where_numbers(node, given.where)
    flags_of(wrap(flags), node)  # raises if `where` does not fit
    node = node if given.dtype is None else recast(node, canonical(np.dtype(given.dtype)))
    check_target(given.out, node.type.dtype)
    axes = statistics.mean_axes(given.axis, node.type.ndim)
    keep = reductions.keeps(given.keepdims)
    made, count = ops.counted_mean(node, flags, axes=axes, keepdims=keep)
    none = ops.equal(count, number(0, S64))
    return deliver(warned(made, none, "Mean of empty slice"), given.out, "unsafe")


def _check_inexact(node: Node, given: Given) -> None:
    """Leave a call to NumPy whose `dtype` or `out` is of whole numbers, or with an axis of none."""
    refuse_unless(given.dtype is None or np.issubdtype(np.dtype(given.dtype), np.inexact))
    refuse_unless(given.out is None or np.issubdtype(given.out.dtype, np.inexact))
    if given.axis is not None and not node.type.ndim:
        raise HostOnly("NumPy accepts axis 0 of a number here, unlike in `mean`")


def _spread(real_function: Function, plain: Function) -> Function:
    """`nanvar` and `nanstd`."""

    @like(real_function)
    def spread(given: Given) -> Any:
        node = operand(given.a)
        if not _inexact(node):
            return plain(**vars(given))
        _check_inexact(node, given)
        ddof = statistics.freedom(given)
        flags = _where_numbers(node, given.where)
        numbers = {"a": wrap(_without(node, 0)), "where": wrap(flags), "out": None}
        with unwatched():
            made = statistics.LAZY["var"](**{**vars(given), **numbers}).node
        axes = axes_of(given.axis, node.type.ndim)
        counts = convert(ops.broadcast(flags, shape=node.type.shape), S64)
        counted = ops.reduce_sum(counts, axes=axes)
        free = counted - number(int(real(ddof)), S64)
        bad = kept(node, free, axes, given.keepdims) <= 0
        made = ops.select(bad, number(math.nan, made.type.dtype), made)
        made = warned(made, bad, "Degrees of freedom <= 0 for slice.")
        return deliver(ops.sqrt(made) if real_function is np.nanstd else made, given.out)

    return spread


LAZY: dict[str, Function] = named(
    _of_floats("argmax", -math.inf, _position),
    _of_floats("argmin", math.inf, _position),
    _of_floats("max", -math.inf, _extreme),
    _of_floats("min", math.inf, _extreme),
    nanmean,
    _spread(np.nanstd, statistics.LAZY["std"]),
    _spread(np.nanvar, statistics.LAZY["var"]),
    nancumprod=_replaced("cumprod", 1),
    nancumsum=_replaced("cumsum", 0),
    nanprod=_replaced("prod", 1),
    nansum=_replaced("sum", 0),
)
