"""Views that depend on how elements lie: strides, windows, bytes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import torch

from lazytensor.core.cell import Step
from lazytensor.core.ops import bitcast_step, reshape_step, strided_step
from lazytensor.core.types import TensorType
from lazytensor.frontends.torch.tensor import numpy_dtype

Steps = tuple[Step, ...]


def axis_of(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises: IndexError, torch's."""
    rank = max(ndim, 1)
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
            f"but got {dim})"
        )
    return dim % rank


def as_strided(
    type: TensorType, size: Sequence[int], stride: Sequence[int], storage_offset: Any = None
) -> Steps:
    """Any strides over the elements in rows. Raises: RuntimeError, torch's."""
    steps = tuple(stride)
    if 0 not in size:
        last = (storage_offset or 0) + sum((n - 1) * s for n, s in zip(size, steps, strict=True))
        if last >= type.size:
            raise RuntimeError(
                f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset "
                f"{storage_offset or 0} are out of bounds for storage of size {type.size}"
            )
    line = reshape_step((type.size,))
    return line, strided_step(storage_offset or 0, tuple(size), steps)


def unfold(type: TensorType, dimension: int, size: int, step: int) -> Steps:
    """Windows along an axis, as a last axis. Raises: RuntimeError, torch's."""
    axis = axis_of(dimension, type.ndim)
    if not type.ndim:
        return (reshape_step((size,)),)
    shape = type.shape
    if size > shape[axis]:
        raise RuntimeError(
            f"maximum size for tensor at dimension {axis} is {shape[axis]} but size is {size}"
        )
    strides = [prod(shape[i + 1 :]) for i in range(len(shape))]
    count = (shape[axis] - size) // step + 1
    sizes = (*shape[:axis], count, *shape[axis + 1 :], size)
    steps = (*strides[:axis], strides[axis] * step, *strides[axis + 1 :], strides[axis])
    return reshape_step((type.size,)), strided_step(0, sizes, steps)


def dtype(type: TensorType, dtype: torch.dtype) -> Steps:
    """The bytes as another dtype. Raises: RuntimeError, torch's."""
    wanted = numpy_dtype(dtype)
    old, new = type.dtype.itemsize, wanted.itemsize
    if old == new:
        return (bitcast_step(wanted),)
    if not type.ndim:
        raise RuntimeError("self.dim() cannot be 0 to view tensors with different element sizes")
    n = type.shape[-1]
    if old > new:
        return bitcast_step(wanted), reshape_step((*type.shape[:-1], n * old // new))
    if n % (new // old):
        raise RuntimeError(
            f"self.size(-1) must be divisible by {new // old} to view tensors with different "
            f"element sizes, but got {n}"
        )
    ratio = new // old
    return reshape_step((*type.shape[:-1], n // ratio, ratio)), bitcast_step(wanted)
