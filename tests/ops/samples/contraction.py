"""Samples of dot_general and convolution."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from tests.ops.sample import Refusal, Sample

BF16 = np.dtype(ml_dtypes.bfloat16)
INTS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype(np.float16), BF16, np.dtype(np.float32), np.dtype(np.float64)]
COMPLEX = [np.dtype(np.complex64), np.dtype(np.complex128)]
DTYPES = INTS + FLOATS + COMPLEX
REASON = "the additions are made in another order"


def _array(shape: tuple[int, ...], dtype: np.dtype, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype.kind in "iu":
        return np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape)
    numbers = rng.standard_normal(shape) + 2  # so that sums do not cancel
    if dtype.kind == "c":
        numbers = numbers + 1j * rng.standard_normal(shape)
    return np.asarray(numbers).astype(dtype)


def _sample(
    op: Any, shapes: Any, attrs: dict[str, Any], dtype: np.dtype, ulps: float = 4
) -> Sample:
    operands = tuple(_array(shape, dtype, seed) for seed, shape in enumerate(shapes))
    if dtype in INTS:
        return Sample(op, operands, attrs)
    return Sample(op, operands, attrs, ulps * float(ml_dtypes.finfo(dtype).eps), REASON)


MATRICES = ((3, 4), (4, 5)), {"contract": ((1,), (0,))}
DOTS = [
    MATRICES,
    (((3, 4), (4,)), {"contract": ((1,), (0,))}),
    (((4,), (4, 3)), {"contract": ((0,), (0,))}),
    (((4,), (4,)), {"contract": ((0,), (0,))}),
    (((3,), (4,)), {}),
    (((), (3,)), {}),
    (((2, 3, 4), (2, 4, 5)), {"batch": ((0,), (0,)), "contract": ((2,), (1,))}),
    (((2, 3, 4), (2, 4)), {"batch": ((0,), (0,)), "contract": ((2,), (1,))}),
    (((4, 2, 3), (5, 3, 2)), {"batch": ((1,), (2,)), "contract": ((2,), (1,))}),
    (((2, 3), (2, 3)), {"batch": ((0, 1), (0, 1))}),
    (((2, 3, 4), (3, 4, 2)), {"contract": ((0, 1, 2), (2, 0, 1))}),
    (((2, 3, 2), (2, 7, 2)), {"contract": ((0, 2), (2, 0))}),
    (((2, 6, 3), (3, 7, 2)), {"batch": ((0,), (2,)), "contract": ((2,), (0,))}),
    (((3, 0), (0, 5)), {"contract": ((1,), (0,))}),
    (((0, 4), (4, 5)), {"contract": ((1,), (0,))}),
]
WIDENED = [
    ("int8", "int32"),
    ("uint8", "uint64"),
    ("int32", "int64"),
    ("int64", "int16"),
    (BF16, "float32"),
    ("float16", "float32"),
    ("float32", "float64"),
    ("float32", BF16),
    ("complex64", "complex128"),
]


def _widened(narrow: Any, wide: Any) -> Sample:
    operands = _array((7, 30), np.dtype(narrow)), _array((30, 6), np.dtype(narrow), 1)
    attrs = {"contract": ((1,), (0,)), "dtype": np.dtype(wide)}
    if np.dtype(wide) in INTS:
        return Sample(ops.dot_general, operands, attrs)
    eps = float(ml_dtypes.finfo(np.dtype(wide)).eps)
    return Sample(ops.dot_general, operands, attrs, 8 * eps, REASON)


def _special() -> Sample:
    x = np.array([[np.nan, 1, 0], [np.inf, 1, 0], [-np.inf, np.inf, 1], [1, 2, 3]])
    return Sample(ops.dot_general, (x, np.array([1.0, 2.0, 0.0])), {"contract": ((1,), (0,))})


def _long(dtype: Any) -> Sample:
    """Ones enough to stop a sum made in a half: at 2048 in f16, at 256 in bf16."""
    ones = np.ones(3000, dtype)
    return Sample(ops.dot_general, (ones, ones), {"contract": ((0,), (0,))})


SAME = {"strides": (1, 1), "padding": ((1, 1), (1, 1))}
CHANNELS_LAST = ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
LARGE = [
    (((1, 2, 8), (4, 2, 3)), {"strides": (1,), "padding": ((1, 1),)}),
    (((2, 3, 8, 9), (4, 3, 3, 2)), {"strides": (2, 1), "padding": ((1, 0), (0, 2))}),
    (
        ((2, 3, 8, 9), (4, 3, 3, 2)),
        {
            "strides": (1, 1),
            "padding": ((-1, 2), (3, -2)),
            "lhs_dilation": (2, 3),
            "rhs_dilation": (2, 1),
        },
    ),
    (((2, 4, 6, 6), (6, 2, 3, 3)), {**SAME, "feature_groups": 2}),
    (((2, 4, 6, 6), (4, 1, 3, 3)), {**SAME, "feature_groups": 4}),
    (((4, 4, 6, 6), (6, 4, 3, 3)), {**SAME, "batch_groups": 2}),
    (((2, 6, 6, 3), (3, 3, 3, 4)), {**SAME, "dimensions": CHANNELS_LAST}),
    (
        ((1, 2, 5, 6, 4), (3, 2, 2, 2, 2)),
        {
            "strides": (1, 2, 1),
            "padding": ((0, 0), (1, 1), (0, 1)),
            "reversal": (True, False, True),
        },
    ),
]
VALID = {"strides": (1,), "padding": ((0, 0),)}
EDGES = [
    (((2, 0, 4), (3, 0, 2)), VALID),
    (((2, 1, 2), (3, 1, 4)), VALID),
    (((0, 1, 6), (3, 1, 4)), VALID),
    (((2, 1, 6), (3, 1, 4)), {"strides": (1,), "padding": ((-4, -4),)}),
    (((2, 1, 0), (3, 1, 2)), {"strides": (1,), "padding": ((2, 2),)}),
    (((2, 1, 6), (3, 1, 2)), {"strides": (1,), "padding": ((-3, 1),), "lhs_dilation": (3,)}),
]
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)

LONG_SUMS = (((64, 300), (300, 64)), ((20, 3000), (3000, 20)))
"""Of 64-bit integers, these are computed in limbs, of two widths; of complex numbers, in parts."""

SAMPLES = [
    *(
        _sample(ops.dot_general, shapes, MATRICES[1], dtype, ulps=64)
        for shapes in LONG_SUMS
        for dtype in (INTS[3], INTS[7], *COMPLEX)
    ),
    *(_sample(ops.dot_general, *case, dtype) for case in DOTS for dtype in (INTS[3], F32, F64)),
    *(_sample(ops.dot_general, *MATRICES, dtype) for dtype in DTYPES),
    *(_widened(*pair) for pair in WIDENED),
    *(_long(dtype) for dtype in (np.float16, BF16)),
    _special(),
    *(_sample(ops.convolution, *case, F32) for case in LARGE + EDGES),
    *(_sample(ops.convolution, *LARGE[1], dtype) for dtype in DTYPES),
]

_F, _I = np.zeros((3, 4), F32), np.zeros((3, 4), np.int32)
_X, _W = np.zeros((2, 3, 8), F32), np.zeros((4, 3, 3), F32)
REFUSALS = [
    Refusal(ops.dot_general, (_F, _I), DTypeError, {"contract": ((0,), (0,))}),
    Refusal(ops.dot_general, (_F > 0, _F > 0), DTypeError, {"contract": ((0,), (0,))}),
    Refusal(ops.dot_general, (_F, _F), ShapeError, {"contract": ((1,), (0,))}),
    Refusal(ops.dot_general, (_F, _F), ShapeError, {"contract": ((0, 1), (0,))}),
    Refusal(ops.dot_general, (_F, _F), ShapeError, {"contract": ((2,), (0,))}),
    Refusal(
        ops.dot_general, (_F, _F), ShapeError, {"batch": ((0,), (0,)), "contract": ((0,), (0,))}
    ),
    Refusal(ops.dot_general, (_F, _F), DTypeError, {"contract": ((0,), (0,)), "dtype": _I.dtype}),
    Refusal(ops.convolution, (_X, _W.astype(F64)), DTypeError, VALID),
    Refusal(ops.convolution, (_X[0], _W), ShapeError, VALID),
    Refusal(ops.convolution, (_X, _W[:, :2]), ShapeError, VALID),
    Refusal(ops.convolution, (_X, _W[:, :, :0]), ShapeError, VALID),
    Refusal(ops.convolution, (_X, _W), ShapeError, {**VALID, "strides": (0,)}),
    Refusal(ops.convolution, (_X, _W), ShapeError, {**VALID, "padding": ()}),
    Refusal(ops.convolution, (_X, _W[:, :1]), ShapeError, {**VALID, "feature_groups": 3}),
    Refusal(ops.convolution, (_X, _W), ShapeError, {**VALID, "batch_groups": 3}),
    Refusal(
        ops.convolution, (_X, _W), ShapeError, {**VALID, "dimensions": ((0, 1), (0, 1, 2), ())}
    ),
]
