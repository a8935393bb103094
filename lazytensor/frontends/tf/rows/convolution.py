"""Convolutions and their gradients: of images and volumes, plain and depthwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.windows import Ints, Layout, Pairs, layout, paddings


class Spec(NamedTuple):
    """A convolution: the data's layout, and per spatial axis its numbers; the groups."""

    form: Layout
    sizes: Ints
    windows: Ints
    steps: Ints
    gaps: Ints
    pads: Pairs
    groups: int


def _spec(
    shape: Ints, kernel: Ints, *, strides: Ints, padding: str, explicit_paddings: Ints = (),
    data_format: str = "", dilations: Ints = (), **_: Any,
) -> Spec:  # fmt: skip
    ndim = len(shape)
    form = layout(data_format or ("NHWC" if ndim == 4 else "NDHWC"), ndim)
    if shape[form.feature] % kernel[-2]:
        raise ValueError(f"{shape[form.feature]} features in groups of {kernel[-2]}")
    windows = kernel[:-2]
    steps, gaps = form.inner(strides), form.inner(dilations or (1,) * ndim)
    sizes = form.inner(shape)
    pads = paddings(padding, explicit_paddings, sizes, windows, steps, gaps, form)
    return Spec(form, sizes, windows, steps, gaps, pads, shape[form.feature] // kernel[-2])


def _kernel_axes(ndim: int) -> Ints:
    """Output features, input features, space."""
    return (ndim - 1, ndim - 2, *range(ndim - 2))


def _forward(x: Node, kernel: Node, spec: Spec) -> Node:
    return ops.convolution(
        x, kernel, strides=spec.steps, padding=spec.pads, rhs_dilation=spec.gaps,
        feature_groups=spec.groups,
        dimensions=(spec.form.order, _kernel_axes(kernel.type.ndim), spec.form.order),
    )  # fmt: skip


def _of_input(kernel: Node, grad: Node, spec: Spec) -> Node:
    """The gradient of the input: a convolution of the stretched gradient, the kernel backwards."""
    groups, ndim = spec.groups, kernel.type.ndim
    *space, each, features = kernel.type.shape
    if groups > 1:  # (in / groups, out) becomes (in, out / groups)
        n = len(space)
        split = ops.reshape(kernel, shape=(*space, each, groups, features // groups))
        split = ops.transpose(split, axes=(*range(n), n + 1, n, n + 2))
        kernel = ops.reshape(split, shape=(*space, each * groups, features // groups))
    outs = spec.form.inner(grad.type.shape)
    pads = tuple(
        (g * (k - 1) - low, m - ((o - 1) * s + 1) + low)
        for m, k, o, s, g, (low, _) in zip(
            spec.sizes, spec.windows, outs, spec.steps, spec.gaps, spec.pads, strict=True
        )
    )
    return ops.convolution(
        grad, kernel, strides=(1,) * len(outs), padding=pads, lhs_dilation=spec.steps,
        rhs_dilation=spec.gaps, feature_groups=groups, reversal=(True,) * len(outs),
        dimensions=(spec.form.order, (ndim - 2, ndim - 1, *range(ndim - 2)), spec.form.order),
    )  # fmt: skip


def _of_kernel(x: Node, grad: Node, spec: Spec) -> Node:
    """The gradient of the kernel: features and batch change places."""
    form, ndim = spec.form, x.type.ndim
    swapped = (form.feature, form.batch, *form.spatial)
    outs = form.inner(grad.type.shape)
    pads = tuple(
        (low, (k - 1) * g + (o - 1) * s + 1 - m - low)
        for m, k, o, s, g, (low, _) in zip(
            spec.sizes, spec.windows, outs, spec.steps, spec.gaps, spec.pads, strict=True
        )
    )
    return ops.convolution(
        x, grad, strides=spec.gaps, padding=pads, rhs_dilation=spec.steps,
        batch_groups=spec.groups,
        dimensions=(swapped, swapped, (ndim - 2, ndim - 1, *range(ndim - 2))),
    )  # fmt: skip


def _conv(x: Node, kernel: Node, **attrs: Any) -> Node:
    return _forward(x, kernel, _spec(x.type.shape, kernel.type.shape, **attrs))


def _conv_of_input(shape: np.ndarray, kernel: Node, grad: Node, **attrs: Any) -> Node:
    sizes = tuple(int(n) for n in shape)
    return _of_input(kernel, grad, _spec(sizes, kernel.type.shape, **attrs))


def _conv_of_kernel(x: Node, shape: np.ndarray, grad: Node, **attrs: Any) -> Node:
    sizes = tuple(int(n) for n in shape)
    return _of_kernel(x, grad, _spec(x.type.shape, sizes, **attrs))


def _grouped(shape: Ints) -> Ints:
    """The kernel of a depthwise convolution as that of one with a group a feature."""
    *space, features, times = shape
    return (*space, 1, features * times)


def _depthwise(x: Node, kernel: Node, **attrs: Any) -> Node:
    kernel = ops.reshape(kernel, shape=_grouped(kernel.type.shape))
    return _forward(x, kernel, _spec(x.type.shape, kernel.type.shape, **attrs))


def _depthwise_of_input(shape: np.ndarray, kernel: Node, grad: Node, **attrs: Any) -> Node:
    kernel = ops.reshape(kernel, shape=_grouped(kernel.type.shape))
    sizes = tuple(int(n) for n in shape)
    return _of_input(kernel, grad, _spec(sizes, kernel.type.shape, **attrs))


def _depthwise_of_kernel(x: Node, shape: np.ndarray, grad: Node, **attrs: Any) -> Node:
    sizes = tuple(int(n) for n in shape)
    made = _of_kernel(x, grad, _spec(x.type.shape, _grouped(sizes), **attrs))
    return ops.reshape(made, shape=sizes)


rows({"Conv2D": _conv, "Conv3D": _conv, "DepthwiseConv2dNative": _depthwise})
rows({"Conv2DBackpropInput": _conv_of_input, "Conv3DBackpropInputV2": _conv_of_input,
      "DepthwiseConv2dNativeBackpropInput": _depthwise_of_input}, host=(0,))  # fmt: skip
rows({"Conv2DBackpropFilter": _conv_of_kernel, "Conv3DBackpropFilterV2": _conv_of_kernel,
      "DepthwiseConv2dNativeBackpropFilter": _depthwise_of_kernel}, host=(1,))  # fmt: skip
