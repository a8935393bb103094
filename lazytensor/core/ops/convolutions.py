"""Convolutions in any layout, and their gradients, which are convolutions as well."""

from __future__ import annotations

from typing import NamedTuple

from lazytensor.core.ir.node import Node
from lazytensor.core.ops.contraction import convolution
from lazytensor.core.ops.movement import reshape, transpose

Ints = tuple[int, ...]


class ConvolutionLayout(NamedTuple):
    """The windows of a convolution: numbers for each spatial axis, feature groups, and the layouts.

    `gaps`: distance of a window's elements. `data`: the axes (batch, feature, space…) of the data
    and the result. `kernel`: the axes (output feature, input feature, space…) of the kernel.
    """

    strides: Ints
    padding: tuple[tuple[int, int], ...]
    gaps: Ints
    groups: int
    data: Ints
    kernel: Ints

    def of(self, x: Node, kernel: Node) -> Node:
        """The convolution of `x` by a kernel."""
        return convolution(
            x, kernel, strides=self.strides, padding=self.padding, rhs_dilation=self.gaps,
            feature_groups=self.groups, dimensions=(self.data, self.kernel, self.data),
        )  # fmt: skip

    def of_input(self, kernel: Node, grad: Node, sizes: Ints) -> Node:
        """The gradient of the input, of these spatial sizes, times `grad`.

        It is the dilated gradient convolved with the reversed kernel: a transposed convolution.
        """
        out, into, *space = self.kernel
        still = (1,) * len(sizes)
        padding = tuple(
            (g * (kernel.type.shape[k] - 1) - low, m + low - (grad.type.shape[o] - 1) * s - 1)
            for m, k, o, s, g, (low, _) in zip(
                sizes, space, self.data[2:], self.strides, self.gaps, self.padding, strict=True
            )
        )
        return convolution(
            grad, self._regrouped(kernel), strides=still, padding=padding,
            lhs_dilation=self.strides, rhs_dilation=self.gaps, feature_groups=self.groups,
            reversal=(True,) * len(sizes), dimensions=(self.data, (into, out, *space), self.data),
        )  # fmt: skip

    def of_kernel(self, x: Node, grad: Node, sizes: Ints) -> Node:
        """The gradient of the kernel, of these spatial sizes: features and batch swap places."""
        batch, feature, *space = self.data
        swapped = (feature, batch, *space)
        out, into, *rest = self.kernel
        padding = tuple(
            (low, (k - 1) * g + (grad.type.shape[axis] - 1) * s + 1 - x.type.shape[axis] - low)
            for k, axis, s, g, (low, _) in zip(
                sizes, space, self.strides, self.gaps, self.padding, strict=True
            )
        )
        return convolution(
            x, grad, strides=self.gaps, padding=padding, rhs_dilation=self.strides,
            batch_groups=self.groups, dimensions=(swapped, swapped, (into, out, *rest)),
        )  # fmt: skip

    def _regrouped(self, kernel: Node) -> Node:
        """The kernel with (out / groups, in) features instead of (out, in / groups)."""
        groups, (out, into, *_) = self.groups, self.kernel
        if groups == 1:
            return kernel
        shape = kernel.type.shape
        split = (*shape[:out], groups, shape[out] // groups, *shape[out + 1 :])
        order = [axis for axis in range(len(split)) if axis != out]
        order.insert(order.index(into + (into > out)), out)
        merged = list(shape)
        merged[out], merged[into] = shape[out] // groups, shape[into] * groups
        return reshape(
            transpose(reshape(kernel, shape=split), axes=tuple(order)), shape=tuple(merged)
        )
