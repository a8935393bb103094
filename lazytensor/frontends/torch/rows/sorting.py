"""Sorting, and what is found by it: the largest few, medians, modes, places in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib.numbers import is_inexact, whole
from lazytensor.core.ops.movement import part
from lazytensor.frontends.torch.dispatch.errors import dtype_name, sure
from lazytensor.frontends.torch.dispatch.kernels import rows
from lazytensor.frontends.torch.dispatch.promotion import cast_to, operand, promoted
from lazytensor.frontends.torch.dispatch.registry import Row
from lazytensor.frontends.torch.tensors.strides import axis_of
from lazytensor.frontends.torch.tensors.tensor import TORCH

Pair = tuple[Node, Node]


def ranked(x: Any) -> Node:
    """An operand that is no flags, as torch's kernels for the CPU ask."""
    given: Node = operand(x)
    if given.type.dtype is BOOL:
        raise DTypeError(f"numbers in an order were expected, got {given.type}")
    return given


def places_along(x: Node, axis: int) -> Node:
    """For each element where it is on `axis`."""
    return ops.iota(dtype=S64, shape=x.type.shape, axis=axis)


def ordered(x: Node, axis: int, descending: bool = False) -> Pair:
    """The elements in order, equal ones as they were, and where they were."""
    values, places = ops.sort(x, places_along(x, axis), axis=axis, descending=descending)
    return values, places


def _sort(x: Any, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Pair:
    given = operand(x)
    axis = axis_of(dim, given.type.ndim)
    if not given.type.ndim:
        return given, whole(0)
    return ordered(given, axis, bool(descending))


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    given = ranked(x)
    axis = axis_of(dim, given.type.ndim)
    if not 0 <= k <= (given.type.shape[axis] if given.type.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if not given.type.ndim:
        return given, whole(0)
    values, places = ordered(given, axis, bool(largest))
    return part(values, axis, 0, k), part(places, axis, 0, k)


def _along(row: Callable[[Node, int], Pair], name: str) -> Row:
    """What finds an element of each line, and where it is."""

    def found(x: Any, dim: int = -1, keepdim: bool = False) -> tuple[Node, ...]:
        given = operand(x)
        axis = axis_of(dim, given.type.ndim)
        if not given.type.ndim:
            return given, whole(0)
        if not given.type.shape[axis]:
            raise IndexError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
        value, place = row(given, axis)
        axes = (axis,)
        return tuple(ops.kept(found, given, axes, keepdim) for found in (value, place))

    return found


def _without(x: Node, axis: int) -> Node:
    shape = (*x.type.shape[:axis], *x.type.shape[axis + 1 :])
    return ops.reshape(x, shape=shape)


def _at(values: Node, places: Node, axis: int, k: Node) -> Pair:
    """Number `k` of each line, which is data."""
    return tuple(_without(ops.take_along(x, k, axis=axis), axis) for x in (values, places))  # type: ignore[return-value]


def _nans(x: Node, axis: int) -> Node:
    flags = cast_to(ops.is_nan(x), S64)
    shape = tuple(1 if i == axis else n for i, n in enumerate(x.type.shape))
    return ops.reshape(ops.reduce_sum(flags, axes=(axis,)), shape=shape)


def _median(skipping: bool) -> Callable[[Node, int], Pair]:
    """The lower median: NaN where there is one, unless it is to be skipped."""

    def row(x: Node, axis: int) -> Pair:
        values, places = ordered(ranked(x), axis)
        n = x.type.shape[axis]
        if not is_inexact(x.type.dtype):
            middle = part(values, axis, (n - 1) // 2, 1), part(places, axis, (n - 1) // 2, 1)
            return _without(middle[0], axis), _without(middle[1], axis)
        missing = _nans(x, axis)
        counted = n - missing  # NaNs are last in order
        k = ops.maximum(counted - 1, whole(0)) / 2
        if not skipping:
            k = ops.select(ops.equal(missing, whole(0)), k, counted)
        return _at(values, places, axis, k)

    return row


def _of_all(skipping: bool) -> Row:
    def row(x: Any) -> Node:
        given = ranked(x)
        if not given.type.size:
            dtype = given.type.dtype
            return cast_to(float("nan") if is_inexact(dtype) else -(2**63), dtype)
        line = ops.reshape(given, shape=(given.type.size,))
        return _median(skipping)(line, 0)[0]

    return row


def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    given = ranked(x)
    axis = axis_of(dim, given.type.ndim)
    count = given.type.shape[axis] if given.type.ndim else 1
    if count and not 1 <= k <= count:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(axis))

    def row(x: Node, axis: int) -> Pair:
        values, places = ordered(x, axis)
        return _without(part(values, axis, k - 1, 1), axis), _without(
            part(places, axis, k - 1, 1), axis
        )

    return _along(row, "kthvalue")(x, dim, keepdim)


def _mode(x: Node, axis: int) -> Pair:
    """The most frequent element, the least of several, and the last of its places."""
    values, places = ordered(x, axis)
    n = x.type.shape[axis]
    at = places_along(x, axis)
    if n > 1:
        first = part(at, axis, 0, 1)
        differ = ops.not_equal(part(values, axis, 1, n - 1), part(values, axis, 0, n - 1))
        begins = ops.select(differ, part(at, axis, 1, n - 1), whole(0))
        start = ops.cummax(ops.concatenate(first, begins, axis=axis), axis=axis)
        often = at - start
    else:
        often = at
    best = ops.argmax(often, axis=axis)
    shape = tuple(1 if i == axis else m for i, m in enumerate(x.type.shape))
    return _at(values, places, axis, ops.reshape(best, shape=shape))


def _running(op: Op) -> Row:
    """The running extreme and its last place so far."""

    def row(x: Any, dim: int) -> Pair:
        given = operand(x)
        axis = axis_of(dim, given.type.ndim)
        if not given.type.ndim:
            return given, whole(0)
        made = op(given, axis=axis)
        here = ops.equal(given, made)
        if is_inexact(given.type.dtype):
            here = here | ops.is_nan(given)
        places = ops.select(here, places_along(given, axis), whole(0))
        return made, ops.cummax(places, axis=axis)

    return row


def search(line: Node, values: Node, right: bool) -> Node:
    """Where in the lines of `line` the values of the same lines go, in s64."""
    return ops.bisect(line, values, behind="not greater" if right else "not greater or equal")


def _sorted_by(line: Node, sorter: Node) -> Node:
    """The lines in the order that `sorter` says. Raises: RuntimeError, torch's."""
    if sorter.type.shape != line.type.shape:
        shapes = list(line.type.shape), list(sorter.type.shape)
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {shapes[0]}and got sorter tensor {shapes[1]}"
        )
    if sorter.type.dtype is not S64:
        raise RuntimeError(
            "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
            + dtype_name(TORCH[sorter.type.dtype])
        )
    axis = line.type.ndim - 1
    inside = (sorter >= 0) & (sorter < line.type.shape[axis])
    sorter = sure(sorter, inside, "torch.searchsorted(): sorter index out of range")
    return ops.take_along(line, sorter, axis=axis)


def _searchsorted(
    sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Any = None,
) -> Node:  # fmt: skip
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    if side not in (None, "left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    line, given = (ranked(x) for x in promoted(sequence, values))
    if not line.type.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 "
            "dimension"
        )
    if sorter is not None:
        line = _sorted_by(line, operand(sorter))
    shape = given.type.shape
    if line.type.ndim == 1:
        given = ops.reshape(given, shape=(given.type.size,))
    elif not shape:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({line.type.ndim}) and input "
            "value's dim(0) numel(1)"
        )
    elif shape[:-1] != line.type.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {list(line.type.shape)} and input value tensor {list(shape)}"
        )
    found = search(line, given, right or side == "right")
    return cast_to(ops.reshape(found, shape=shape), S32 if out_int32 else S64)


