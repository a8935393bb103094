"""Sorting and searching. NaN sorts after every number, as in NumPy."""

from __future__ import annotations

from lazytensor.core.errors import ShapeError
from lazytensor.core.ir.dtypes import ORDERED, S64, STORED
from lazytensor.core.ir.op import check_dtype, primitive, variadic
from lazytensor.core.ir.shapes import check_axes
from lazytensor.core.ir.types import ResultType, TensorType, tensor_type


@variadic
def sort(*xs: TensorType, axis: int, keys: int = 1, descending: bool = False) -> ResultType:
    """Its operands, reordered together along `axis` by the first `keys` of them.

    xs: at least `keys`, of one shape; keys must be of an ordered dtype, the others may be any.
    Stable: equal elements (0.0 and -0.0 are) keep their order, descending too. NaN comes last,
    and first if `descending`.
    Result: the type of the operand, or a tuple of all operands' types.
    Raises: DTypeError, ShapeError. Source: StableHLO sort.
    """
    check_axes("sort", xs[0], (axis,))
    if not 1 <= keys <= len(xs) or any(x.shape != xs[0].shape for x in xs):
        given = ", ".join(map(str, xs))
        raise ShapeError(f"sort: operands of one shape, {keys} of them keys, got {given}")
    for i, x in enumerate(xs):
        check_dtype("sort", ORDERED if i < keys else STORED, x)
    return xs if len(xs) > 1 else xs[0]


@primitive
def argsort(x: TensorType, *, axis: int, descending: bool = False) -> TensorType:
    """The indices along `axis` that sort `x`, in the order that `sort` defines.

    x: ordered. Result: s64, shape of x. Raises: DTypeError, ShapeError. Source: numpy.argsort.
    """
    check_dtype("argsort", ORDERED, x)
    check_axes("argsort", x, (axis,))
    return x.with_dtype(S64)


@primitive
def order_statistics(x: TensorType, *, ranks: tuple[int, ...]) -> TensorType:
    """The elements at the places `ranks` of the sorted last axis; either of two equal zeros.

    x: ordered. ranks: at least one, each below the last axis. NaN ranks last.
    Result: dtype of x, last axis `len(ranks)`. Raises: DTypeError, ShapeError.
    Source: numpy.partition.
    """
    check_dtype("order_statistics", ORDERED, x)
    if not x.ndim or not ranks or not all(0 <= k < x.shape[-1] for k in ranks):
        raise ShapeError(f"order_statistics: ranks must be within the last axis of {x}: {ranks}")
    return x.with_shape((*x.shape[:-1], len(ranks)))


@primitive
def top_k(x: TensorType, *, k: int) -> tuple[TensorType, TensorType]:
    """The `k` largest elements of the last axis, largest first, and their indices.

    x: ordered. NaN counts as the largest; of equal elements the first comes first.
    Result: (dtype of x, s64), last axis `k`. Raises: DTypeError, ShapeError. Source: CHLO top_k.
    """
    check_dtype("top_k", ORDERED, x)
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise ShapeError(f"top_k: k must be at most the last axis of {x}, got {k}")
    shape = (*x.shape[:-1], k)
    return x.with_shape(shape), tensor_type(S64, shape)


@primitive
def searchsorted(line: TensorType, values: TensorType, *, side: str) -> TensorType:
    """The place in `line` at which each of `values` keeps it in order.

    line: ordered, one axis, ascending with NaN last. values: dtype of line. side: `left` goes
    before equal elements, `right` after them.
    Result: s64, shape of values. Raises: DTypeError, ShapeError. Source: numpy.searchsorted.
    """
    check_dtype("searchsorted", ORDERED, line, values)
    if line.ndim != 1:
        raise ShapeError(f"searchsorted: the first operand must have one axis, got {line}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be left or right, got {side!r}")
    return values.with_dtype(S64)
