"""Segments, and the dense ends of sparse and ragged tensors.

Where the parts are is asked of the host, as the shape of the result is in it. It is an operand of
what is recorded all the same: other parts of as many compile nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from lazytensor.frontends.tf.dispatch import opdef
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.dispatch.table import Handler, answer, call
from lazytensor.frontends.tf.rows.shapes import attr, host_number, host_shape
from lazytensor.frontends.tf.tensors.tensor import of_array, shape_of

Args = tuple[Any, ...]
FACTORS: Final = {
    "Sum": lambda counts: np.ones_like(counts),
    "Mean": lambda counts: 1 / np.maximum(counts, 1),
    "SqrtN": lambda counts: 1 / np.sqrt(np.maximum(counts, 1)),
}
"""What a segment's sum is multiplied by, of how many there are in it."""
EMPTY_IS_ZERO: Final = ("Max", "Min")


def _ordered(ids: np.ndarray) -> bool:
    """Whether numbers of segments are as they have to be; TF's kernel says what is wrong."""
    return ids.ndim == 1 and not (ids.size and (ids[0] < 0 or (np.diff(ids) < 0).any()))


def _taken(x: Any, rows: Any) -> Any:
    # Its gradient asks for the attribute.
    return call("GatherV2", x, rows, host_number(0, "int32"), "batch_dims", 0)


def _summed(data: Any, ids: Any, count: int) -> Any:
    return call("UnsortedSegmentSum", data, ids, host_number(count, "int32"))


def _scaled(x: Any, factors: np.ndarray) -> Any:
    """The rows of `x`, each multiplied by its factor."""
    if (factors == 1).all():
        return x
    shape = (len(factors),) + (1,) * (len(shape_of(x)) - 1)
    dtype = opdef.normal(x.dtype.as_datatype_enum, "type")
    return call("Mul", x, of_array(factors.reshape(shape).astype(dtype)))


def _segment(kind: str) -> Handler:
    """`SegmentSum` and its like: segments in order, up to the last that has something."""

    def answered(ctx: Any, name: Any, args: Args) -> Any:
        data, given = args[:2]
        ids = host_value(given).array
        if not _ordered(ids):
            return None
        count = int(ids[-1]) + 1 if ids.size else 0
        counts = np.bincount(ids, minlength=count)
        if kind in FACTORS:
            return _scaled(_summed(data, given, count), FACTORS[kind](counts))
        made = call(f"UnsortedSegment{kind}", data, given, host_number(count, "int32"))
        if kind in EMPTY_IS_ZERO and not counts.all():
            mask = (counts > 0).reshape((count,) + (1,) * (len(shape_of(made)) - 1))
            return call("SelectV2", of_array(mask), made, call("ZerosLike", made))
        return made

    return answered


def _sparse_segment(kind: str, counted: bool) -> Handler:
    """Sums of some rows of a table, as an embedding of several words is."""

    def answered(ctx: Any, name: Any, args: Args) -> Any:
        data, indices, given = args[:3]
        ids = host_value(given).array
        if not _ordered(ids):
            return None
        least = int(ids[-1]) + 1 if ids.size else 0
        count = int(host_value(args[3]).array) if counted else least
        if count < least:
            return None
        rows = _taken(data, indices)
        return _scaled(_summed(rows, given, count), FACTORS[kind](np.bincount(ids, None, count)))

    return answered


def _sparse_segment_gradient(kind: str, compact: bool) -> Handler:
    """The way back of such sums: into the table, or into those of its rows that were taken."""

    def answered(ctx: Any, name: Any, args: Args) -> Any:
        slopes, indices, given, size = args[:4]
        ids = host_value(given).array
        counts = np.bincount(ids, minlength=shape_of(slopes)[0])
        if len(counts) != shape_of(slopes)[0]:
            return None
        rows = _scaled(slopes, FACTORS[kind](counts))
        parts = _taken(rows, given)
        if not compact:
            return _summed(parts, indices, int(host_value(size).array))
        places = host_value(indices).array
        taken, inverse = np.unique(places, return_inverse=True)
        made = _summed(parts, of_array(inverse.astype(np.int32)), len(taken))
        return [made, of_array(taken.astype(places.dtype))]

    return answered


def _brought_in(shape: Sequence[int], indices: np.ndarray, values: Any, default: Any) -> Any:
    """An array of `default` with `values` at indices."""
    full = call("BroadcastTo", default, host_shape(tuple(shape), "int32"))
    return call("TensorScatterUpdate", full, of_array(indices), values)


