"""Products that sum over axes: dot_general and convolution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import BF16, COMPLEX, F16, F32, FLOATS, INTS, NUMBERS, short_name
from lazytensor.core.ir.op import check_dtype, primitive
from lazytensor.core.ir.shapes import check_axes, without
from lazytensor.core.ir.types import TensorType, tensor_type

Axes = tuple[int, ...]
AxesPair = tuple[Axes, Axes]
Pairs = tuple[tuple[int, int], ...]


@primitive
def dot_general(
    x: TensorType,
    y: TensorType,
    *,
    batch: AxesPair = ((), ()),
    contract: AxesPair = ((), ()),
    dtype: np.dtype | None = None,
) -> TensorType:
    """Sum of products of `x` and `y` over the axes `contract`, once for each index of `batch`.

    x, y: numbers of one dtype. `batch` and `contract` pair axes of x with axes of y of the same
    sizes. No axis to contract: the outer product. `dtype`: the result's, of the same kind; sums
    accumulate in it if it is wider. f16 and bf16 are summed in f32 in any case; integers wrap
    around. Result: batch axes, the other axes of x, the other axes of y.
    Raises: DTypeError, ShapeError. Source: StableHLO, dot_general.
    """
    own = check_dtype("dot_general", NUMBERS, x, y)
    result = own if dtype is None else dtype
    if not any(own in kind and result in kind for kind in (INTS, FLOATS, COMPLEX)):
        raise DTypeError(f"dot_general: no sum of {short_name(own)} in {short_name(result)}")
    mine = check_axes("dot_general", x, batch[0] + contract[0])
    theirs = check_axes("dot_general", y, batch[1] + contract[1])
    for name, (left, right) in (("batch", batch), ("contract", contract)):
        if [x.shape[i] for i in left] != [y.shape[i] for i in right]:
            raise ShapeError(f"dot_general: {name} axes {left}, {right} differ in {x}, {y}")
    shared = tuple(x.shape[axis] for axis in batch[0])
    return tensor_type(result, shared + without(x.shape, mine) + without(y.shape, theirs))


@primitive
def convolution(
    x: TensorType,
    w: TensorType,
    *,
    strides: Axes,
    padding: Pairs,
    lhs_dilation: Axes = (),
    rhs_dilation: Axes = (),
    feature_groups: int = 1,
    batch_groups: int = 1,
    dimensions: tuple[Axes, Axes, Axes] = ((), (), ()),
    reversal: tuple[bool, ...] = (),
) -> TensorType:
    """The windows of `x`, each multiplied by `w` and summed over its elements and features.

    x: numbers. w: same dtype. `strides`, `padding` (low, high; negative crops): one for each of the
    one to three spatial axes. `lhs_dilation`: distance of the elements of x, zeros between them.
    `rhs_dilation`: the same for w. () means ones. `feature_groups`, `batch_groups`: the number of
    groups into which x's features, or its batch, and w's output features are split; each group of x
    meets its own group of w. `dimensions`: the axes
    (batch, feature, spatial…) of x, (output feature, input feature, spatial…) of w, (batch,
    feature, spatial…) of the result; () means in this order. `reversal`: spatial axes on which w
    runs backwards. f16 and bf16 are summed in f32. Raises: DTypeError, ShapeError.
    Source: StableHLO, convolution.
    """
    dtype = check_dtype("convolution", NUMBERS, x, w)
    spatial = len(strides)
    if not x.ndim == w.ndim == spatial + 2 or not 1 <= spatial <= 3:
        raise ShapeError(f"convolution: operands of {spatial} + 2 axes are needed, got {x}, {w}")
    outer, inner, still = dense(spatial, lhs_dilation, rhs_dilation, reversal)
    if not len(padding) == len(outer) == len(inner) == len(still) == spatial:
        raise ShapeError(f"convolution: one number for each of {spatial} spatial axes is needed")
    if min(*strides, *outer, *inner, feature_groups, batch_groups) < 1:
        raise ShapeError("convolution: strides, dilations and groups must be positive")
    specs = [_ordered(spec, x.ndim) for spec in dimensions]
    data, kernel = ([t.shape[i] for i in s] for t, s in zip((x, w), specs[:2], strict=True))
    _check_groups(x, w, data, kernel, feature_groups, batch_groups)
    grown, sizes = map(_dilated, (data[2:], kernel[2:]), (outer, inner))
    windows = map(_count, grown, sizes, strides, padding)
    result = dict(zip(specs[2], (data[0] // batch_groups, kernel[0], *windows), strict=True))
    return tensor_type(dtype, tuple(result[i] for i in range(x.ndim)))


def _ordered(spec: Axes, ndim: int) -> Axes:
    if not spec:
        return tuple(range(ndim))
    if sorted(spec) != list(range(ndim)):
        raise ShapeError(f"convolution: `dimensions` needs permutations of {ndim} axes, got {spec}")
    return spec


def _check_groups(
    x: TensorType,
    w: TensorType,
    data: Sequence[int],
    kernel: Sequence[int],
    feature_groups: int,
    batch_groups: int,
) -> None:
    given = f"{x}, {w} in {feature_groups} feature and {batch_groups} batch groups"
    if 0 in kernel[2:]:
        raise ShapeError(f"convolution: w must have no empty spatial axis, got {w}")
    if kernel[1] * feature_groups != data[1]:
        raise ShapeError(f"convolution: w takes {kernel[1]} features a group, got {given}")
    if feature_groups > 1 and batch_groups > 1:
        raise ShapeError(f"convolution: only features or the batch have groups, got {given}")
    if kernel[0] % (feature_groups * batch_groups) or data[0] % batch_groups:
        raise ShapeError(f"convolution: the groups must be equal, got {given}")


def _dilated(sizes: Sequence[int], dilation: Axes) -> list[int]:
    return [(n - 1) * d + 1 if n else 0 for n, d in zip(sizes, dilation, strict=True)]


def _count(n: int, size: int, stride: int, padding: tuple[int, int]) -> int:
    """The number of windows in `n` elements and their padding."""
    return max(0, (max(0, n + sum(padding)) - size) // stride + 1)


def sum_dtype(own: np.dtype, result: np.dtype) -> np.dtype:
    """The dtype in which products of `own` accumulate, for a `result`."""
    wide = result if result.itemsize > own.itemsize else own
    return F32 if wide in (F16, BF16) else wide


def dense(
    spatial: int, lhs_dilation: Axes, rhs_dilation: Axes, reversal: tuple[bool, ...]
) -> tuple[Axes, Axes, tuple[bool, ...]]:
    """A convolution's optional attributes with () written out."""
    ones = (1,) * spatial
    return lhs_dilation or ones, rhs_dilation or ones, reversal or (False,) * spatial


def layouts(dimensions: tuple[Axes, Axes, Axes], ndim: int) -> tuple[Axes, Axes, Axes]:
    """A convolution's `dimensions` with () written out for operands of `ndim` axes."""
    first, second, third = (spec or tuple(range(ndim)) for spec in dimensions)
    return first, second, third
