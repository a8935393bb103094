"""The convolution and its gradients, as torch's own kernels compute them.

One op stands for all three: the gradient of the input runs the kernel backwards over a spread
result, that of the weight has the batch as its features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch

from lazytensor.core.interpreter.rows import Reference
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.types import TensorType
from lazytensor.core.ops.contraction import dense, layouts
from lazytensor.frontends.torch.host.call import on_arrays

Ints = tuple[int, ...]
SHORT_MULTIPLICATIONS: Final = 2**16
"""Multiplications of a convolution from which torch is faster than NumPy."""
aten: Final = torch.ops.aten


def convolution(
    operands: Sequence[TensorType],
    type: TensorType,
    *,
    strides: Ints,
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: Ints,
    rhs_dilation: Ints,
    feature_groups: int,
    batch_groups: int,
    dimensions: tuple[Ints, Ints, Ints],
    reversal: tuple[bool, ...],
) -> Reference | None:
    """Torch's kernel of a convolution of these types, if it has one."""
    x, w = operands
    n = len(strides)
    spread, gaps, flips = dense(n, lhs_dilation, rhs_dilation, reversal)
    orders = layouts(dimensions, x.ndim)
    if x.dtype not in (F32, F64) or type.dtype != x.dtype or batch_groups != 1:
        return None
    if w.size * type.size < SHORT_MULTIPLICATIONS or not x.size:
        return None
    low, high = zip(*padding, strict=True)
    sizes = [w.shape[i] for i in orders[1][2:]]
    if all(flips) and set(strides) == {1} and feature_groups == 1:
        edges = [g * (k - 1) for g, k in zip(gaps, sizes, strict=True)]
        pads = [e - p for e, p in zip(edges, low, strict=True)]
        extra = [b - a for a, b in zip(low, high, strict=True)]
        if min(pads) < 0 or any(not 0 <= e < s for e, s in zip(extra, spread, strict=True)):
            return None
        return _laid(orders, type, _of_input(spread, pads, gaps, extra))
    if any(flips) or set(spread) != {1} or min(low) < 0:
        return None
    wanted = [type.shape[i] for i in orders[2][2:]]
    if max(sizes) > max(wanted) and feature_groups == 1:  # the windows are few, and large
        return _laid(orders, type, _of_weight(orders, operands, type, gaps, low, strides))
    if low != high:
        return None
    return _laid(orders, type, _plain(strides, low, gaps, feature_groups))


def _laid(orders: Any, type: TensorType, kernel: Any) -> Reference | None:
    """The kernel on operands in torch's order of axes, its result in the op's."""
    if kernel is None:
        return None
    back = [orders[2].index(i) for i in range(type.ndim)]

    def function(x: Any, w: Any) -> Any:
        made = kernel(x.permute(orders[0]), w.permute(orders[1]))
        return made.permute(back).contiguous()

    return on_arrays(function)


def _plain(strides: Ints, pads: Ints, gaps: Ints, groups: int) -> Any:
    zero = [0] * len(strides)

    def kernel(x: Any, w: Any) -> Any:
        return aten.convolution.default(x, w, None, strides, pads, gaps, False, zero, groups)

    return kernel


def _of_input(strides: Ints, pads: list[int], gaps: Ints, extra: list[int]) -> Any:
    def kernel(x: Any, w: Any) -> Any:
        w = w.transpose(0, 1)
        return aten.convolution.default(x, w, None, strides, pads, gaps, True, extra, 1)

    return kernel


def _of_weight(
    orders: Any, operands: Any, type: TensorType, strides: Ints, pads: Ints, gaps: Ints
) -> Any:
    """The gradient of a weight: x has its features where the batch was, w is the result's."""
    x, w = operands
    wanted = [type.shape[i] for i in orders[2][2:]]
    for s, p, g, k, i, j in zip(
        strides, pads, gaps, wanted, orders[0][2:], orders[1][2:], strict=True
    ):
        if (x.shape[i] + 2 * p - g * (k - 1) - 1) // s + 1 != w.shape[j]:
            return None
    shape = [type.shape[orders[2][1]], type.shape[orders[2][0]], *wanted]
    zero, only = [0] * len(strides), [False, True, False]

    def kernel(x: Any, w: Any) -> Any:
        given, grad = x.transpose(0, 1), w.transpose(0, 1)
        found = aten.convolution_backward.default(
            grad, given, grad.new_empty(shape), None, strides, pads, gaps, False, zero, 1, only
        )
        return found[1].transpose(0, 1)

    return kernel
