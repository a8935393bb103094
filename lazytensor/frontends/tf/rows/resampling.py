"""Images resized by a filter: a small matrix an axis, and its transpose for the way back.

The matrices follow from sizes and scales alone, which the host has. They are TensorFlow's, whose
arithmetic they are made with: single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from tensorflow.python.framework import dtypes

from lazytensor.core.ir.memo import remembered
from lazytensor.frontends.tf.dispatch.host import host_value
from lazytensor.frontends.tf.dispatch.table import answer, call
from lazytensor.frontends.tf.rows.shapes import attr
from lazytensor.frontends.tf.tensors.tensor import of_array, shape_of

Args = tuple[Any, ...]
F32: Final = np.float32
LEAST: Final = F32(1000) * np.finfo(F32).tiny
"""Sums of weights below which a row has nothing."""
STEPS: Final = 1024
"""TensorFlow's bicubic filter looks positions between two elements up to this precision."""


class Filter(NamedTuple):
    """How far it reaches, and its weight at a distance."""

    radius: float
    weight: Callable[[np.ndarray], np.ndarray]


def _lanczos(radius: float) -> Filter:
    return Filter(radius, lambda x: np.where(x <= radius, np.sinc(x) * np.sinc(x / radius), 0))


def _cubic(a: float, b: float) -> Callable[[np.ndarray], np.ndarray]:
    """Mitchell and Netravali's family of two parameters, within two elements."""

    def weight(x: np.ndarray) -> np.ndarray:
        near = (12 - 9 * a - 6 * b) * x**3 + (12 * a + 6 * b - 18) * x**2 + 6 - 2 * a
        far = -(a + 6 * b) * x**3 + (6 * a + 30 * b) * x**2 - (12 * a + 48 * b) * x + 8 * a + 24 * b
        return np.where(x < 1, near, np.where(x < 2, far, 0)) / 6

    return weight


FILTERS: Final = {
    "lanczos1": _lanczos(1),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "gaussian": Filter(1.5, lambda x: np.where(x < 1.5, np.exp(-2 * x * x), 0)),
    "box": Filter(0.5, lambda x: np.where(x < 0.5, 1, np.where(x == 0.5, 0.5, 0))),
    "triangle": Filter(1, lambda x: np.maximum(0, 1 - x)),
    "keyscubic": Filter(2, _cubic(0, 0.5)),
    "mitchellcubic": Filter(2, _cubic(1 / 3, 1 / 3)),
}


def _normal(weights: np.ndarray) -> np.ndarray:
    """Rows that sum to one; rows of nothing stay."""
    sums = weights.sum(axis=1, keepdims=True)
    there = np.abs(sums) >= LEAST
    return np.where(there, weights / np.where(there, sums, 1), 0).astype(F32)


@remembered(256)
def _filtered(
    size: int, length: int, scale: float, shift: float, kernel: str, antialias: bool
) -> np.ndarray:
    """The matrix from `length` elements to `size`, scaled and shifted."""
    inverse = F32(1) / F32(scale)
    at = (np.arange(size, dtype=F32) + F32(0.5)) * inverse - inverse * F32(shift)
    wide = max(inverse, F32(1)) if antialias else F32(1)
    radius, weight = FILTERS[kernel]
    first = np.ceil(at - F32(radius) * wide - F32(0.5)).clip(0, length - 1)
    last = np.floor(at + F32(radius) * wide - F32(0.5)).clip(0, length - 1)
    places = np.arange(length, dtype=F32)
    weights = weight(np.abs((places + F32(0.5) - at[:, None]) / wide)).astype(F32)
    reached = (places >= first[:, None]) & (places <= last[:, None])
    inside = (at >= 0) & (at <= length)
    return _normal(np.where(reached & inside[:, None], weights, 0))


@remembered(256)
def _bicubic(size: int, length: int, corners: bool, centred: bool) -> np.ndarray:
    """The matrix of `ResizeBicubic`; centred, it leaves out what is past the edges."""
    scale = F32(length - 1) / F32(size - 1) if corners and size > 1 else F32(length) / F32(size)
    at = np.arange(size, dtype=F32)
    at = (at + F32(0.5)) * scale - F32(0.5) if centred else at * scale
    start = np.floor(at)
    step = np.rint((at - start) * STEPS) / STEPS
    filter = _cubic(0, 0.5) if centred else _cubic(0, 0.75)
    made = np.zeros((size, length), F32)
    for i in (-1, 0, 1, 2):
        weights = filter(np.abs(step - i)).astype(F32)
        places = (start + i).astype(int)
        if centred:
            weights = np.where((places >= 0) & (places < length), weights, 0)
        np.add.at(made, (np.arange(size), places.clip(0, length - 1)), weights)
    return _normal(made) if centred else made


def _applied(images: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Images with a matrix for their heights and one for their widths."""
    if str(images.dtype.name) != "float32":
        images = call("Cast", images, "DstT", dtypes.float32)
    made = call("Einsum", [images, of_array(rows)], "equation", "bhwc,oh->bowc")
    return call("Einsum", [made, of_array(columns)], "equation", "bowc,pw->bopc")


def _transposed(x: Any, matrices: list[np.ndarray], like: Any) -> Any:
    rows, columns = (matrix.T.copy() for matrix in matrices)
    made = _applied(x, rows, columns)
    return made if like.dtype == made.dtype else call("Cast", made, "DstT", like.dtype)


def _filters(args: Args, images: Any, size: tuple[int, int], first: int) -> list[np.ndarray]:
    """The matrices of `ScaleAndTranslate`, whose scale and shift are inputs from `first` on."""
    scales, shifts = (host_value(x).array for x in args[first : first + 2])
    kernel = attr(args, 4, "kernel_type", "lanczos3")
    kernel = kernel.decode() if isinstance(kernel, bytes) else kernel
    antialias = bool(attr(args, 4, "antialias", True))
    return [
        _filtered(n, length, float(scale), float(shift), kernel, antialias)
        for n, length, scale, shift in zip(size, shape_of(images)[1:3], scales, shifts, strict=True)
    ]


def _bicubics(args: Args, images: Any, size: tuple[int, int]) -> list[np.ndarray]:
    corners = bool(attr(args, 2, "align_corners", False))
    centred = bool(attr(args, 2, "half_pixel_centers", False))
    lengths = shape_of(images)[1:3]
    return [_bicubic(n, m, corners, centred) for n, m in zip(size, lengths, strict=True)]


def _size(x: Any) -> tuple[int, int]:
    height, width = host_value(x).array.tolist()
    return height, width


def _scale(ctx: Any, name: Any, args: Args) -> Any:
    return _applied(args[0], *_filters(args, args[0], _size(args[1]), 2))


def _scale_gradient(ctx: Any, name: Any, args: Args) -> Any:
    slopes, images = args[:2]
    height, width = shape_of(slopes)[1:3]
    return _transposed(slopes, _filters(args, images, (height, width), 2), images)


def _resize(ctx: Any, name: Any, args: Args) -> Any:
    return _applied(args[0], *_bicubics(args, args[0], _size(args[1])))


def _resize_gradient(ctx: Any, name: Any, args: Args) -> Any:
    slopes, images = args[:2]
    height, width = shape_of(slopes)[1:3]
    return _transposed(slopes, _bicubics(args, images, (height, width)), images)


answer("ScaleAndTranslate", _scale)
answer("ScaleAndTranslateGrad", _scale_gradient)
answer("ResizeBicubic", _resize)
answer("ResizeBicubicGrad", _resize_gradient)