def _sparse_to_dense(ctx: Any, name: Any, args: Args) -> Any:
    indices, shape, values, default = args[:4]
    places = host_value(indices).array
    sizes = host_value(shape).array
    if places.ndim < 2:
        places = places.reshape(-1, 1)
    if not shape_of(values):
        values = call("BroadcastTo", values, host_shape((len(places),), "int32"))
    if (places < 0).any() or (places >= sizes).any():
        return None
    return _brought_in(sizes.tolist(), places, values, default)


def _sparse_product(ctx: Any, name: Any, args: Args) -> Any:
    """A sparse matrix times a dense one."""
    indices, values, shape, dense = args[:4]
    adjoint = attr(args, 4, "adjoint_a", False)
    if attr(args, 4, "adjoint_b", False):
        dense = call("Transpose", _conjugate(dense), host_shape((1, 0), "int32"))
    places, sizes = host_value(indices).array, host_value(shape).array
    rows, columns = places.T[::-1] if adjoint else places.T
    count, length = (int(n) for n in (sizes[::-1] if adjoint else sizes))
    if length != shape_of(dense)[0] or (places < 0).any() or (places >= sizes).any():
        return None
    if adjoint:
        values = _conjugate(values)
    taken = _taken(dense, of_array(columns.copy()))
    column = call("Reshape", values, host_shape((len(places), 1), "int32"))
    return _summed(call("Mul", column, taken), of_array(rows.copy()), count)


def _sparse_sum(ctx: Any, name: Any, args: Args) -> Any:
    """A sparse tensor and a dense one, added."""
    indices, values, shape, dense = args[:4]
    if tuple(host_value(shape).array) != shape_of(dense):
        return None
    return call("TensorScatterAdd", dense, indices, values)


def _conjugate(x: Any) -> Any:
    return call("Conj", x) if x.dtype.is_complex else x


def _ragged_to_dense(ctx: Any, name: Any, args: Args) -> Any:
    """A ragged tensor, filled up with a default value and cut off at a shape."""
    shape, values, default, partitions = args[:4]
    kinds = [_text(kind) for kind in attr(args, 4, "row_partition_types")]
    inner = shape_of(values)[1:]
    found = _positions(kinds, [host_value(x).array for x in partitions], shape_of(values)[0])
    if found is None:
        return None
    places, sizes = found
    wanted = host_value(shape).array
    if wanted.ndim:
        if len(wanted) != len(sizes) + len(inner):
            return None
        sizes = [n if m < 0 else int(m) for n, m in zip(sizes, wanted, strict=False)]
    kept = (places < np.array(sizes)).all(axis=1)
    if not kept.all():
        values = _taken(values, of_array(np.flatnonzero(kept)))
    return _brought_in((*sizes, *inner), places[kept], values, default)


def _text(kind: Any) -> str:
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _positions(
    kinds: list[str], partitions: list[np.ndarray], count: int
) -> tuple[np.ndarray, list[int]] | None:
    """Where each of `count` values is, an axis a column, and how long the axes are."""
    if kinds[0] == "FIRST_DIM_SIZE":
        sizes, rest = [int(partitions[0])], list(zip(kinds, partitions, strict=True))[1:]
    elif kinds[0] == "ROW_SPLITS":
        sizes, rest = [len(partitions[0]) - 1], list(zip(kinds, partitions, strict=True))
    else:
        return None
    places = np.arange(sizes[0])[:, None]
    for kind, partition in rest:
        rows = partition
        if kind == "ROW_SPLITS":
            rows = np.repeat(np.arange(len(partition) - 1), np.diff(partition))
        elif kind != "VALUE_ROWIDS":
            return None
        lengths = np.bincount(rows, minlength=len(places))
        columns = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        places = np.column_stack([places[rows], columns])
        sizes.append(int(lengths.max(initial=0)))
    return (places, sizes) if len(places) == count else None


for kind in ("Sum", "Mean", "Prod", *EMPTY_IS_ZERO):
    answer(f"Segment{kind}", _segment(kind))
for kind in FACTORS:
    answer(f"SparseSegment{kind}", _sparse_segment(kind, counted=False))
    answer(f"SparseSegment{kind}WithNumSegments", _sparse_segment(kind, counted=True))
    answer(f"SparseSegment{kind}Grad", _sparse_segment_gradient(kind, compact=False))
    answer(f"SparseSegment{kind}GradV2", _sparse_segment_gradient(kind, compact=True))
answer("SparseToDense", _sparse_to_dense)
answer("SparseTensorDenseMatMul", _sparse_product)
answer("SparseTensorDenseAdd", _sparse_sum)
answer("RaggedTensorToTensor", _ragged_to_dense)
