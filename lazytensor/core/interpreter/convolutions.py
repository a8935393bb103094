"""Which call of a framework a convolution is: the plain one, or a gradient.

One op stands for all three: the gradient of the input runs the kernel backwards over a spread
result, that of the kernel has the batch as its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.contraction import Pairs, dense, layouts

Ints = tuple[int, ...]
SHORT_MULTIPLICATIONS: Final = 2**16
"""Multiplications of a convolution from which a framework's kernel is faster than NumPy."""


class Role(Enum):
    """What a convolution computes, in a framework's words."""

    PLAIN = auto()
    OF_INPUT = auto()
    OF_KERNEL = auto()


class ConvolutionCall(NamedTuple):
    """A framework's convolution, of which this op is the result or a gradient.

    `strides`, `gaps`, `padding` and `groups` are those of the framework's plain convolution. Of a
    gradient, the padding's end is negative where no window reaches the last elements.
    `orders`: the axes (batch, feature, space…) of the data, the kernel and the result of the op.
    """

    role: Role
    strides: Ints
    gaps: Ints
    padding: Pairs
    groups: int
    orders: tuple[Ints, Ints, Ints]

    @property
    def back(self) -> list[int]:
        """The order of axes that leads from (batch, feature, space…) to that of the result."""
        return [self.orders[2].index(i) for i in range(len(self.orders[2]))]

    def takes_bias(self, bias: TensorType, type: TensorType) -> bool:
        """Whether the framework's call of a result of this type adds such an operand to it."""
        feature = self.orders[2][1]
        line = tuple(n if i == feature else 1 for i, n in enumerate(type.shape))
        is_line = bias.shape == line and bias.dtype == type.dtype
        return is_line and self.role is not Role.OF_KERNEL


def call_of(
    operands: Sequence[TensorType],
    type: TensorType,
    *,
    strides: Ints,
    padding: Pairs,
    lhs_dilation: Ints,
    rhs_dilation: Ints,
    feature_groups: int,
    batch_groups: int,
    dimensions: tuple[Ints, Ints, Ints],
    reversal: tuple[bool, ...],
) -> ConvolutionCall | None:
    """The call of a framework that computes this op; None if there is none, or NumPy is fast."""
    x, w = operands
    n = len(strides)
    spread, gaps, flips = dense(n, lhs_dilation, rhs_dilation, reversal)
    orders = layouts(dimensions, x.ndim)
    if x.dtype not in (F32, F64) or type.dtype != x.dtype or batch_groups != 1:
        return None
    if w.size * type.size < SHORT_MULTIPLICATIONS or not x.size:
        return None
    given, window, made = (
        [each.shape[i] for i in order[2:]] for each, order in zip((x, w, type), orders, strict=True)
    )
    if all(flips) and set(strides) == {1} and feature_groups == 1:
        low = [g * (k - 1) - a for g, k, (a, _) in zip(gaps, window, padding, strict=True)]
        padded = _padded(made, given, window, spread, gaps, low)
        return _gradient(Role.OF_INPUT, spread, gaps, padded, orders)
    if any(flips) or set(spread) != {1} or min(a for a, _ in padding) < 0:
        return None
    if max(window) > max(made) and feature_groups == 1:  # the windows are few, and large
        low = [a for a, _ in padding]
        padded = _padded(given, window, made, gaps, strides, low)
        return _gradient(Role.OF_KERNEL, gaps, strides, padded, orders)
    if min(b for _, b in padding) < 0:
        return None
    return ConvolutionCall(Role.PLAIN, strides, gaps, padding, feature_groups, orders)


def _gradient(
    role: Role, strides: Ints, gaps: Ints, padding: Pairs | None, orders: tuple[Ints, Ints, Ints]
) -> ConvolutionCall | None:
    return None if padding is None else ConvolutionCall(role, strides, gaps, padding, 1, orders)


def _padded(
    sizes: Sequence[int], results: Sequence[int], window: Sequence[int],
    strides: Ints, gaps: Ints, low: Sequence[int],
) -> Pairs | None:  # fmt: skip
    """The padding of a convolution from `sizes` to `results` that begins with `low`."""
    found = []
    for n, m, k, s, g, a in zip(sizes, results, window, strides, gaps, low, strict=True):
        missing = (m - 1) * s + g * (k - 1) + 1 - n - a
        if a < 0 or missing <= -s:
            return None
        found.append((a, missing))
    return tuple(found)
