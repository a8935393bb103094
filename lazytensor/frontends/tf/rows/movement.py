"""Raw ops that move elements: shapes, joining, splitting, padding, filling."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import BOOL, COMPLEX, S32, S64
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import scalar, starts
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
    shape = x.type.shape
    apart = tuple(n for size in shape for n in (1, size))
    wide = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    made = ops.broadcast(ops.reshape(x, shape=apart), shape=wide)
    whole = tuple(n * t for n, t in zip(shape, times, strict=True))
    return ops.reshape(made, shape=whole)


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
    lines = [ops.new_axis(x, at) for x in xs]
    return ops.concatenate(*lines, axis=at) if len(lines) > 1 else lines[0]


def _slice(x: Node, begin: Ints, sizes: Ints) -> Node:
    return ops.slice(x, starts(begin), sizes=sizes, strides=(1,) * x.type.ndim)


def _parts(x: Node, axis: int, sizes: Ints) -> list[Node]:
    """Neighbouring parts along an axis."""
    found, at = [], 0
    for size in sizes:
        found.append(ops.part(x, axis, at, size))
        at += size
    return found


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
    return _parts(x, axis, (size,) * num_split)


def _split_v(x: Node, given: np.ndarray, at: np.ndarray, **_: Any) -> list[Node]:
    axis = axis_of(at.ravel()[0], x.type.ndim)
    sizes = list(_ints(given))
    if -1 in sizes:
        sizes[sizes.index(-1)] = x.type.shape[axis] - sum(sizes) - 1
    if sum(sizes) != x.type.shape[axis]:
        raise ValueError(f"parts {sizes} of {x.type}")
    return _parts(x, axis, tuple(sizes))


def _concat(xs: list[Node], given: np.ndarray, **_: Any) -> Node:
    axis = axis_of(given.ravel()[0], xs[0].type.ndim)
    return ops.concatenate(*xs, axis=axis) if len(xs) > 1 else xs[0]


def _slice_row(x: Node, begin: np.ndarray, size: np.ndarray, **_: Any) -> Node:
    first, lengths = _ints(begin), list(_ints(size))
    for i, n in enumerate(lengths):
        if n == -1:
            lengths[i] = x.type.shape[i] - first[i]
    if any(
        b < 0 or n < 0 or b + n > m for b, n, m in zip(first, lengths, x.type.shape, strict=True)
    ):
        raise ValueError(f"{lengths} elements from {first} of {x.type}")
    return _slice(x, first, tuple(lengths))


def padded(x: Node, value: Node, pairs: Any) -> Node:
    """`x` with `value` around it."""
    low, high = (tuple(int(pair[i]) for pair in pairs) for i in (0, 1))
    if min((*low, *high, 0)) < 0:
        raise ValueError(f"paddings {pairs}")
    return ops.pad(x, value, low=low, high=high, interior=(0,) * x.type.ndim)


def _pad(x: Node, given: np.ndarray, **_: Any) -> Node:
    zero = scalar(False if x.type.dtype == BOOL else 0, x.type.dtype)
    return padded(x, zero, given.reshape(-1, 2))


def _pad_v2(x: Node, given: np.ndarray, value: Node, **_: Any) -> Node:
    return padded(x, value, given.reshape(-1, 2))


def _mirror_pad(x: Node, given: np.ndarray, *, mode: str, **_: Any) -> Node:
    edge = int(mode == "REFLECT")
    for axis, (low, high) in enumerate(given.reshape(-1, 2).tolist()):
        n = x.type.shape[axis]
        if max(low, high) > n - edge:
            raise ValueError(f"paddings of {low}, {high} for {x.type}")
        before = [_mirrored(x, axis, edge, low)] if low else []
        after = [_mirrored(x, axis, n - edge - high, high)] if high else []
        if before or after:
            x = ops.concatenate(*before, x, *after, axis=axis)
    return x


def _mirrored(x: Node, axis: int, begin: int, count: int) -> Node:
    at = tuple(begin if i == axis else 0 for i in range(x.type.ndim))
    sizes = tuple(count if i == axis else n for i, n in enumerate(x.type.shape))
    return ops.reverse(_slice(x, at, sizes), axes=(axis,))


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
        axis = axis_of(at, x.type.ndim)
        n = x.type.shape[axis]
        by = shift % n if n else 0
        if by:
            first, last = _parts(x, axis, (n - by, by))
            x = ops.concatenate(last, first, axis=axis)
    return x


def _fill(given: np.ndarray, value: Node, **_: Any) -> Node:
    return ops.broadcast(value, shape=_ints(given))


def one_hot(
    indices: Node, depth: int, dtype: np.dtype, on: Any = 1, off: Any = 0, axis: int = -1
) -> Node:
    """`on` where the index along `axis` is that of `indices`, `off` elsewhere; both numbers."""
    shape = indices.type.shape
    at = axis_of(axis, len(shape) + 1)
    whole = (*shape[:at], depth, *shape[at:])
    line = ops.iota(dtype=indices.type.dtype, shape=whole, axis=at)
    made = ops.equal(line, ops.new_axis(indices, at))
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
    size = x.type.size
    line = ops.reshape(x, shape=(1, size))
    rows_, columns = (ops.iota(dtype=S32, shape=(size, size), axis=i) for i in (0, 1))
    square = ops.select(ops.equal(rows_, columns), line, number(0, x))
    return ops.reshape(square, shape=x.type.shape * 2)


def _diag_part(x: Node, **_: Any) -> Node:
    half = x.type.shape[: x.type.ndim // 2]
    square = ops.reshape(x, shape=(prod(half),) * 2)
    return ops.reshape(ops.diagonal(square, offset=0, axis1=0, axis2=1), shape=half)


def _matrix_diag(x: Node, **_: Any) -> Node:
    """Matrices with the last axis of `x` on their diagonals."""
    n = x.type.shape[-1]
    whole = (*x.type.shape, n)
    rows_, columns = (ops.iota(dtype=S32, shape=whole, axis=len(whole) - i) for i in (2, 1))
    column = ops.reshape(x, shape=(*x.type.shape, 1))
    return ops.select(ops.equal(rows_, columns), column, number(0, x))


def _matrix_diag_v3(
    x: Node, k: np.ndarray, rows_: np.ndarray, columns: np.ndarray, fill: Node, **_: Any
) -> Node:
    if _ints(k) not in ((0,), (0, 0)) or int(rows_) not in (-1, x.type.shape[-1]):
        raise ValueError("only main diagonals of square matrices")
    if int(columns) not in (-1, x.type.shape[-1]):
        raise ValueError("only main diagonals of square matrices")
    n = x.type.shape[-1]
    whole = (*x.type.shape, n)
    first, second = (ops.iota(dtype=S32, shape=whole, axis=len(whole) - i) for i in (2, 1))
    column = ops.reshape(x, shape=(*x.type.shape, 1))
    return ops.select(ops.equal(first, second), column, fill)


def _matrix_diag_part(x: Node, *_: Any, **__: Any) -> Node:
    return ops.diagonal(x, offset=0, axis1=x.type.ndim - 2, axis2=x.type.ndim - 1)


def _matrix_diag_part_v3(x: Node, k: np.ndarray, fill: Node, **_: Any) -> Node:
    bounds = _ints(k)
    if len(set(bounds)) != 1:
        raise ValueError("one diagonal only")
    return ops.diagonal(x, offset=bounds[0], axis1=x.type.ndim - 2, axis2=x.type.ndim - 1)


def _matrix_set_diag(x: Node, diagonal: Node, *_: Any, **__: Any) -> Node:
    return ops.update_diagonal(x, diagonal, offset=0, axis1=x.type.ndim - 2, axis2=x.type.ndim - 1)


def _matrix_set_diag_v3(x: Node, diagonal: Node, k: np.ndarray, **_: Any) -> Node:
    bounds = _ints(k)
    if len(set(bounds)) != 1:
        raise ValueError("one diagonal only")
    return ops.update_diagonal(
        x, diagonal, offset=bounds[0], axis1=x.type.ndim - 2, axis2=x.type.ndim - 1
    )


def _depth_to_space(x: Node, *, block_size: int, data_format: str = "NHWC", **_: Any) -> Node:
    if data_format != "NHWC":
        raise ValueError(data_format)
    n, h, w, c = x.type.shape
    b = block_size
    apart = ops.reshape(x, shape=(n, h, w, b, b, c // (b * b)))
    made = ops.transpose(apart, axes=(0, 1, 3, 2, 4, 5))
    return ops.reshape(made, shape=(n, h * b, w * b, c // (b * b)))


def _space_to_depth(x: Node, *, block_size: int, data_format: str = "NHWC", **_: Any) -> Node:
    if data_format != "NHWC":
        raise ValueError(data_format)
    n, h, w, c = x.type.shape
    b = block_size
    apart = ops.reshape(x, shape=(n, h // b, b, w // b, b, c))
    made = ops.transpose(apart, axes=(0, 1, 3, 2, 4, 5))
    return ops.reshape(made, shape=(n, h // b, w // b, c * b * b))


def _space_to_batch(x: Node, block: np.ndarray, paddings: np.ndarray, **_: Any) -> Node:
    blocks = _ints(block)
    m = len(blocks)
    rest = x.type.ndim - 1 - m
    pairs = [(0, 0), *paddings.reshape(-1, 2).tolist(), *[(0, 0)] * rest]
    x = padded(x, number(0, x), pairs)
    n, *sizes = x.type.shape
    apart = [n]
    for size, b in zip(sizes[:m], blocks, strict=True):
        apart += [size // b, b]
    made = ops.reshape(x, shape=(*apart, *sizes[m:]))
    axes = (
        *range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, 2 * m + 1 + rest)
    )  # fmt: skip
    made = ops.transpose(made, axes=axes)
    inner = [size // b for size, b in zip(sizes[:m], blocks, strict=True)]
    return ops.reshape(made, shape=(n * prod(blocks), *inner, *sizes[m:]))


def _batch_to_space(x: Node, block: np.ndarray, crops: np.ndarray, **_: Any) -> Node:
    blocks = _ints(block)
    m = len(blocks)
    n, *sizes = x.type.shape
    rest = len(sizes) - m
    made = ops.reshape(x, shape=(*blocks, n // prod(blocks), *sizes))
    axes = [m]
    for i in range(m):
        axes += [m + 1 + i, i]
    made = ops.transpose(made, axes=(*axes, *range(2 * m + 1, 2 * m + 1 + rest)))
    inner = [size * b for size, b in zip(sizes[:m], blocks, strict=True)]
    made = ops.reshape(made, shape=(n // prod(blocks), *inner, *sizes[m:]))
    pairs = crops.reshape(-1, 2).tolist()
    begin = (0, *(low for low, _ in pairs), *(0,) * rest)
    ends = [size - low - high for size, (low, high) in zip(inner, pairs, strict=True)]
    return _slice(made, begin, (n // prod(blocks), *ends, *sizes[m:]))


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
