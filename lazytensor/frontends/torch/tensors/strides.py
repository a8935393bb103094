"""How elements lie: torch's strides, and the view steps that show the same elements.

Torch keeps size, strides and offset of every tensor and works out those of its views; the core
knows steps. `steps_of` finds the steps for a geometry: slices, reshapes, transposes and
broadcasts where there are any, else each element by its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final

import torch

from lazytensor.core.ir.memo import remembered
from lazytensor.core.ir.types import Shape
from lazytensor.core.lib.geometry import Ints, in_order, in_rows


def refuse_many_axes(ndim: int) -> None:
    """Raise torch's error for more axes than it can name a few of: its set of them has 64 bits."""
    if ndim > 64:
        raise RuntimeError("only tensors with up to 64 dims are supported")


def axis_of(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises: IndexError, torch's."""
    rank = max(ndim, 1)
    if not -rank <= dim < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], "
            f"but got {dim})"
        )
    return dim % rank


def axes_of(dims: Any, ndim: int) -> tuple[int, ...]:
    """The axes that `dims` names; all of them for None or nothing. Raises: as torch."""
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        return tuple(range(ndim))
    if isinstance(dims, int):
        dims = [dims]
    refuse_many_axes(ndim)
    found = [axis_of(dim, ndim) for dim in dims]
    for axis in found:
        if found.count(axis) > 1:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    return tuple(axis for axis in found if axis < ndim)


def sized(sizes: Iterable[int]) -> Shape:
    """The shape of a new tensor. Raises: RuntimeError, torch's."""
    shape = tuple(sizes)
    for n in shape:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            )
    return shape


CHANNELS_LAST: Final = {
    torch.channels_last: (0, 2, 3, 1),
    torch.channels_last_3d: (0, 2, 3, 4, 1),
}
"""The axes of torch's memory formats, from the slowest to the fastest."""


def strides_for(shape: Shape, memory_format: Any = None) -> Ints:
    """The strides of a new tensor in a memory format. Raises: RuntimeError, torch's."""
    order = CHANNELS_LAST.get(memory_format)
    if order is None:
        return in_rows(shape)
    if len(shape) != len(order):
        name = str(memory_format).removeprefix("torch.")
        raise RuntimeError(f"required rank {len(order)} tensor to use {name} format")
    return in_order(shape, order)


def suggested_format(shape: Shape, stride: Ints) -> Any:
    """The memory format with the channels last that strides follow, gaps or not; None if none."""
    for memory_format, order in CHANNELS_LAST.items():
        if len(order) == len(shape) and 0 not in shape and stride[0] != stride[1]:
            spans = [(stride[i], stride[i] * shape[i]) for i in reversed(order)]
            if all(span <= step for (_, span), (step, _) in pairwise(spans)):
                return memory_format
    return None


@remembered(4096)
def reach(size: Shape, stride: Ints, offset: int) -> int:
    """How many elements of a storage a geometry needs. Raises: RuntimeError, torch's."""
    if min(stride, default=0) < 0:
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, "
            f"got strides: {list(stride)}"
        )
    if 0 in size:
        return 0
    return offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def is_repeated(x: Any) -> bool:
    """Whether one element shows at several places: `expand`."""
    pairs = zip(x.shape, x.stride(), strict=True)
    return any(n > 1 and not s for n, s in pairs) and x.numel() > 0
