"""Products with windows that slide over an array, recorded as convolutions."""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import NamedTuple

from lazytensor.core.ir.dtypes import FLOATS
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import SLOT
from lazytensor.core.ops.contraction import convolution
from lazytensor.core.ops.indexing import strided
from lazytensor.core.ops.movement import pad, reshape

Ints = tuple[int, ...]


class Windows(NamedTuple):
    """Windows one step apart over `array`; `over`: for each window axis, the array's axis."""

    array: Node
    over: Ints


def convolved(x: Node, y: Node, contract: tuple[Ints, Ints]) -> Node | None:
    """`dot_general(x, y, contract=contract)` where x or y is a view of windows of an array.

    None unless one operand is such a view, of floats. Besides the windows' axes, the product must
    sum over one of its axes and keep one; the other operand must keep one axis.
    """
    for data, kernel, axes in ((x, y, contract), (y, x, contract[::-1])):
        windows = _windows(data)
        if windows is not None:
            return _convolution(windows, kernel, axes, kernel_first=kernel is x)
    return None


def _windows(x: Node) -> Windows | None:
    """The windows that `x` is a view of."""
    if x.op is not strided or not x.operands or x.type.dtype not in FLOATS:
        return None
    line, start = x.operands
    if line.op is not reshape or not line.operands or start.value != (0,):
        return None
    (array,) = line.operands
    shape, strides = x.attrs
    sizes, n = array.type.shape, array.type.ndim
    rows = tuple(accumulate(sizes[:0:-1], mul, initial=1))[::-1]
    # The stride of an axis of one element says nothing.
    axes = {row: axis for axis, row in enumerate(rows) if sizes[axis] > 1}
    over = tuple(axes[stride] for stride in strides[n:] if stride in axes)
    if len(set(over)) != len(strides) - n:
        return None
    if any(a != b for a, b, size in zip(strides[:n], rows, shape[:n], strict=True) if size > 1):
        return None
    seen = list(sizes)
    for axis, size in zip(over, shape[n:], strict=True):
        seen[axis] -= size - 1
    return Windows(array, over) if tuple(seen) == shape[:n] else None


def _convolution(
    windows: Windows, kernel: Node, contract: tuple[Ints, Ints], *, kernel_first: bool
) -> Node | None:
    array, over = windows
    n, spatial = array.type.ndim, len(over)
    axes = dict(zip(*contract, strict=True))
    features = [axis for axis in axes if axis < n]
    free = [axis for axis in range(kernel.type.ndim) if axis not in axes.values()]
    if n != spatial + 2 or len(features) != 1 or len(free) != 1 or features[0] in over:
        return None
    if any(n + i not in axes for i in range(spatial)):
        return None
    (feature,), (result,) = features, free
    (batch,) = {*range(n)} - {feature, *over}
    kernel_axes = (result, axes[feature], *(axes[n + i] for i in range(spatial)))
    # The result's axes: the kernel's own, and the windows' remaining ones, in order.
    left = [axis for axis in range(n) if axis != feature]
    order = [feature, *left] if kernel_first else [*left, feature]
    dimensions = (
        (batch, feature, *over),
        kernel_axes,
        tuple(order.index(axis) for axis in (batch, feature, *over)),
    )
    array, padding = _unpadded(array, over)
    return convolution(
        array, kernel, strides=(1,) * spatial, padding=padding, dimensions=dimensions
    )


def _unpadded(x: Node, axes: Ints) -> tuple[Node, tuple[Ints, ...]]:
    """`x` without the zeros around these axes, and how many there were."""
    none = ((0, 0),) * len(axes)
    if x.op is not pad or not x.operands:
        return x, none
    inner, zero = x.operands
    low, high, interior = x.attrs
    others = [i for i in range(x.type.ndim) if i not in axes]
    if zero.op is not SLOT or zero.value != 0 or any(interior):
        return x, none
    if any(low[i] or high[i] for i in others) or min(*low, *high) < 0:
        return x, none
    return inner, tuple((low[i], high[i]) for i in axes)
