"""Functions of neighbours: differences, gradients, interpolation."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.buffers.cell import Cell
from lazytensor.core.ir.dtypes import C128, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.signal import central_slopes, interpolated_line
from lazytensor.frontends.numpy.arrays.array import ndarray, wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import common, operand
from lazytensor.frontends.numpy.functions.indices import known
from lazytensor.frontends.numpy.functions.joining import joined
from lazytensor.frontends.numpy.functions.rebound import rebound
from lazytensor.frontends.numpy.functions.reductions import axes_of
from lazytensor.frontends.numpy.functions.signatures import NO_VALUE, named
from lazytensor.frontends.numpy.host.access_counters import value_of
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.host.parts import at_hand
from lazytensor.frontends.numpy.host.small import all_stay, is_small
from lazytensor.frontends.numpy.ufuncs.checks import check
from lazytensor.frontends.numpy.ufuncs.errors import refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, convert, number

_gradient_of_numpy = rebound("gradient")


def part(node: Node, axis: int, start: int, stop: int) -> Node:
    """The elements from `start` up to `stop` along an axis."""
    return ops.part(node, axis, start, stop - start)


def diff(
    a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Any:
    """See numpy.diff."""
    if n == 0:
        return a
    refuse_unless(n >= 0)
    node = operand(a)
    refuse_unless(node.type.ndim)
    place = normalize_axis_index(operator.index(axis), node.type.ndim)
    ends = [_end(x, node, place) for x in (prepend, append)]
    parts = [x for x in (ends[0], node, ends[1]) if x is not None]
    if len(parts) > 1:
        node = joined(parts, place).node
    op = ops.xor if node.type.dtype.kind == "b" else ops.subtract
    for _ in range(operator.index(n)):
        size = node.type.shape[place]
        if not size:
            break
        pair = part(node, place, 1, size), part(node, place, 0, size - 1)
        node = op(*pair)
        check("subtract", pair, node)
    return wrap(node)


def _end(x: Any, node: Node, axis: int) -> Node | None:
    if x is NO_VALUE:
        return None
    given = operand(x)
    if given.type.ndim:
        return given
    shape = node.type.shape
    return ops.broadcast(given, shape=(*shape[:axis], 1, *shape[axis + 1 :]))


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """See numpy.gradient."""
    node = operand(f)
    scalars = all(np.ndim(x) == 0 for x in varargs)
    axes = axes_of(axis if not isinstance(axis, list) else tuple(axis), node.type.ndim)
    short = any(node.type.shape[i] < 2 for i in axes)
    fits = len(varargs) in (0, 1, len(axes))
    if not scalars or edge_order != 1 or short or not fits or node.type.dtype.kind == "b":
        # NumPy checks whether the distances are equal, which cuts the graph unless they are known.
        return _gradient_of_numpy(f, *map(_seen, varargs), axis=axis, edge_order=edge_order)
    if node.type.dtype.kind in "iu":
        node = convert(node, F64)
    distances = varargs if len(varargs) == len(axes) else (varargs or (1.0,)) * len(axes)
    made = tuple(wrap(_slope(node, dx, place)) for dx, place in zip(distances, axes, strict=True))
    return made[0] if len(made) == 1 else made


def _seen(x: Any) -> Any:
    """`x` as a real array or scalar if the host has its values. Python's numbers stay weak."""
    value = None if type(x) in PYTHON_NUMBERS else known(x)
    return x if value is None else value[()]


def _slope(node: Node, dx: Any, axis: int) -> Node:
    """Central differences, one-sided ones at both ends."""
    dtype = node.type.dtype
    plain = type(dx) in (int, float)
    one = number(dx, dtype) if plain else convert(operand(dx), dtype)
    two = number(2.0 * dx, dtype) if plain else one + one
    return central_slopes(node, one, two, axis)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """See numpy.interp."""
    if is_small(x) and all_stay((left, right, period)):  # reads few elements of long lines
        for line in (xp, fp):
            if type(line) is ndarray and type(line.ref) is Cell:
                value_of(line.ref, 1)  # computes it now, if such reads pay for that by now
        given = at_hand((xp, fp))
        if given is not None:
            return np.interp(x, given[0], given[1], left, right, period)
    if period is None:
        return _interpolated(x, xp, fp, left, right)
    return _interp_of_numpy(x, xp, fp, left, right, real(period))


def _safely(x: Any) -> Node:
    """`x` as float64. Raises: Refused for complex numbers."""
    node = operand(x)
    refuse_unless(node.type.dtype.kind != "c")
    return convert(node, F64)


def _interpolated(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """`interp` without a period."""
    values, line, given = operand(fp), _safely(xp), _safely(x)
    refuse_unless(line.type.ndim == 1 and values.type.ndim == 1)
    size = line.type.size
    refuse_unless(size)
    refuse_unless(size == values.type.size)
    low = part(values, 0, 0, 1) if left is None else operand(left)
    high = part(values, 0, size - 1, size) if right is None else operand(right)
    kind = C128 if values.type.dtype.kind == "c" else F64
    values, low, high = (convert(node, kind) for node in (values, low, high))
    return wrap_result(interpolated_line(given, line, values, low, high))


_interp_of_numpy = rebound(
    "interp", compiled_interp=_interpolated, compiled_interp_complex=_interpolated
)


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """See numpy.isclose."""
    x, y = common(a, b)
    if x.type.dtype.kind in "biu":
        x, y = convert(x, F64), convert(y, F64)
    plain = type(rtol) in (int, float) and type(atol) in (int, float)
    if not plain or x.type.dtype.kind not in "fV":
        return _isclose_of_numpy(a, b, rtol, atol, equal_nan)
    limits = (number(limit, x.type.dtype) for limit in (rtol, atol))
    return wrap_result(ops.is_close(x, y, *limits, equal_nan=bool(equal_nan)))


_isclose_of_numpy = rebound("isclose")

LAZY = named(diff, gradient, interp, isclose)
