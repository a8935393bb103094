"""Samples of the statistics: composites, so their value is that of their bodies' ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import BF16
from tests.ops.sample import Refusal, Sample

_random = np.random.default_rng(11)
FLOATS = ("float16", "float32", "float64", BF16)
EPS = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-14, BF16: 1e-2}
REASON = "XLA sums in another order than NumPy"
SPECIAL = np.array([[1.0, -0.0, 3.0], [np.inf, 2.0, 1.0], [np.nan, 0.0, 5.0], [-np.inf, -1, 4]])


def _x(dtype: Any, *shape: int) -> np.ndarray:
    return _random.normal(size=shape).astype(dtype)


def _c(dtype: str, *shape: int) -> np.ndarray:
    return (_random.normal(size=shape) + 1j * _random.normal(size=shape)).astype(dtype)


def _wide(dtype: Any) -> Any:
    return "float32" if dtype in ("float16", BF16) else dtype


SAMPLES = [
    Sample(op, (_x(dtype, 3, 5), *extra), {"axes": (1,), "keepdims": keep}, EPS[dtype], REASON)
    for dtype in FLOATS
    for keep in (False, True)
    for op, extra in (
        (ops.mean, ()),
        (ops.variance, (np.array(4.0, _wide(dtype)),)),
        (ops.deviation, (np.array(5.0, _wide(dtype)),)),
        (ops.logsumexp, ()),
        (ops.norm2, ()),
    )
]
SAMPLES += [
    Sample(op, (_x(dtype, 2, 3, 4),), {"axis": axis}, EPS[dtype], REASON)
    for dtype in FLOATS
    for axis in (0, 2)
    for op in (ops.softmax, ops.masked_softmax, ops.log_softmax)
]
SAMPLES += [
    Sample(op, (_c(dtype, 4, 3), *extra), {"axes": (0, 1)}, 1e-5, REASON)
    for dtype in ("complex64", "complex128")
    for op, extra in (
        (ops.mean, ()),
        (ops.variance, (np.array(11.0, "f8" if dtype == "complex128" else "f4"),)),
        (ops.deviation, (np.array(11.0, "f8" if dtype == "complex128" else "f4"),)),
        (ops.norm2, ()),
    )
]
SAMPLES += [
    Sample(
        ops.masked_softmax, (np.array([[-np.inf, -np.inf], [-np.inf, 1], [2, 3]]),), {"axis": at}
    )
    for at in (0, 1)
]
SAMPLES += [
    Sample(op, (SPECIAL, *extra), attrs, 1e-14, REASON)
    for op, extra, attrs in (
        (ops.mean, (), {"axes": (1,)}),
        (ops.mean, (), {"axes": ()}),
        (ops.variance, (np.array(0.0),), {"axes": (0,)}),
        (ops.logsumexp, (), {"axes": (1,)}),
        (ops.softmax, (), {"axis": 1}),
        (ops.masked_softmax, (), {"axis": 1}),
        (ops.log_softmax, (), {"axis": 1}),
        (ops.norm2, (), {"axes": (1,)}),
    )
]
SAMPLES += [Sample(ops.logsumexp, (np.zeros((0, 2)),), {"axes": axes}) for axes in ((0,), (1,))]
FLAGS = np.array([[True, False, True, True], [False, False, True, False], [True] * 4])
MANY = _x("f8", 3, 40, 250)
SAMPLES += [
    Sample(op, (_x(dtype, 3, 4), FLAGS), {"axes": (1,)}, EPS[dtype], REASON)
    for op in (ops.chosen_mean, ops.counted_mean)
    for dtype in FLOATS
]
SAMPLES += [
    Sample(op, (x, flags), {"axes": axes, **kept}, tolerance, REASON)
    for op in (ops.chosen_mean, ops.counted_mean)
    for kept in ({}, {"keepdims": True})
    for x, flags, axes, tolerance in (
        (_c("complex128", 3, 4), FLAGS, (0,), 1e-14),
        (_x("f8", 3, 4), np.array([[True], [False], [True]]), (0, 1), 1e-14),
        (SPECIAL, SPECIAL > 0, (1,), 1e-14),
        (np.zeros((0, 3)), np.ones((0, 3), bool), (0,), 0.0),
        (np.array(2.5), np.array(True), (), 0.0),
        *((MANY, MANY > 0.1, axes, 1e-12) for axes in ((0, 1, 2), (1, 2), (2,), (1,))),
        (MANY.astype("f2"), MANY > 0.1, (1, 2), 1e-3),
        (_x("f8", 10_007), _x("f8", 10_007) > 0.1, (0,), 1e-12),
    )
]
SAMPLES += [
    Sample(ops.mean, (np.zeros((0, 3)),), {"axes": (0,)}),
    Sample(ops.mean, (np.zeros((0, 3)),), {"axes": (1,)}),
    Sample(ops.mean, (np.array(2.5),), {"axes": ()}),
    Sample(ops.mean, (_x("f8", 6, 4)[::-2, ::3],), {"axes": (0,)}, 1e-14, REASON),
]
POINTS = np.array([0.0, 1.0, 1.0, 2.5, 4.0])
ASKED = np.array([[-1.0, 0.0, 0.5], [1.0, 2.0, 4.0], [9.0, np.nan, np.inf]])
ENDS = (np.array(-7.0), np.array(8.0))
SAMPLES += [
    Sample(op, (x.astype(t), *(p.astype(t) for p in rest)), {}, tolerance, REASON)
    for t, tolerance in (("float32", 1e-6), ("float64", 1e-14))
    for op, x, rest in (
        (ops.interp, ASKED, (POINTS, POINTS**2, *ENDS)),
        (ops.interp, ASKED, (POINTS[:1], POINTS[:1], *ENDS)),
        (ops.interp, np.array(0.25), (POINTS, np.array([1, np.inf, 2, 2, 3]), *ENDS)),
    )
]
LIMITS = (np.array(1e-3), np.array(1e-3))
SAMPLES += [
    Sample(ops.is_close, (a.astype(t), b.astype(t), *(n.astype(t) for n in LIMITS)), attrs)
    for t in FLOATS
    for attrs in ({}, {"equal_nan": True})
    for a, b in ((SPECIAL, SPECIAL + 1e-2), (SPECIAL, SPECIAL[:1]), (SPECIAL, SPECIAL))
]

REFUSALS = [
    Refusal(ops.mean, (np.arange(3),), DTypeError, {"axes": (0,)}),
    Refusal(ops.mean, (np.zeros(3),), ShapeError, {"axes": (1,)}),
    *(
        Refusal(op, given, error, {"axes": (0,)})
        for op in (ops.chosen_mean, ops.counted_mean)
        for given, error in (
            ((np.arange(3), FLAGS[0, :3]), DTypeError),
            ((np.zeros(3), FLAGS), ShapeError),
        )
    ),
    Refusal(ops.variance, (np.zeros(3), np.array(3)), DTypeError, {"axes": (0,)}),
    Refusal(ops.deviation, (np.zeros(3), np.float32(3)), DTypeError, {"axes": (0,)}),
    Refusal(ops.softmax, (np.zeros(3),), ShapeError, {"axis": 1}),
    Refusal(ops.masked_softmax, (np.zeros(3, bool),), DTypeError, {"axis": 0}),
    Refusal(ops.log_softmax, (np.zeros(3, complex),), DTypeError, {"axis": 0}),
    Refusal(ops.norm2, (np.zeros(3, bool),), DTypeError, {"axes": (0,)}),
    Refusal(ops.interp, (ASKED, POINTS, POINTS.astype("f4"), *ENDS), DTypeError),
    Refusal(ops.interp, (ASKED, ASKED, ASKED, *ENDS), ShapeError),
    Refusal(ops.is_close, (np.zeros(3), np.zeros(2), *LIMITS), ShapeError),
    Refusal(ops.is_close, (np.arange(3), np.arange(3), *LIMITS), DTypeError),
]
