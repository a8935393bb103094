"""Samples of the pools."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError
from lazytensor.core.ir.dtypes import BF16
from tests.ops.sample import Refusal, Sample

_random = np.random.default_rng(29)
REASON = "XLA sums in another order than NumPy"
EPS = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14, BF16: 2e-2}

PLANS = [
    {"window": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "padding": ((0, 0),) * 4},
    {"window": (1, 3, 2, 1), "strides": (1, 2, 1, 1), "padding": ((0, 0), (1, 1), (0, 1), (0, 0))},
    {"window": (1, 2, 1, 1), "strides": (1, 3, 2, 1), "padding": ((0, 0), (1, 0), (0, 0), (0, 0))},
]


def _x(dtype: object, *shape: int) -> np.ndarray:
    return np.asarray(_random.integers(-4, 5, shape)).astype(dtype)  # with equal elements


SAMPLES = [
    Sample(ops.max_pool, (_x(dtype, 2, 5, 6, 3),), plan)
    for dtype in ("float16", "float32", "float64", "int32", BF16)
    for plan in PLANS
]
SAMPLES += [
    Sample(ops.mean_pool, (_x(dtype, 2, 5, 6, 3),), plan, EPS[dtype], REASON)
    for dtype in EPS
    for plan in PLANS
]


def _pooled(x: np.ndarray, plan: dict[str, object]) -> np.ndarray:
    from lazytensor.core.runtime.scheduler import fetch

    return fetch(ops.max_pool(ops.leaf(x), **plan))


for _dtype in ("float32", "float64"):
    for _plan in PLANS:
        _given = _x(_dtype, 2, 5, 6, 3)
        _made = _pooled(_given, _plan)
        _grad = _x(_dtype, *_made.shape)
        SAMPLES += [
            Sample(ops.max_pool_backward, (_grad, _given, _made), _plan),
            Sample(
                ops.mean_pool_backward, (_grad,), {"shape": _given.shape, **_plan},
                EPS[_dtype], REASON,
            ),
        ]  # fmt: skip

REFUSALS = [Refusal(ops.mean_pool, (np.zeros((1, 2, 2, 1), "int32"),), DTypeError, PLANS[0])]
