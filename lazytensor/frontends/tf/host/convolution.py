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
    if len(operands) > 2:  # with a bias
        return None
    found = call_of(operands, type, **attrs)
    if found is None or type.ndim != 4 or found.groups != 1:
        return None
    if found.role is not Role.PLAIN and set(found.gaps) != {1}:
        return None
    return _KERNELS[found.role](found, (*operands, type))


def _attrs(found: ConvolutionCall, image: Sequence[int], result: Sequence[int]) -> list[Any]:
    """The attributes of the raw op. image, result: the pixels of TensorFlow's convolution.

    Explicit padding takes TensorFlow up to twice as long for gradients, even if it is none.
    """
    pads = [max(n, 0) for pair in found.padding for n in pair]
    if not any(pads):
        padding: list[Any] = ["VALID"]
    elif _is_same(found, image, result):
        padding = ["SAME"]
    else:
        padding = ["EXPLICIT", "explicit_paddings", [0, 0, *pads, 0, 0]]
    return [
        "strides", [1, *found.strides, 1], "dilations", [1, *found.gaps, 1], "padding", *padding,
    ]  # fmt: skip


def _is_same(found: ConvolutionCall, image: Sequence[int], result: Sequence[int]) -> bool:
    """Whether the padding is TensorFlow's `SAME`: as little as gives each stride a place."""
    each = zip(image, result, found.strides, found.padding, strict=True)
    return found.role is not Role.PLAIN and all(
        m == -(-n // stride) and low == max(low + high, 0) // 2
        for n, m, stride, (low, high) in each
    )


def _image(x: np.ndarray, order: Sequence[int]) -> np.ndarray:
    return x.transpose(order).transpose(LAST)


def _pixels(type: TensorType, order: Sequence[int]) -> list[int]:
    return [type.shape[i] for i in order[2:]]


def _plain(found: ConvolutionCall, types: Sequence[TensorType]) -> Reference:
    first, second, third = found.orders
    attrs = _attrs(found, _pixels(types[0], first), _pixels(types[2], third))

    def function(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        kernel = w.transpose(second).transpose(2, 3, 1, 0)
        made = call("Conv2D", [_image(x, first), kernel], *attrs)
        return made.transpose(FIRST).transpose(found.back)

    return function


def _of_input(found: ConvolutionCall, types: Sequence[TensorType]) -> Reference:
    first, second, third = found.orders
    sizes = np.array([types[2].shape[third[i]] for i in LAST], np.int32)
    attrs = _attrs(found, _pixels(types[2], third), _pixels(types[0], first))

    def function(grad: np.ndarray, w: np.ndarray) -> np.ndarray:
        kernel = w.transpose(second).transpose(2, 3, 0, 1)
        made = call("Conv2DBackpropInput", [sizes, kernel, _image(grad, first)], *attrs)
        return made.transpose(FIRST).transpose(found.back)

    return function


def _of_kernel(found: ConvolutionCall, types: Sequence[TensorType]) -> Reference:
    first, second, third = found.orders
    sizes = np.array([types[2].shape[third[i]] for i in (2, 3, 0, 1)], np.int32)
    attrs = _attrs(found, _pixels(types[0], first), _pixels(types[1], second))

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
