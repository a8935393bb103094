"""Samples of control flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import F64, S32
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.control import Region
from tests.ops.sample import Refusal, Sample

COUNT, ROW = tensor_type(S32), tensor_type(F64, (3,))


def region(function: Any, *types: Any) -> Region:
    return Region(function.__name__, trace_types(function, types, {}))


def below(i: Any, x: Any) -> Any:
    return ops.less(i, scalar(5, S32))


def doubled(i: Any, x: Any) -> Any:
    return ops.add(i, scalar(1, S32)), ops.add(x, ops.softmax(x, axis=0))


def small(x: Any) -> Any:
    return ops.less(ops.reduce_sum(x, axes=(0,)), scalar(100.0, F64))


def grown(x: Any) -> Any:
    return ops.multiply(ops.add(x, scalar(1.0, F64)), scalar(1.5, F64))


def turned(x: Any) -> Any:
    return ops.reverse(x, axes=(0,))


LOOP = {"condition": region(below, COUNT, ROW), "body": region(doubled, COUNT, ROW)}
ALONE = {"condition": region(small, ROW), "body": region(grown, ROW)}
BRANCHES = {"branches": (region(grown, ROW), region(turned, ROW))}
X = np.array([0.5, -1.0, 2.0])
NEAR = {"tolerance": 1e-13, "reason": "XLA's exponential"}

SAMPLES = [
    Sample(ops.while_, (np.int32(2), X), LOOP, **NEAR),
    Sample(ops.while_, (np.int32(9), X), LOOP),
    Sample(ops.while_, (X,), ALONE, tolerance=1e-14, reason="products and sums contract"),
    *(Sample(ops.case, (np.int32(i), X), BRANCHES) for i in (0, 1, 7, -1)),
]
REFUSALS = [
    Refusal(ops.while_, (np.int32(2), X[:2]), ShapeError, LOOP),
    Refusal(ops.while_, (np.int64(2), X), DTypeError, LOOP),
    Refusal(ops.case, (np.int64(0), X), DTypeError, BRANCHES),
    Refusal(ops.case, (np.int32(0), X[:2]), ShapeError, BRANCHES),
]