def _bucketize(x: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Node:
    ndim = operand(boundaries).type.ndim
    if ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({ndim})")
    return _searchsorted(boundaries, x, out_int32=out_int32, right=right)


def _isin(x: Any, values: Any, *, assume_unique: bool = False, invert: bool = False) -> Node:
    """By the core's search, for which NaN is the last: it is in no set."""
    given, among = promoted(x, values)
    n = among.type.size
    if not n:
        return ops.broadcast(cast_to(invert, BOOL), shape=given.type.shape)
    line = ops.sort(ops.reshape(among, shape=(n,)), axis=0)
    at = ops.searchsorted(line, given, side="left")
    nearest = ops.gather(line, ops.minimum(at, whole(n - 1)), axes=(0,))
    return (ops.not_equal if invert else ops.equal)(nearest, given)


def _nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Node:
    given = operand(x)
    shape = given.type.shape
    flags = cast_to(ops.reshape(given, shape=(given.type.size,)), BOOL)
    count = ops.cumsum(cast_to(flags, S64), axis=0)
    wanted = ops.iota(dtype=S64, shape=(size,), axis=0)
    place = search(count, wanted + 1, False)
    there = place < whole(given.type.size)
    columns, rest = [], place
    for n in reversed(shape):
        columns.append(ops.remainder(rest, whole(max(n, 1))))
        rest = rest / whole(max(n, 1))
    if not columns:
        return ops.broadcast(whole(fill_value), shape=(size, 0))
    lines = [
        ops.reshape(ops.select(there, c, whole(fill_value)), shape=(size, 1))
        for c in reversed(columns)
    ]
    return ops.concatenate(*lines, axis=1)


ROWS: dict[str, Row] = {
    "topk": _topk,
    "kthvalue": _kthvalue,
    "median": _of_all(False),
    "median.dim": _along(_median(False), "median"),
    "nanmedian": _of_all(True),
    "nanmedian.dim": _along(_median(True), "median"),
    "mode": _along(_mode, "mode"),
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
