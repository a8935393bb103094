"""The convolution of images and its gradients, as TensorFlow's own kernels compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lazytensor.core import ops
from lazytensor.core.interpreter.convolutions import ConvolutionCall, Role, call_of
from lazytensor.core.interpreter.rows import HOST_KERNELS, Reference
from lazytensor.core.ir.types import TensorType
from lazytensor.frontends.tf.host.call import call

LAST: Final = (0, 2, 3, 1)
"""From (batch, feature, space) to TensorFlow's order of an image, (batch, space, feature)."""
FIRST: Final = (0, 3, 1, 2)
"""The way back."""


def convolution(operands: Sequence[TensorType], type: TensorType, **attrs: Any) -> Reference | None:
    """TensorFlow's kernel of a convolution of these types, if it has one."""
    found = call_of(operands, type, **attrs)
    if found is None or type.ndim != 4 or found.groups != 1:
        return None
    if found.role is not Role.PLAIN and set(found.gaps) != {1}:
        return None
    return _KERNELS[found.role](found, type)


def _attrs(found: ConvolutionCall) -> list[Any]:
    pads = [0, 0, *(max(n, 0) for pair in found.padding for n in pair), 0, 0]
    return [
        "strides", [1, *found.strides, 1], "dilations", [1, *found.gaps, 1],
        "padding", "EXPLICIT", "explicit_paddings", pads,
    ]  # fmt: skip


def _image(x: np.ndarray, order: Sequence[int]) -> np.ndarray:
    return x.transpose(order).transpose(LAST)


def _plain(found: ConvolutionCall, _: TensorType) -> Reference:
    first, second = found.orders[:2]
    attrs = _attrs(found)

    def function(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        kernel = w.transpose(second).transpose(2, 3, 1, 0)
        made = call("Conv2D", [_image(x, first), kernel], *attrs)
        return made.transpose(FIRST).transpose(found.back)

    return function


def _of_input(found: ConvolutionCall, type: TensorType) -> Reference:
    first, second, third = found.orders
    sizes = np.array([type.shape[third[i]] for i in LAST], np.int32)
    attrs = _attrs(found)

    def function(grad: np.ndarray, w: np.ndarray) -> np.ndarray:
        kernel = w.transpose(second).transpose(2, 3, 0, 1)
        made = call("Conv2DBackpropInput", [sizes, kernel, _image(grad, first)], *attrs)
        return made.transpose(FIRST).transpose(found.back)

    return function


def _of_kernel(found: ConvolutionCall, type: TensorType) -> Reference:
    first, second, third = found.orders
    sizes = np.array([type.shape[third[i]] for i in (2, 3, 0, 1)], np.int32)
    attrs = _attrs(found)

    def function(x: np.ndarray, grad: np.ndarray) -> np.ndarray:
        # The features are where the batch was.
        image, given = (
            each.transpose(order).transpose(1, 2, 3, 0)
            for each, order in ((x, first), (grad, second))
        )
        made = call("Conv2DBackpropFilter", [image, sizes, given], *attrs)
        return made.transpose(2, 3, 0, 1).transpose(found.back)

    return function


_KERNELS: Final[dict[Role, Callable[..., Reference]]] = {
    Role.PLAIN: _plain,
    Role.OF_INPUT: _of_input,
    Role.OF_KERNEL: _of_kernel,
}
HOST_KERNELS.setdefault(ops.convolution.name, convolution)
