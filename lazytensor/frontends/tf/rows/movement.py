"""Raw ops that move elements: shapes, joining, splitting, padding, filling."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar
from lazytensor.core.lib import arranging
from lazytensor.core.lib.diagonals import (
    last_diagonal,
    on_diagonal,
    on_diagonals,
    with_last_diagonal,
)
from lazytensor.core.lib.losses import one_hot as hot
from lazytensor.frontends.tf.dispatch.plans import Function
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.elementwise import number
from lazytensor.frontends.tf.rows.reductions import axes_of, axis_of

Ints = tuple[int, ...]


def _ints(given: np.ndarray) -> Ints:
    return tuple(int(n) for n in given.ravel())


def _reshape(x: Node, given: np.ndarray, **_: Any) -> Node:
    shape = list(_ints(given))
    if shape.count(-1) == 1:
        known = prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = x.type.size // known if known else 0
    if tuple(shape) == x.type.shape:
        return x
    return ops.reshape(x, shape=tuple(shape))


def _transpose(x: Node, given: np.ndarray, **_: Any) -> Node:
    axes = tuple(axis_of(n, x.type.ndim) for n in _ints(given))
    if axes == tuple(range(x.type.ndim)):
        return x
    return ops.transpose(x, axes=axes)


def _conjugate_transpose(x: Node, given: np.ndarray, **_: Any) -> Node:
    made = _transpose(x, given)
    return ops.conj(made) if x.type.dtype in COMPLEX else made


def _expand_dims(x: Node, given: np.ndarray, **_: Any) -> Node:
    axis = axis_of(given.ravel()[0], x.type.ndim + 1)
    return ops.new_axis(x, axis)


def _squeeze(x: Node, *, squeeze_dims: Any = (), **other: Any) -> Node:
    axes = {axis_of(axis, x.type.ndim) for axis in squeeze_dims or ()}
    shape = x.type.shape
    if any(shape[axis] != 1 for axis in axes):
        raise ValueError(f"axes {axes} of {shape}")
    left = [n for i, n in enumerate(shape) if (i not in axes if axes else n != 1)]
    return ops.reshape(x, shape=tuple(left))


def _tile(x: Node, given: np.ndarray, **_: Any) -> Node:
    times = _ints(given)
    if len(times) != x.type.ndim:
        raise ValueError(f"{times} for {x.type}")
    if all(n == 1 for n in times):
        return x
    return arranging.tiled(x, times)


def _broadcast_to(x: Node, given: np.ndarray, **_: Any) -> Node:
    shape = list(_ints(given))
    lead = len(shape) - x.type.ndim
    shape = [x.type.shape[i - lead] if n == -1 else n for i, n in enumerate(shape)]
    if tuple(shape) == x.type.shape:
        return x
    return ops.broadcast(x, shape=tuple(shape))


def _pack(xs: list[Node], *, axis: int = 0, **_: Any) -> Node:
    at = axis_of(axis, xs[0].type.ndim + 1)
    if any(x.type is not xs[0].type for x in xs):
        raise ValueError("tensors of one type are packed")
    return arranging.stacked(xs, at)


def _unpack(x: Node, *, num: int, axis: int = 0, **_: Any) -> list[Node]:
    at = axis_of(axis, x.type.ndim)
    if num != x.type.shape[at]:
        raise ValueError(f"{num} parts of {x.type}")
    return [ops.at_index(x, at, i) for i in range(num)]


def _split(given: np.ndarray, x: Node, *, num_split: int, **_: Any) -> list[Node]:
    axis = axis_of(given.ravel()[0], x.type.ndim)
    size, rest = divmod(x.type.shape[axis], num_split)
    if rest:
        raise ValueError(f"{num_split} equal parts of {x.type}")
    return arranging.split(x, (size,) * num_split, axis)


def _split_v(x: Node, given: np.ndarray, at: np.ndarray, **_: Any) -> list[Node]:
    axis = axis_of(at.ravel()[0], x.type.ndim)
    sizes = list(_ints(given))
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.type.shape[axis] - sum(sizes) - 1
    if sum(sizes) != x.type.shape[axis]:
        raise ValueError(f"parts {sizes} of {x.type}")
    return arranging.split(x, sizes, axis)


def _concat(xs: list[Node], given: np.ndarray, **_: Any) -> Node:
    axis = axis_of(given.ravel()[0], xs[0].type.ndim)
    return arranging.joined(xs, axis)


def _slice_row(x: Node, begin: np.ndarray, size: np.ndarray, **_: Any) -> Node:
    first, lengths = _ints(begin), list(_ints(size))
    for i, n in enumerate(lengths):
        if n == -1:
            lengths[i] = x.type.shape[i] - first[i]
    if any(
        b < 0 or n < 0 or b + n > m for b, n, m in zip(first, lengths, x.type.shape, strict=True)
    ):
        raise ValueError(f"{lengths} elements from {first} of {x.type}")
    return arranging.cropped(x, first, tuple(lengths))


def padded(x: Node, value: Node, pairs: Any) -> Node:
    """`x` with `value` around it."""
    if min((*(int(n) for pair in pairs for n in pair), 0)) < 0:
        raise ValueError(f"paddings {pairs}")
    return arranging.padded(x, value, pairs)


def _pad(x: Node, given: np.ndarray, **_: Any) -> Node:
    zero = scalar(False if x.type.dtype == BOOL else 0, x.type.dtype)
    return padded(x, zero, given.reshape(-1, 2))


def _pad_v2(x: Node, given: np.ndarray, value: Node, **_: Any) -> Node:
    return padded(x, value, given.reshape(-1, 2))


def _mirror_pad(x: Node, given: np.ndarray, *, mode: str, **_: Any) -> Node:
    pairs, edge = given.reshape(-1, 2).tolist(), int(mode == "REFLECT")
    if any(max(pair) > n - edge for n, pair in zip(x.type.shape, pairs, strict=True)):
        raise ValueError(f"paddings of {pairs} for {x.type}")
    return arranging.padded_with_itself(x, pairs, mode.lower())


def _reverse(x: Node, given: np.ndarray, **_: Any) -> Node:
    return ops.reverse(x, axes=axes_of(x, given))


def _reverse_flagged(x: Node, given: np.ndarray, **_: Any) -> Node:
    return ops.reverse(x, axes=tuple(int(i) for i in np.flatnonzero(given)))


def _ensure_shape(x: Node, *, shape: Any, **_: Any) -> Node:
    sizes = x.type.shape if shape is None else shape
    if len(sizes) != x.type.ndim or any(
        n not in (None, -1, size) for n, size in zip(sizes, x.type.shape, strict=True)
    ):
        raise ValueError(f"{x.type} is not of shape {shape}")
    return x


def _roll(x: Node, shifts: np.ndarray, given: np.ndarray, **_: Any) -> Node:
    for shift, at in zip(_ints(shifts), _ints(given), strict=True):
        x = arranging.rolled(x, shift, axis_of(at, x.type.ndim))
    return x


def _fill(given: np.ndarray, value: Node, **_: Any) -> Node:
    return ops.broadcast(value, shape=_ints(given))


def one_hot(
    indices: Node, depth: int, dtype: np.dtype, on: Any = 1, off: Any = 0, axis: int = -1
) -> Node:
    """`on` where the index along `axis` is that of `indices`, `off` elsewhere; both numbers."""
    made = hot(indices, depth, axis_of(axis, indices.type.ndim + 1))
    if (on, off) != (1, 0):
        made = ops.select(made, scalar(on, dtype), scalar(off, dtype))
    return made if made.type.dtype == dtype else ops.convert(made, dtype=dtype)


def _one_hot(
    indices: Node, depth: np.ndarray, on: np.ndarray, off: np.ndarray, *, axis: int = -1, **_: Any
) -> Node:
    return one_hot(indices, int(depth), on.dtype, on.item(), off.item(), axis)


def _band_part(x: Node, low: np.ndarray, high: np.ndarray, **_: Any) -> Node:
    if int(low) > x.type.shape[-2] or int(high) > x.type.shape[-1]:
        raise ValueError(f"bands of {low} and {high} in {x.type}")
    rows_, columns = (ops.iota(dtype=S64, shape=x.type.shape, axis=x.type.ndim - i) for i in (2, 1))
    inside: Node | None = None
    for bound, apart in (
        (int(low), rows_ - columns),
        (int(high), columns - rows_),
    ):
        if bound >= 0:
            near = apart <= bound
            inside = near if inside is None else inside & near
    if inside is None:
        return x
    return ops.select(inside, x, number(0, x))


def _diag(x: Node, **_: Any) -> Node:
    """A matrix, or more axes, with `x` on its diagonal and zeros elsewhere."""
    square = on_diagonal(ops.line(x))
    return ops.reshape(square, shape=x.type.shape * 2)


def _diag_part(x: Node, **_: Any) -> Node:
    half = x.type.shape[: x.type.ndim // 2]
    square = ops.reshape(x, shape=(prod(half),) * 2)
    return ops.reshape(last_diagonal(square), shape=half)


def _matrix_diag(x: Node, **_: Any) -> Node:
    """Matrices with the last axis of `x` on their diagonals."""
    return on_diagonals(x, number(0, x))


def _matrix_diag_v3(
    x: Node, k: np.ndarray, rows_: np.ndarray, columns: np.ndarray, fill: Node, **_: Any
) -> Node:
    if _ints(k) not in ((0,), (0, 0)) or int(rows_) not in (-1, x.type.shape[-1]):
        raise ValueError("only main diagonals of square matrices")
    if int(columns) not in (-1, x.type.shape[-1]):
        raise ValueError("only main diagonals of square matrices")
    return on_diagonals(x, fill)


def _matrix_diag_part(x: Node, *_: Any, **__: Any) -> Node:
    return last_diagonal(x)


def _matrix_diag_part_v3(x: Node, k: np.ndarray, fill: Node, **_: Any) -> Node:
    bounds = _ints(k)
    if len(set(bounds)) != 1:
        raise ValueError("one diagonal only")
    return last_diagonal(x, bounds[0])


def _matrix_set_diag(x: Node, diagonal: Node, *_: Any, **__: Any) -> Node:
    return with_last_diagonal(x, diagonal)


def _matrix_set_diag_v3(x: Node, diagonal: Node, k: np.ndarray, **_: Any) -> Node:
    bounds = _ints(k)
    if len(set(bounds)) != 1:
        raise ValueError("one diagonal only")
    return with_last_diagonal(x, diagonal, bounds[0])


def _depth_to_space(x: Node, *, block_size: int, data_format: str = "NHWC", **_: Any) -> Node:
    if data_format != "NHWC":
        raise ValueError(data_format)
    return arranging.depth_to_space(x, block_size)


def _space_to_depth(x: Node, *, block_size: int, data_format: str = "NHWC", **_: Any) -> Node:
    if data_format != "NHWC":
        raise ValueError(data_format)
    return arranging.space_to_depth(x, block_size)


def _space_to_batch(x: Node, block: np.ndarray, paddings: np.ndarray, **_: Any) -> Node:
    blocks = _ints(block)
    rest = x.type.ndim - 1 - len(blocks)
    pairs = [(0, 0), *paddings.reshape(-1, 2).tolist(), *[(0, 0)] * rest]
    return arranging.space_to_batch(padded(x, number(0, x), pairs), blocks)


def _batch_to_space(x: Node, block: np.ndarray, crops: np.ndarray, **_: Any) -> Node:
    blocks = _ints(block)
    made = arranging.batch_to_space(x, blocks)
    n, *sizes = made.type.shape
    pairs = crops.reshape(-1, 2).tolist() + [(0, 0)] * (len(sizes) - len(blocks))
    ends = [size - low - high for size, (low, high) in zip(sizes, pairs, strict=True)]
    return arranging.cropped(made, (0, *(low for low, _ in pairs)), (n, *ends))


one: dict[str, Function] = {
    "Reshape": _reshape, "Transpose": _transpose, "ConjugateTranspose": _conjugate_transpose,
    "ExpandDims": _expand_dims, "Tile": _tile, "BroadcastTo": _broadcast_to,
    "ConcatV2": _concat, "Pad": _pad, "PadV2": _pad_v2, "MirrorPad": _mirror_pad,
    "ReverseV2": _reverse, "Reverse": _reverse_flagged,
}  # fmt: skip
rows(one, host=(1,))
rows({"OneHot": _one_hot}, host=(1, 2, 3), always=True)
rows({"EnsureShape": _ensure_shape})
rows({"Squeeze": _squeeze, "Pack": _pack, "Unpack": _unpack, "Diag": _diag,
      "DiagPart": _diag_part, "MatrixDiag": _matrix_diag, "MatrixDiagPart": _matrix_diag_part,
      "MatrixSetDiag": _matrix_set_diag, "DepthToSpace": _depth_to_space,
      "SpaceToDepth": _space_to_depth})  # fmt: skip
rows({"Split": _split, "Concat": lambda at, xs, **_: _concat(xs, at)}, host=(0,))
rows({"SplitV": _split_v, "Roll": _roll, "MatrixBandPart": _band_part}, host=(1, 2))
rows({"SpaceToBatchND": _space_to_batch, "BatchToSpaceND": _batch_to_space}, host=(1, 2))
rows({"Slice": _slice_row}, host=(1, 2), moving=True)
rows({"Fill": _fill}, host=(0,))
rows({"MatrixDiagV2": _matrix_diag_v3, "MatrixDiagV3": _matrix_diag_v3}, host=(1, 2, 3))
rows(
    {"MatrixDiagPartV2": _matrix_diag_part_v3, "MatrixDiagPartV3": _matrix_diag_part_v3},
    host=(1,),
)
rows({"MatrixSetDiagV2": _matrix_set_diag_v3, "MatrixSetDiagV3": _matrix_set_diag_v3}, host=(2,))
