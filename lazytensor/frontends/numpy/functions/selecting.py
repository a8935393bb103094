"""Functions that choose elements."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.lib import NumpyVersion

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, scalar
from lazytensor.core.lib.arranging import picked, taken
from lazytensor.frontends.numpy.arrays.array import Lazy, lazy, wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import asarray, operand, result_type
from lazytensor.frontends.numpy.arrays.layout import lay_out
from lazytensor.frontends.numpy.functions import reductions
from lazytensor.frontends.numpy.functions.indices import every, within
from lazytensor.frontends.numpy.functions.results import check_cast, deliver
from lazytensor.frontends.numpy.functions.signatures import NO_VALUE, Function, along, named
from lazytensor.frontends.numpy.functions.views import diagonal
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.host.small import entered
from lazytensor.frontends.numpy.indexing.assignment import settled
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import convert, number, recast


def where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """See numpy.where."""
    if x is NO_VALUE and y is NO_VALUE:
        return nonzero(condition)
    refuse_unless(x is not NO_VALUE and y is not NO_VALUE)
    if x is None or y is None:
        raise HostOnly("None is an object")
    dtype = result_type(x, y)
    left, right = _side(x, dtype), _side(y, dtype)
    made = wrap(ops.select(convert(operand(condition), BOOL), left, right))
    lay_out(made, condition, x, y)
    return made


_IS_NEW: Final = NumpyVersion(np.__version__) >= "2.5.0"
"""NumPy's `where` refuses Python integers that the result's dtype cannot hold; its `take` gives
results of any dtype."""


def _side(x: Any, dtype: np.dtype) -> Node:
    """One of the two that `where` chooses from. Raises: OverflowError."""
    if type(x) is int:
        if _IS_NEW:
            number(x, dtype)  # raises
        if not -(2**63) <= x < 2**63:  # beyond int64
            with np.errstate(over="ignore"):
                return leaf(np.asarray(x).astype(dtype))
    return settled(convert(operand(x), dtype))


def nonzero(a: Any) -> Any:
    """See numpy.nonzero. It is computed now, as the result's shape depends on data."""
    return entered(np.nonzero(real(asarray(a))))


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """See numpy.take."""
    given = indices if lazy(indices) else np.asarray(indices)
    if given.size and given.dtype.kind not in "iub":
        raise HostOnly("numbers that are no integers: NumPy takes some of them")
    indices = given if given.size else indices
    node, place = along(a, axis, least=1)
    n = node.type.shape[place]
    before, after = math.prod(node.type.shape[:place]), math.prod(node.type.shape[place + 1 :])
    places = within(indices, n, mode if before else "clip")  # of nothing, no index is checked
    if not node.type.size:
        refuse_unless(not before or not after or not places.type.size)
        shape = (*node.type.shape[:place], *places.type.shape, *node.type.shape[place + 1 :])
        return _put(ops.broadcast(scalar(0, node.type.dtype), shape=shape), out)
    if isinstance(places.value, np.ndarray) and places.type.ndim == 1 and node.value is None:
        return _put(picked(node, places.value, place), out)
    return _put(taken(node, places, place), out)


def _put(node: Node, out: Any) -> Any:
    """The result of `take`. NumPy first converts `out` to the operand's dtype."""
    if out is None:
        return wrap_result(node)
    if isinstance(out, Lazy | np.ndarray) and out.shape == node.type.shape:
        if not _IS_NEW:
            check_cast(out.dtype, node.type.dtype, "safe")
        elif out.dtype.kind == "c":
            recast(scalar(0, out.dtype), node.type.dtype)  # warns
    return deliver(node, out, "unsafe")


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """See numpy.take_along_axis."""
    node, places, place = lines(arr, indices, axis)
    return wrap_result(ops.take_along(node, places, axis=place))


def lines(arr: Any, indices: Any, axis: Any) -> tuple[Node, Node, int]:
    array = asarray(indices)
    refuse_unless(array.dtype.kind in "iu" and (axis is not None or array.ndim == 1))
    node, place = along(arr, axis)
    refuse_unless(array.ndim == node.type.ndim)
    return node, within(array, node.type.shape[place]), place


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """See numpy.choose."""
    index = operand(a)
    refuse_unless(index.type.ndim <= 32 and len(choices) <= 63)
    options = _options(choices)
    shape = np.broadcast_shapes(index.type.shape, *(node.type.shape for node in options))
    refuse_unless(out is None or np.shape(out) == shape)
    text = "invalid entry in choice array"
    value = asarray(a)
    refuse_unless(mode != "raise" or index.type.dtype.kind in "iub")
    if mode == "raise":
        positive = every(convert(index, S64) >= 0)
        low = ops.guard(positive, error=ValueError, text=text)
        index = ops.guarded(within(value, len(options), "raise", text, ValueError), low)
    else:
        index = within(value, len(options), mode)
    made = ops.broadcast(options[0], shape=shape)
    for k, option in enumerate(options[1:], 1):
        made = ops.select(ops.equal(index, scalar(k, S64)), option, made)
    return deliver(made, out, "unsafe")


def _options(choices: Any) -> list[Node]:
    """The choices in one dtype, in which Python's numbers wrap around."""
    dtype = result_type(*choices)
    return [convert(operand(x), dtype) for x in choices]


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """See numpy.compress. The result's length depends on data; its cut is put off if possible."""
    refuse_unless(np.ndim(condition) == 1)
    array = asarray(a)
    array = array.ravel() if axis is None else array
    if lazy(condition) and out is None and axis in (None, 0) and array.shape[:1] == condition.shape:
        return array[condition.astype(bool)]
    return take(a, np.flatnonzero(real(condition)), axis, out)


def extract(condition: Any, arr: Any) -> Any:
    """See numpy.extract. The result's length depends on data; its cut is put off if possible."""
    array = asarray(arr)
    if lazy(condition) and condition.size == array.size:
        return array.ravel()[condition.astype(bool).ravel()]
    return take(arr, np.flatnonzero(real(condition)))


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """See numpy.trace."""
    return reductions.LAZY["sum"](diagonal(a, offset, axis1, axis2), -1, dtype, out)


LAZY: dict[str, Function] = named(
    choose, compress, extract, nonzero, take, take_along_axis, trace, where
)


def compress_method(self: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return compress(condition, self, axis, out)


def choose_method(self: Any, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
    return choose(self, choices[0] if len(choices) == 1 else choices, out, mode)
