"""Reductions that leave NaN out.

NumPy warns of slices that are all NaN. That depends on data, so it warns when the program runs.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.arrays.conversion import mask_of, operand
from lazytensor.frontends.numpy.functions import reductions, statistics
from lazytensor.frontends.numpy.functions.entry import Function
from lazytensor.frontends.numpy.functions.indices import every
from lazytensor.frontends.numpy.functions.reductions import NO_VALUE, axes_of, flags_of, kept
from lazytensor.frontends.numpy.functions.results import check_target, deliver
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.checks import unwatched, warned
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import canonical, convert, number, recast

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


def _extreme(name: str, filler: float) -> Function:
    """`nanmax` and `nanmin`."""
    plain = reductions.LAZY[name]

    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        node = operand(a)
        if node.type.dtype.kind == "c":
            raise Unsupported(f"nan{name}: complex numbers")
        if node.type.dtype.kind not in "fV":
            return plain(a, axis, out, keepdims, initial, where)
        check_target(out, node.type.dtype)
        axes = axes_of(axis, node.type.ndim)
        refuse_unless(initial is not NO_VALUE or all(node.type.shape[i] != 0 for i in axes))
        top = plain(wrap(_without(node, filler)), axis, None, keepdims, initial, where)
        if initial is not NO_VALUE:
            return deliver(top.node, out)
        none = kept(node, ops.reduce_and(ops.is_nan(node), axes=axes), axes, keepdims)
        made = ops.select(none, number(math.nan, top.dtype), top.node)
        return deliver(warned(made, none, ALL_NAN), out)

    return reduce


def _position(name: str, filler: float) -> Function:
    """`nanargmax` and `nanargmin`."""
    plain = reductions.LAZY[name]

    def reduce(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        node = operand(a)
        if node.type.dtype.kind == "c":
            raise Unsupported(f"nan{name}: complex numbers")
        if node.type.dtype.kind not in "fV":
            return plain(a, axis, out, keepdims=keepdims)
        reductions.check_positions(out)
        found = plain(wrap(_without(node, filler)), axis, keepdims=keepdims)
        numbers = ~ops.is_nan(node)
        some = ops.reduce_or(numbers, axes=axes_of(axis, node.type.ndim))
        fine = ops.guard(every(some), error=ValueError, text=ALL_NAN)
        return deliver(ops.guarded(found.node, fine), out)

    return reduce


def _where_numbers(node: Node, where: Any) -> Node:
    """Where `node` is not NaN and `where` holds."""
    numbers = ~ops.is_nan(node)
    return numbers if where is NO_VALUE or where is True else numbers & mask_of(where)


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> Any:
    """See numpy.nanmean."""
    node = operand(a)
    if not _inexact(node):
        return statistics.mean(a, axis, dtype, out, keepdims, where=where)
    _check_inexact(dtype, out)
    _check_axis(node, axis)
    flags = _where_numbers(node, where)
    flags_of(wrap(flags), node)  # raises if `where` does not fit
    node = node if dtype is None else recast(node, canonical(np.dtype(dtype)))
    check_target(out, node.type.dtype)
    axes = statistics.mean_axes(axis, node.type.ndim)
    keep = reductions.keeps(keepdims)
    made, count = ops.counted_mean(node, flags, axes=axes, keepdims=keep)
    none = ops.equal(count, number(0, S64))
    return deliver(warned(made, none, "Mean of empty slice"), out, "unsafe")


def _check_inexact(dtype: Any, out: Any) -> None:
    refuse_unless(dtype is None or np.issubdtype(np.dtype(dtype), np.inexact))
    refuse_unless(out is None or np.issubdtype(out.dtype, np.inexact))


def _check_axis(node: Node, axis: Any) -> None:
    if axis is not None and not node.type.ndim:
        raise HostOnly("NumPy accepts axis 0 of a number here, unlike in `mean`")


def _spread(root: bool) -> Function:
    """`nanvar` and `nanstd`."""

    def spread(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = NO_VALUE,
        *,
        where: Any = NO_VALUE,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Any:
        node = operand(a)
        if not _inexact(node):
            plain = statistics.LAZY["std" if root else "var"]
            return plain(
                a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction
            )
        _check_inexact(dtype, out)
        _check_axis(node, axis)
        refuse_unless(correction is NO_VALUE or ddof == 0)
        ddof = ddof if correction is NO_VALUE else correction
        flags = _where_numbers(node, where)
        given = wrap(_without(node, 0))
        with unwatched():
            made = statistics.LAZY["var"](
                given, axis, dtype, None, ddof, keepdims, where=wrap(flags), mean=mean
            ).node
        axes = axes_of(axis, node.type.ndim)
        counts = convert(ops.broadcast(flags, shape=node.type.shape), S64)
        counted = ops.reduce_sum(counts, axes=axes)
        free = counted - number(int(real(ddof)), S64)
        bad = kept(node, free, axes, keepdims) <= 0
        made = ops.select(bad, number(math.nan, made.type.dtype), made)
        made = warned(made, bad, "Degrees of freedom <= 0 for slice.")
        return deliver(ops.sqrt(made) if root else made, out)

    return spread


LAZY: dict[str, Function] = {
    "nanargmax": _position("argmax", -math.inf),
    "nanargmin": _position("argmin", math.inf),
    "nancumprod": _replaced("cumprod", 1),
    "nancumsum": _replaced("cumsum", 0),
    "nanmax": _extreme("max", -math.inf),
    "nanmean": nanmean,
    "nanmin": _extreme("min", math.inf),
    "nanprod": _replaced("prod", 1),
    "nanstd": _spread(True),
    "nansum": _replaced("sum", 0),
    "nanvar": _spread(False),
}
