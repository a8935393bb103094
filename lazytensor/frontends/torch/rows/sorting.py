"""Sorting, and what is found by it: the largest few, medians, modes, places in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.dtypes import BOOL, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import Op
from lazytensor.core.lib import ranking
from lazytensor.core.lib.numbers import is_inexact, whole
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


def _sort(x: Any, dim: int = -1, descending: bool = False, *, stable: Any = None) -> Pair:
    given = operand(x)
    axis = axis_of(dim, given.type.ndim)
    if not given.type.ndim:
        return given, whole(0)
    return ranking.ordered(given, axis, bool(descending))


def _topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Pair:
    given = ranked(x)
    axis = axis_of(dim, given.type.ndim)
    if not 0 <= k <= (given.type.shape[axis] if given.type.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if not given.type.ndim:
        return given, whole(0)
    return ranking.first_ordered(given, k, axis, bool(largest))


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


def _median(skipping: bool) -> Callable[[Node, int], Pair]:
    return lambda x, axis: ranking.lower_median(ranked(x), axis, skipping)


def _of_all(skipping: bool) -> Row:
    def row(x: Any) -> Node:
        given = ranked(x)
        if not given.type.size:
            dtype = given.type.dtype
            return cast_to(float("nan") if is_inexact(dtype) else -(2**63), dtype)
        line = ops.reshape(given, shape=(given.type.size,))
        return ranking.lower_median(line, 0, skipping)[0]

    return row


def _kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Pair:
    given = ranked(x)
    axis = axis_of(dim, given.type.ndim)
    count = given.type.shape[axis] if given.type.ndim else 1
    if count and not 1 <= k <= count:
        raise RuntimeError("kthvalue(): selected number k out of range for dimension " + str(axis))

    return _along(lambda x, axis: ranking.kth_smallest(x, k - 1, axis), "kthvalue")(x, dim, keepdim)


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
    found = ranking.is_in(given, among)
    return ~found if invert else found


def _nonzero_static(x: Any, *, size: int, fill_value: int = -1) -> Node:
    return ranking.true_places(operand(x), size, fill_value)


ROWS: dict[str, Row] = {
    "topk": _topk,
    "kthvalue": _kthvalue,
    "median": _of_all(False),
    "median.dim": _along(_median(False), "median"),
    "nanmedian": _of_all(True),
    "nanmedian.dim": _along(_median(True), "median"),
    "mode": _along(ranking.mode, "mode"),
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
