"""Samples of control flow."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.composite import trace_types
from lazytensor.core.ir.dtypes import F64, S32, S64
from lazytensor.core.ir.op import scalar
from lazytensor.core.ir.types import tensor_type
from lazytensor.core.ops.control import Region
from tests.ops.sample import Refusal, Sample

COUNT, ROW, TIME = tensor_type(S32), tensor_type(F64, (3,)), tensor_type(S64)


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


def summed(time: Any, line: Any, before: Any, share: Any) -> Any:
    after = before * share + line
    return after, after * ops.convert(time, dtype=F64), ops.reverse(line, axes=(0,))


def counted(time: Any, line: Any) -> Any:
    return ops.convert(time, dtype=F64) * line


LOOP = {"condition": region(below, COUNT, ROW), "body": region(doubled, COUNT, ROW)}
ALONE = {"condition": region(small, ROW), "body": region(grown, ROW)}
BRANCHES = {"branches": (region(grown, ROW), region(turned, ROW))}
X = np.array([0.5, -1.0, 2.0])
TIMES = np.arange(12.0).reshape(4, 3)
SUMS = {"body": region(summed, TIME, ROW, ROW, ROW), "given": 1, "state": 1}
COUNTS = {"body": region(counted, TIME, tensor_type(F64)), "given": 1, "state": 0}
NEAR = {"tolerance": 1e-13, "reason": "XLA's exponential"}

SAMPLES = [
    Sample(ops.while_, (np.int32(2), X), LOOP, **NEAR),
    Sample(ops.while_, (np.int32(9), X), LOOP),
    Sample(ops.while_, (X,), ALONE, tolerance=1e-14, reason="products and sums contract"),
    *(
        Sample(ops.scan, (np.int64(end), TIMES, X, X), {**SUMS, "backwards": backwards})
        for end in (4, 2, 0)
        for backwards in (False, True)
    ),
    Sample(ops.scan, (np.int64(3), X), {**COUNTS, "backwards": False}),
    *(Sample(ops.case, (np.int32(i), X), BRANCHES) for i in (0, 1, 7, -1)),
]
REFUSALS = [
    Refusal(ops.while_, (np.int32(2), X[:2]), ShapeError, LOOP),
    Refusal(ops.while_, (np.int64(2), X), DTypeError, LOOP),
    Refusal(ops.scan, (np.int32(4), TIMES, X, X), DTypeError, {**SUMS, "backwards": False}),
    Refusal(ops.scan, (np.int64(4), X, X, X), ShapeError, {**SUMS, "backwards": False}),
    Refusal(ops.scan, (np.int64(4), np.float64(1.0)), ShapeError, {**COUNTS, "backwards": False}),
    Refusal(ops.case, (np.int64(0), X), DTypeError, BRANCHES),
    Refusal(ops.case, (np.int32(0), X[:2]), ShapeError, BRANCHES),
]
