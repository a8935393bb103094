"""Convolutions and their gradients: of images and volumes, plain and depthwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.ir.node import Node
from lazytensor.core.ops.convolutions import ConvolutionLayout
from lazytensor.frontends.tf.dispatch.table import rows
from lazytensor.frontends.tf.rows.windows import Ints, layout, paddings


def _plan(
    shape: Ints, kernel: Ints, *, strides: Ints, padding: str, explicit_paddings: Ints = (),
    data_format: str = "", dilations: Ints = (), **_: Any,
) -> tuple[ConvolutionLayout, Ints]:  # fmt: skip
    """The convolution, and the sizes of its data in space."""
    ndim = len(shape)
    form = layout(data_format or ("NHWC" if ndim == 4 else "NDHWC"), ndim)
    if shape[form.feature] % kernel[-2]:
        raise ValueError(f"{shape[form.feature]} features in groups of {kernel[-2]}")
    steps, gaps = form.inner(strides), form.inner(dilations or (1,) * ndim)
    sizes = form.inner(shape)
    pads = paddings(padding, explicit_paddings, sizes, kernel[:-2], steps, gaps, form)
    groups = shape[form.feature] // kernel[-2]
    axes = (ndim - 1, ndim - 2, *range(ndim - 2))
    return ConvolutionLayout(steps, pads, gaps, groups, form.order, axes), sizes


def _conv(x: Node, kernel: Node, **attrs: Any) -> Node:
    return _plan(x.type.shape, kernel.type.shape, **attrs)[0].of(x, kernel)


def _conv_of_input(shape: np.ndarray, kernel: Node, grad: Node, **attrs: Any) -> Node:
    plan, sizes = _plan(tuple(shape.tolist()), kernel.type.shape, **attrs)
    return plan.of_input(kernel, grad, sizes)


def _conv_of_kernel(x: Node, shape: np.ndarray, grad: Node, **attrs: Any) -> Node:
    kernel = tuple(shape.tolist())
    return _plan(x.type.shape, kernel, **attrs)[0].of_kernel(x, grad, kernel[:-2])


def _grouped(shape: Ints) -> Ints:
    """The kernel of a depthwise convolution as that of one with a group a feature."""
    *space, features, times = shape
    return (*space, 1, features * times)


def _wide(kernel: Node) -> Node:
    return ops.reshape(kernel, shape=_grouped(kernel.type.shape))


def _depthwise(x: Node, kernel: Node, **attrs: Any) -> Node:
    return _conv(x, _wide(kernel), **attrs)


def _depthwise_of_input(shape: np.ndarray, kernel: Node, grad: Node, **attrs: Any) -> Node:
    return _conv_of_input(shape, _wide(kernel), grad, **attrs)


def _depthwise_of_kernel(x: Node, shape: np.ndarray, grad: Node, **attrs: Any) -> Node:
    sizes = tuple(shape.tolist())
    made = _conv_of_kernel(x, np.array(_grouped(sizes)), grad, **attrs)
    return ops.reshape(made, shape=sizes)


rows({"Conv2D": _conv, "Conv3D": _conv, "DepthwiseConv2dNative": _depthwise})
rows({"Conv2DBackpropInput": _conv_of_input, "Conv3DBackpropInputV2": _conv_of_input,
      "DepthwiseConv2dNativeBackpropInput": _depthwise_of_input}, host=(0,))  # fmt: skip
rows({"Conv2DBackpropFilter": _conv_of_kernel, "Conv3DBackpropFilterV2": _conv_of_kernel,
      "DepthwiseConv2dNativeBackpropFilter": _depthwise_of_kernel}, host=(1,))  # fmt: skip
