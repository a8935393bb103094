"""Sorting, searching and membership."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazytensor.core import ops
from lazytensor.core.errors import Unsupported
from lazytensor.core.ir.dtypes import S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar, starts
from lazytensor.frontends.numpy.arrays.array import wrap, wrap_result
from lazytensor.frontends.numpy.arrays.conversion import asarray, common, operand
from lazytensor.frontends.numpy.arrays.layout import lay_out_like
from lazytensor.frontends.numpy.functions.indices import every, known, within
from lazytensor.frontends.numpy.functions.signatures import Function, Given, along, like, named
from lazytensor.frontends.numpy.host.fallback import real
from lazytensor.frontends.numpy.ufuncs.errors import HostOnly, refuse_unless
from lazytensor.frontends.numpy.ufuncs.promotion import PYTHON_NUMBERS, convert

_SORT_KINDS = {None, "q", "quicksort", "m", "mergesort", "h", "heapsort", "s", "stable"}


def _places_line(a: Any, axis: Any) -> tuple[Node, int]:
    """`along` for `argsort`, which accepts a single number, unlike `sort`."""
    return along(a if axis is None or np.ndim(a) else [a], axis)


def _check(kind: Any, order: Any, stable: Any) -> None:
    refuse_unless(order is None and (kind is None or stable is None) and kind in _SORT_KINDS)


def _keys(node: Node) -> list[Node]:
    """The sort keys. For complex numbers: which parts are NaN, then both parts."""
    if node.type.dtype.kind != "c":
        return [node]
    re, im = ops.real(node), ops.imag(node)
    two = scalar(2, S64)
    missing = convert(ops.is_nan(re), S64) * two + convert(ops.is_nan(im), S64)
    return [missing, re, im]


def sorted_along(node: Node, axis: Any) -> Node:
    """The elements of `node` sorted along an axis. Raises: AxisError."""
    place = normalize_axis_index(operator.index(axis), node.type.ndim)
    keys = _keys(node)
    if len(keys) == 1:
        made: Node = ops.sort(node, axis=place)
        return made
    _, re, im = ops.sort(*keys, axis=place, keys=len(keys))
    return ops.complex_(re, im)


def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """See numpy.sort."""
    node, place = along(a, axis)
    _check(kind, order, stable)
    made = wrap(sorted_along(node, place))
    if made.ndim > 1:
        lay_out_like(made, a)
    return made


def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    """See numpy.argsort."""
    node, place = _places_line(a, axis)
    _check(kind, order, stable)
    return wrap(_order(_keys(node), place))


def _order(keys: list[Node], axis: int) -> Node:
    if len(keys) == 1:
        return ops.argsort(keys[0], axis=axis)
    places = ops.iota(dtype=S64, shape=keys[0].type.shape, axis=axis)
    found: Node = ops.sort(*keys, places, axis=axis, keys=len(keys))[-1]
    return found


def lexsort(keys: Any, axis: Any = -1) -> Any:
    """See numpy.lexsort."""
    given = [operand(key) for key in keys]
    refuse_unless(given)
    refuse_unless(len({key.type.shape for key in given}) <= 1)
    if not given[0].type.ndim:
        return wrap_result(scalar(0, S64))
    place = normalize_axis_index(operator.index(axis), given[0].type.ndim)
    return wrap(_order([part for key in given[::-1] for part in _keys(key)], place))


def _check_kth(kth: Any, n: int, kind: Any, order: Any) -> None:
    places = np.asarray(real(kth))
    refuse_unless(places.dtype.kind in "iu" and kind == "introselect" and order is None)
    if n and ((places < -n) | (places >= n)).any():
        bad = places[(places < -n) | (places >= n)].flat[0]
        raise ValueError(f"kth(={bad}) out of bounds ({n})")


def _partitioned(line: Function, sort: Function) -> Function:
    """`partition` and `argpartition`. A sorted array is a valid result."""

    def partition(
        a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
    ) -> Any:
        node, place = line(a, axis)
        _check_kth(kth, node.type.size and node.type.shape[place], kind, order)
        return sort(wrap(node), place)

    return partition


partition, argpartition = _partitioned(along, sort), _partitioned(_places_line, argsort)


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """See numpy.searchsorted."""
    line, values = common(a, np.asarray(v) if type(v) in PYTHON_NUMBERS else v)
    refuse_unless(line.type.ndim == 1 and side in ("left", "right"))
    if line.type.dtype.kind == "c":
        raise Unsupported("searchsorted: complex numbers")
    if sorter is not None:
        order = asarray(sorter)
        refuse_unless(order.dtype.kind in "iu")
        refuse_unless(order.shape == line.type.shape)
        places = within(order, line.type.size, text="Sorter index out of range.", error=ValueError)
        line = ops.gather(line, places, axes=(0,))
    return wrap_result(ops.searchsorted(line, values, side=side))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """See numpy.digitize."""
    values, edges = operand(x), operand(bins)
    refuse_unless(values.type.dtype.kind != "c")
    side = "left" if right else "right"
    refuse_unless(edges.type.ndim == 1)
    value = known(bins)
    size = edges.type.size
    if value is not None and np.digitize(0, value) is not None and _rises(value):
        return searchsorted(bins, x, side)
    if value is not None:
        count = searchsorted(np.ascontiguousarray(value[::-1]), x, side).node
        return wrap_result(size - count)
    return _digitized(values, edges, side)


def _rises(edges: np.ndarray) -> bool:
    """Whether the first two that differ rise, as in NumPy: the last may be NaN."""
    others = edges[1:][edges[1:] != edges[:1]]
    return not others.size or bool(edges[0] < others[0])


def _digitized(values: Node, edges: Node, side: str) -> Any:
    """`digitize` for unknown bins, which may rise or fall. A guard raises if they do neither."""
    n = max(edges.type.size - 1, 0)
    firsts = (0, edges.type.size - n)
    low, high = (ops.slice(edges, starts((i,)), sizes=(n,), strides=(1,)) for i in firsts)
    rises = every(~(low > high))
    falls = every(~(low < high))
    text = "bins must be monotonically increasing or decreasing"
    fine = ops.guard(rises | falls, error=ValueError, text=text)
    up = searchsorted(wrap(edges), wrap(values), side).node
    back = searchsorted(wrap(ops.reverse(edges, axes=(0,))), wrap(values), side).node
    down = edges.type.size - back
    return wrap_result(ops.guarded(ops.select(rises, up, down), fine))


FEW = 10
"""Most test elements that are compared one by one instead of by binary search."""


@like(np.isin)
def isin(given: Given) -> Any:
    """See numpy.isin."""
    if given.kind not in (None, "sort"):
        raise HostOnly("the size of a table of a set's elements is data")
    values, tests = common(given.element, given.test_elements)
    tests = ops.line(tests)
    shape, n = values.type.shape, tests.type.size
    flat = ops.line(values)
    if n <= FEW or flat.type.dtype.kind == "c":
        column = ops.reshape(flat, shape=(flat.type.size, 1))
        found = ops.reduce_or(ops.equal(column, tests), axes=(1,))
    else:
        line = ops.sort(tests, axis=0)
        places = ops.minimum(ops.searchsorted(line, flat, side="left"), scalar(n - 1, S64))
        found = ops.equal(ops.gather(line, places, axes=(0,)), flat)
    made = ops.reshape(found, shape=shape)
    return wrap(~made if given.invert else made)


LAZY: dict[str, Function] = named(
    argsort, digitize, isin, lexsort, searchsorted, sort, argpartition=argpartition,
    partition=partition,
)  # fmt: skip
