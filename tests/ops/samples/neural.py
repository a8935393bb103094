"""Samples of the ops of neural networks: composites, so their value is that of their bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import BF16
from tests.ops.sample import Refusal, Sample

_random = np.random.default_rng(23)
FLOATS = ("float16", "float32", "float64", BF16)
EPS = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14, BF16: 2e-2}
REASON = "XLA sums in another order than NumPy"


def _x(dtype: Any, *shape: int) -> np.ndarray:
    return np.asarray(_random.normal(size=shape)).astype(dtype)


def _wide(dtype: Any) -> Any:
    return "float32" if dtype in ("float16", BF16) else dtype


SAMPLES = [
    Sample(op, tuple(_x(dtype, 3, 5) for _ in range(n)), {"approximate": how}, EPS[dtype], REASON)
    for dtype in FLOATS
    for op, n in ((ops.gelu, 1), (ops.gelu_backward, 2))
    for how in (False, True)
]
SAMPLES += [
    Sample(ops.threshold_backward, (_x(dtype, 3, 5), _x(dtype, 3, 5), _x(dtype)), {})
    for dtype in FLOATS
]
SAMPLES += [
    Sample(op, (_x(dtype, 2, 3, 4), _x(dtype, 2, 3, 4)), {"axis": axis}, EPS[dtype], REASON)
    for dtype in FLOATS
    for op in (ops.softmax_backward, ops.log_softmax_backward)
    for axis in (0, 2)
]
SAMPLES += [
    Sample(
        ops.linear,
        (_x(dtype, *shape), _x(dtype, *weight), *([_x(dtype, 5)] if bias else [])),
        {},
        EPS[dtype],
        REASON,
    )
    for dtype in FLOATS
    for shape, weight, bias in (
        ((3, 4), (5, 4), True),
        ((2, 3, 4), (5, 4), True),
        ((4,), (5, 4), False),
        ((2, 3, 4), (4,), False),
    )
]
SAMPLES += [
    Sample(
        ops.linear_backward,
        (_x(dtype, *grad), _x(dtype, *shape), _x(dtype, *weight)),
        {"wanted": wanted},
        EPS[dtype],
        REASON,
    )
    for dtype in FLOATS
    for grad, shape, weight, wanted in (
        ((3, 5), (3, 4), (5, 4), (True, True, True)),
        ((2, 3, 5), (2, 3, 4), (5, 4), (False, True, True)),
        ((5,), (4,), (5, 4), (True, True, True)),
        ((2, 3), (2, 3, 4), (4,), (True, True, False)),
    )
]
SAMPLES += [
    Sample(
        op,
        (_x(dtype, 3, 2, 4), np.array(1e-5, _wide(dtype)), *(_x(dtype, 4) for _ in range(n))),
        {"axes": 1},
        EPS[dtype],
        REASON,
    )
    for dtype in FLOATS
    for op in (ops.layer_norm, ops.layer_norm_inference)
    for n in (0, 1, 2)
]
_FLAGS = np.array([[True, False, True], [False, False, False]])
SAMPLES += [
    Sample(
        ops.attention,
        (
            *(_x(dtype, *shape) for shape in ((2, 2, 4), (2, 3, 4), (2, 3, 5))),
            np.array(0.5, _wide(dtype)),
            *mask,
        ),
        {"causal": causal},
        4 * EPS[dtype],
        REASON,
    )
    for dtype in FLOATS
    for mask, causal in (
        ((), False),
        ((), True),
        ((_FLAGS,), False),
        ((_x(dtype, 2, 1, 3),), False),
    )
]
SAMPLES += [
    Sample(
        ops.layer_norm_backward,
        (
            *(_x(dtype, 3, 4) for _ in range(2)),
            *(_x(_wide(dtype), 3, 1) for _ in range(2)),
            *(_x(dtype, 4) for _ in range(n)),
        ),
        {"axes": 1},
        EPS[dtype],
        REASON,
    )
    for dtype in FLOATS
    for n in (0, 1)
]
SAMPLES += [
    Sample(
        op, (*(_x(dtype, 3, 4) for _ in range(n)), np.array(0.25, dtype)), {}, EPS[dtype], REASON
    )
    for dtype in FLOATS
    for op, n in ((ops.lerp, 2), (ops.add_product, 3), (ops.add_quotient, 3))
]
for _dtype in FLOATS:
    _lines = [np.abs(_x(_wide(_dtype), 3)) for _ in range(4)]
    _rows = (
        (ops.channel_moments, 1, 0, {}),
        (ops.batch_norm, 1, 2, {}),
        (ops.batch_norm, 1, 4, {}),
        (ops.batch_norm_backward, 2, 2, {"fixed": True}),
        (ops.batch_norm_backward, 2, 3, {"fixed": False}),
    )
    SAMPLES += [
        Sample(
            op,
            (*(_x(_dtype, 2, 3, 4) for _ in range(n)), *_lines[:m]),
            {"axis": 1, **attrs},
            EPS[_dtype],
            REASON,
        )
        for op, n, m, attrs in _rows
    ]

REFUSALS = [
    Refusal(ops.channel_moments, (np.arange(6).reshape(2, 3),), DTypeError, {"axis": 1}),
    Refusal(ops.batch_norm, (np.zeros((2, 3)), np.zeros(2), np.zeros(2)), ShapeError, {"axis": 1}),
    Refusal(
        ops.batch_norm_backward,
        (np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(3), np.zeros(2)),
        ShapeError,
        {"axis": 1, "fixed": True},
    ),
    Refusal(ops.lerp, (np.zeros(3), np.zeros(3), np.zeros(2)), ShapeError, {}),
    Refusal(ops.add_product, (np.zeros(3), np.zeros(3), np.zeros(3), np.arange(3)), DTypeError, {}),
    Refusal(ops.add_quotient, (np.zeros(3), np.zeros(2), np.zeros(3), np.ones(3)), ShapeError, {}),
    Refusal(ops.gelu, (np.arange(3),), DTypeError, {}),
    Refusal(ops.gelu_backward, (np.zeros(3), np.zeros(3, "f4")), DTypeError, {}),
    Refusal(ops.threshold_backward, (np.zeros(3), np.zeros(4), np.zeros(())), ShapeError, {}),
    Refusal(ops.softmax_backward, (np.zeros(3), np.zeros(4)), ShapeError, {"axis": 0}),
    Refusal(ops.log_softmax_backward, (np.zeros(3), np.zeros(4)), ShapeError, {"axis": 0}),
    Refusal(ops.linear, (np.zeros((2, 3)), np.zeros((5, 4))), ShapeError),
    Refusal(
        ops.linear_backward,
        (np.zeros((2, 6)), np.zeros((2, 3)), np.zeros((5, 3))),
        ShapeError,
        {"wanted": (True, True, True)},
    ),
    Refusal(
        ops.layer_norm, (np.zeros((2, 3)), np.array(0.1), np.zeros(2)), ShapeError, {"axes": 1}
    ),
    Refusal(
        ops.attention, (*(np.zeros((2, n)) for n in (3, 3, 4)), np.array(0.1, "f4")), DTypeError, {}
    ),
    Refusal(ops.attention, (*(np.zeros((2, n)) for n in (3, 4, 4)), np.array(0.1)), ShapeError, {}),
    Refusal(
        ops.layer_norm_inference,
        (np.zeros((2, 3)), np.array(0.1), np.zeros(2)),
        ShapeError,
        {"axes": 1},
    ),
    Refusal(
        ops.layer_norm_backward,
        (np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(4), np.zeros(1)),
        ShapeError,
        {"axes": 1},
    ),
]
