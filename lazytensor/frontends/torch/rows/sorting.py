"""Sorting, and what is found by it: the largest few, medians, modes, places in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib import ranking
from lazytensor.core.lib.numbers import is_inexact, whole
from lazytensor.frontends.torch.dispatch.errors import require, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand, promoted
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of

Pair = tuple[Node, Node]


def ranked(x: Any) -> Node:
    """An operand that is no flags, as torch's kernels for the CPU ask."""
    given: Node = operand(x)
    require(given.type.dtype is not BOOL)
    return given


def _sort(x: Any, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Pair:
    given = operand(x)
    axis = axis_of(dim, given.type.ndim)
    if not given.type.ndim:
        return given, whole(0)
    return ranking.ordered(given, axis, bool(descending))


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    given = ranked(x)
    axis = axis_of(dim, given.type.ndim)
    require(0 <= k <= (given.type.shape[axis] if given.type.ndim else 1))
    if not given.type.ndim:
        return given, whole(0)
    return ranking.first_ordered(given, k, axis, bool(largest))


def _along(row: Callable[[Node, int], Pair]) -> Row:
    """What finds an element of each line, and where it is."""

    def found(x: Any, dim: int = -1, keepdim: bool = False) -> tuple[Node, ...]:
        given = operand(x)
        axis = axis_of(dim, given.type.ndim)
        if not given.type.ndim:
            return given, whole(0)
        require(bool(given.type.shape[axis]))
        value, place = row(given, axis)
        axes = (axis,)
        return tuple(ops.kept(found, given, axes, keepdim) for found in (value, place))

    return found


def _median(skipping: bool) -> Callable[[Node, int], Pair]:
    return lambda x, axis: ranking.lower_median(ranked(x), axis, skipping)


def _of_all(skipping: bool) -> Row:
    def row(x: Any) -> Node:
        given = ranked(x)
        if not given.type.size:
            dtype = given.type.dtype
            return cast_to(float("nan") if is_inexact(dtype) else -(2**63), dtype)
        line = ops.line(given)
        return ranking.lower_median(line, 0, skipping)[0]

    return row


def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    given = ranked(x)
    axis = axis_of(dim, given.type.ndim)
    count = given.type.shape[axis] if given.type.ndim else 1
    require(not count or 1 <= k <= count)
    return _along(lambda x, axis: ranking.kth_smallest(x, k - 1, axis))(x, dim, keepdim)


def _running(op: Op) -> Row:
    def row(x: Any, dim: int) -> Pair:
        given = operand(x)
        axis = axis_of(dim, given.type.ndim)
        if not given.type.ndim:
            return given, whole(0)
        return ranking.running_extreme(op, given, axis)

    return row


def search(line: Node, values: Node, right: bool) -> Node:
    """Where in the lines of `line` the values of the same lines go, in s64."""
    return ops.bisect(line, values, behind="not greater" if right else "not greater or equal")


def _sorted_by(line: Node, sorter: Node) -> Node:
    """The lines in the order that `sorter` says."""
    require(sorter.type.shape == line.type.shape and sorter.type.dtype is S64)
    axis = line.type.ndim - 1
    inside = (sorter >= 0) & (sorter < line.type.shape[axis])
    sorter = sure(sorter, inside, "torch.searchsorted(): sorter index out of range")
    return ops.take_along(line, sorter, axis=axis)


def _searchsorted(
    sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Any = None,
) -> Node:  # fmt: skip
    require(side in (None, "left", "right") and not (side == "left" and right))
    line, given = (ranked(x) for x in promoted(sequence, values))
    require(line.type.ndim > 0)
    if sorter is not None:
        line = _sorted_by(line, operand(sorter))
    shape = given.type.shape
    if line.type.ndim == 1:
        given = ops.line(given)
    else:
        require(bool(shape) and shape[:-1] == line.type.shape[:-1])
    found = search(line, given, right or side == "right")
    return cast_to(ops.reshape(found, shape=shape), S32 if out_int32 else S64)


def _bucketize(x: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Node:
    require(operand(boundaries).type.ndim == 1)
    return _searchsorted(boundaries, x, out_int32=out_int32, right=right)


def _isin(x: Any, values: Any, *, assume_unique: bool = False, invert: bool = False) -> Node:
    """By the core's search, for which NaN is the last: it is in no set."""
    given, among = promoted(x, values)
    found = ranking.is_in(given, among)
    return ~found if invert else found


def _nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Node:
    return ranking.true_places(operand(x), size, fill_value)


ROWS: dict[str, Row] = {
    "topk": _topk,
    "kthvalue": _kthvalue,
    "median": _of_all(False),
    "median.dim": _along(_median(False)),
    "nanmedian": _of_all(True),
    "nanmedian.dim": _along(_median(True)),
    "mode": _along(ranking.mode),
    "cummax": _running(ops.cummax),
    "cummin": _running(ops.cummin),
    "searchsorted.Tensor": _searchsorted,
    "searchsorted.Scalar": _searchsorted,
    "bucketize.Tensor": _bucketize,
    "bucketize.Scalar": _bucketize,
    "isin.Tensor_Tensor": _isin,
    "nonzero_static": _nonzero_static,
}


FOLLOWING: dict[str, Row] = {
    "sort": _sort,
    "sort.stable": lambda x, dim=-1, descending=False, stable=None: _sort(x, dim, descending),
}
"""Results lie as the operand does."""


rows(ROWS)
rows(FOLLOWING, follows=True)
