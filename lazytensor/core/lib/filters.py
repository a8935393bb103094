"""Matrices that resize an axis by a filter, in single precision, as image libraries make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from lazytensor.core.ir.memo import remembered

_F32: Final = np.float32
LEAST_WEIGHT: Final = _F32(1000) * np.finfo(_F32).tiny
"""Sums of weights below which a row has nothing."""
CUBIC_STEPS: Final = 1024
"""A bicubic filter by a table looks positions between two elements up to this precision."""


class Filter(NamedTuple):
    """How far it reaches, and its weight at a distance."""

    radius: float
    weight: Callable[[np.ndarray], np.ndarray]


def _lanczos(radius: float) -> Filter:
    return Filter(radius, lambda x: np.where(x <= radius, np.sinc(x) * np.sinc(x / radius), 0))


def _cubic_family(a: float, b: float) -> Callable[[np.ndarray], np.ndarray]:
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
    "keyscubic": Filter(2, _cubic_family(0, 0.5)),
    "mitchellcubic": Filter(2, _cubic_family(1 / 3, 1 / 3)),
}


def _normal(weights: np.ndarray) -> np.ndarray:
    """Rows that sum to one; rows of nothing stay."""
    sums = weights.sum(axis=1, keepdims=True)
    there = np.abs(sums) >= LEAST_WEIGHT
    return np.where(there, weights / np.where(there, sums, 1), 0).astype(_F32)


@remembered(256)
def filter_matrix(
    size: int, length: int, scale: float, shift: float, kernel: str, antialias: bool
) -> np.ndarray:
    """The matrix from `length` elements to `size`, scaled and shifted, in single precision.

    Rows of the result that are beyond the elements have nothing.
    """
    inverse = _F32(1) / _F32(scale)
    at = (np.arange(size, dtype=_F32) + _F32(0.5)) * inverse - inverse * _F32(shift)
    wide = max(inverse, _F32(1)) if antialias else _F32(1)
    radius, weight = FILTERS[kernel]
    first = np.ceil(at - _F32(radius) * wide - _F32(0.5)).clip(0, length - 1)
    last = np.floor(at + _F32(radius) * wide - _F32(0.5)).clip(0, length - 1)
    places = np.arange(length, dtype=_F32)
    weights = weight(np.abs((places + _F32(0.5) - at[:, None]) / wide)).astype(_F32)
    reached = (places >= first[:, None]) & (places <= last[:, None])
    inside = (at >= 0) & (at <= length)
    return _normal(np.where(reached & inside[:, None], weights, 0))


@remembered(256)
def table_cubic_matrix(size: int, length: int, corners: bool, centred: bool) -> np.ndarray:
    """The matrix of a bicubic filter by a table; centred, it leaves out what is past the edges."""
    scale = _F32(length - 1) / _F32(size - 1) if corners and size > 1 else _F32(length) / _F32(size)
    at = np.arange(size, dtype=_F32)
    at = (at + _F32(0.5)) * scale - _F32(0.5) if centred else at * scale
    start = np.floor(at)
    step = np.rint((at - start) * CUBIC_STEPS) / CUBIC_STEPS
    filter = _cubic_family(0, 0.5) if centred else _cubic_family(0, 0.75)
    made = np.zeros((size, length), _F32)
    for i in (-1, 0, 1, 2):
        weights = filter(np.abs(step - i)).astype(_F32)
        places = (start + i).astype(int)
        if centred:
            weights = np.where((places >= 0) & (places < length), weights, 0)
        np.add.at(made, (np.arange(size), places.clip(0, length - 1)), weights)
    return _normal(made) if centred else made
