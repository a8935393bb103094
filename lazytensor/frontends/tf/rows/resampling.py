"""Images resized by a filter: a small matrix an axis, and its transpose for the way back.

The matrices follow from sizes and scales alone, which the host has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core.ir.dtypes import F32
from lazytensor.core.ir.node import Node
from lazytensor.core.lib.filters import filter_matrix, table_cubic_matrix
from lazytensor.core.lib.numbers import cast_to
from lazytensor.core.lib.resampling import mapped
from lazytensor.frontends.tf.dispatch.table import rows

Matrices = list[np.ndarray]


def _filters(
    images: Node, size: Any, scales: np.ndarray, shifts: np.ndarray, *,
    kernel_type: Any = "lanczos3", antialias: bool = True, **_: Any,
) -> Matrices:  # fmt: skip
    kernel = kernel_type.decode() if isinstance(kernel_type, bytes) else kernel_type
    lengths = images.type.shape[1:3]
    return [
        filter_matrix(int(n), length, float(scale), float(shift), kernel, bool(antialias))
        for n, length, scale, shift in zip(size, lengths, scales, shifts, strict=True)
    ]


def _bicubics(
    images: Node, size: Any, *, align_corners: bool = False, half_pixel_centers: bool = False,
    **_: Any,
) -> Matrices:  # fmt: skip
    flags = bool(align_corners), bool(half_pixel_centers)
    return [
        table_cubic_matrix(int(n), m, *flags)
        for n, m in zip(size, images.type.shape[1:3], strict=True)
    ]


def _applied(images: Node, matrices: Matrices) -> Node:
    return mapped(cast_to(images, F32), matrices, first=1)


def _transposed(grad: Node, images: Node, matrices: Matrices) -> Node:
    made = mapped(cast_to(grad, F32), [matrix.T for matrix in matrices], first=1)
    return cast_to(made, images.type.dtype)


def _scale(images: Node, size: np.ndarray, *numbers: np.ndarray, **attrs: Any) -> Node:
    return _applied(images, _filters(images, size, *numbers, **attrs))


def _scale_gradient(grad: Node, images: Node, *numbers: np.ndarray, **attrs: Any) -> Node:
    size = grad.type.shape[1:3]
    return _transposed(grad, images, _filters(images, size, *numbers, **attrs))


def _resize(images: Node, size: np.ndarray, **attrs: Any) -> Node:
    return _applied(images, _bicubics(images, size, **attrs))


def _resize_gradient(grad: Node, images: Node, **attrs: Any) -> Node:
    return _transposed(grad, images, _bicubics(images, grad.type.shape[1:3], **attrs))


rows({"ScaleAndTranslate": _scale}, host=(1, 2, 3), moving=True, always=True)
rows({"ScaleAndTranslateGrad": _scale_gradient}, host=(2, 3), moving=True)
rows({"ResizeBicubic": _resize}, host=(1,), moving=True, always=True)
rows({"ResizeBicubicGrad": _resize_gradient}, moving=True)
