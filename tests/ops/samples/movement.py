"""Samples of the ops that move elements."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import BOOL, C64, F32, NUMBERS, STORED, short_name
from tests.ops.sample import Refusal, Sample

ALL = sorted(STORED, key=short_name)


def block(dtype: np.dtype, *shape: int) -> np.ndarray:
    """Small numbers of `dtype`; those of an integer or real dtype repeat after seven."""
    count = int(np.prod(shape))
    if dtype.kind == "c":
        return (np.arange(count) - 1j * np.arange(count)).astype(dtype).reshape(shape)
    return (np.arange(count) % 7 + (dtype == BOOL)).astype(dtype).reshape(shape)


def at(*numbers: int) -> np.ndarray:
    """A slice's starts."""
    return np.array(numbers, np.int64)


X = np.array([[1.0, -0.0, np.nan, np.inf], [4.0, 5.0, -6.0, 0.0], [8.0, 9.0, 1e-3, 2.0]])
CUBE = np.arange(60.0).reshape(3, 4, 5)
NOTHING = np.zeros((0, 3))

BROADCASTS = [
    *(Sample(ops.broadcast, (block(d, 3, 1),), {"shape": (2, 3, 4)}) for d in ALL),
    Sample(ops.broadcast, (np.float32(-0.0),), {"shape": (2, 2)}),
    Sample(ops.broadcast, (np.zeros((1, 3)),), {"shape": (0, 3)}),
    Sample(ops.broadcast, (X,), {"shape": (3, 4)}),
]
RESHAPES = [
    *(Sample(ops.reshape, (block(d, 2, 6),), {"shape": (3, 4)}) for d in ALL),
    Sample(ops.reshape, (X,), {"shape": (2, 1, 6)}),
    Sample(ops.reshape, (np.zeros((1, 1)),), {"shape": ()}),
    Sample(ops.reshape, (NOTHING,), {"shape": (3, 0, 2)}),
]
TRANSPOSES = [
    *(Sample(ops.transpose, (block(d, 2, 3),), {"axes": (1, 0)}) for d in ALL),
    Sample(ops.transpose, (CUBE,), {"axes": (1, 2, 0)}),
    Sample(ops.transpose, (CUBE,), {"axes": (0, 1, 2)}),
    Sample(ops.transpose, (NOTHING,), {"axes": (1, 0)}),
    Sample(ops.transpose, (np.float64(2),), {"axes": ()}),
]
SLICES = [
    *(
        Sample(ops.slice, (block(d, 3, 4), at(2, 1)), {"sizes": (2, 2), "strides": (-2, 2)})
        for d in ALL
    ),
    Sample(ops.slice, (X, at(0, 0)), {"sizes": (3, 4), "strides": (1, 1)}),
    Sample(ops.slice, (X, at(2, 3)), {"sizes": (3, 4), "strides": (-1, -1)}),
    Sample(ops.slice, (X, at(1, 3)), {"sizes": (1, 2), "strides": (-7, -3)}),
    Sample(ops.slice, (X, at(3, 0)), {"sizes": (0, 2), "strides": (1, 1)}),
    Sample(ops.slice, (CUBE, at(0, 1, 4)), {"sizes": (3, 3, 1), "strides": (1, 1, 1)}),
    Sample(ops.slice, (np.float64(3), at()), {"sizes": (), "strides": ()}),
]
UPDATES = [
    *(
        Sample(ops.update_slice, (block(d, 3, 4), block(d, 2, 2), at(2, 1)), {"strides": (-2, 2)})
        for d in ALL
    ),
    Sample(ops.update_slice, (X, -X, at(2, 3)), {"strides": (-1, -1)}),
    Sample(ops.update_slice, (X, X[:1] + 1, at(1, 0)), {"strides": (1, 1)}),
    Sample(ops.update_slice, (X, X[:, :1] + 1, at(0, 2)), {"strides": (1, -9)}),
    Sample(ops.update_slice, (X, X[:0], at(3, 0)), {"strides": (1, 1)}),
    Sample(ops.update_slice, (CUBE, -CUBE[:1, :2, :2], at(2, 3, 0)), {"strides": (1, -3, 4)}),
    Sample(ops.update_slice, (np.float64(3), np.float64(4), at()), {"strides": ()}),
]
REVERSALS = [
    *(Sample(ops.reverse, (block(d, 2, 3),), {"axes": (1,)}) for d in ALL),
    Sample(ops.reverse, (CUBE,), {"axes": (0, 2)}),
    Sample(ops.reverse, (X,), {"axes": ()}),
    Sample(ops.reverse, (NOTHING,), {"axes": (0, 1)}),
]


def padded(x: np.ndarray, value: object, low: tuple, high: tuple, interior: tuple) -> Sample:
    value = np.asarray(value, x.dtype)
    return Sample(ops.pad, (x, value), {"low": low, "high": high, "interior": interior})


PADS = [
    *(padded(block(d, 2, 3), 1, (1, 0), (0, 2), (0, 1)) for d in ALL),
    padded(X, np.nan, (2, -1), (-1, 3), (0, 0)),
    padded(X, -0.0, (0, -3), (0, 0), (2, 1)),
    padded(X, 7.0, (-2, 0), (1, 0), (1, 0)),
    padded(NOTHING, 1.0, (2, 0), (1, 0), (5, 0)),
    padded(np.float32(2), 1.0, (), (), ()),
]
JOINS = [
    *(Sample(ops.concatenate, (block(d, 2, 3), block(d, 2, 1)), {"axis": 1}) for d in ALL),
    Sample(ops.concatenate, (X, X[:0], X[1:]), {"axis": 0}),
    Sample(ops.concatenate, (X,), {"axis": 1}),
]
COUNTS = [
    *(
        Sample(ops.iota, (), {"dtype": d, "shape": (2, 5), "axis": 1})
        for d in sorted(NUMBERS, key=short_name)
    ),
    Sample(ops.iota, (), {"dtype": np.dtype(np.int8), "shape": (300,), "axis": 0}),
    Sample(ops.iota, (), {"dtype": np.dtype(np.int64), "shape": (2, 3, 4), "axis": 0}),
    Sample(ops.iota, (), {"dtype": np.dtype(np.float32), "shape": (0, 3), "axis": 1}),
]
DIAGONALS = [
    (X, 0, 0, 1),
    (X, 2, 0, 1),
    (X, -1, 0, 1),
    (X, 1, 1, 0),
    (X, -9, 0, 1),
    (X, 4, 0, 1),
    (CUBE, 0, 0, 1),
    (CUBE, 1, 2, 0),
    (CUBE, -2, 1, 2),
    (CUBE, -1, 2, 1),
    (NOTHING, 0, 0, 1),
    *((block(d, 3, 4), 1, 0, 1) for d in ALL),
]


def diagonals() -> list[Sample]:
    found = []
    for x, offset, axis1, axis2 in DIAGONALS:
        attrs = {"offset": offset, "axis1": axis1, "axis2": axis2}
        value = np.ascontiguousarray(np.flip(x.diagonal(offset, axis1, axis2)))
        found.append(Sample(ops.diagonal, (x,), attrs))
        found.append(Sample(ops.update_diagonal, (x, value), attrs))
    return found


SAMPLES = [
    *BROADCASTS,
    *RESHAPES,
    *TRANSPOSES,
    *SLICES,
    *UPDATES,
    *REVERSALS,
    *PADS,
    *JOINS,
    *COUNTS,
    *diagonals(),
]

ONE = np.ones((2, 3), F32)
LINE = np.ones(3, F32)
ZERO = np.zeros((), F32)
REFUSALS = [
    Refusal(ops.broadcast, (ONE,), ShapeError, {"shape": (2, 4)}),
    Refusal(ops.broadcast, (ONE,), ShapeError, {"shape": (3,)}),
    Refusal(ops.reshape, (ONE,), ShapeError, {"shape": (5,)}),
    Refusal(ops.transpose, (ONE,), ShapeError, {"axes": (0, 0)}),
    Refusal(ops.transpose, (ONE,), ShapeError, {"axes": (0,)}),
    Refusal(ops.slice, (ONE, at(0)), ShapeError, {"sizes": (1, 1), "strides": (1, 1)}),
    Refusal(ops.slice, (ONE, at(0, 0)), ShapeError, {"sizes": (1, 1), "strides": (0, 1)}),
    Refusal(ops.slice, (ONE, at(0, 0)), ShapeError, {"sizes": (1, 3), "strides": (1, 2)}),
    Refusal(ops.slice, (ONE, at(0, 0)), ShapeError, {"sizes": (1, -1), "strides": (1, 1)}),
    Refusal(ops.update_slice, (ONE, ONE.astype(int), at(0, 0)), DTypeError, {"strides": (1, 1)}),
    Refusal(ops.update_slice, (LINE, ONE, at(0)), ShapeError, {"strides": (1,)}),
    Refusal(ops.update_slice, (LINE, np.ones(4, F32), at(0)), ShapeError, {"strides": (1,)}),
    Refusal(ops.reverse, (ONE,), ShapeError, {"axes": (2,)}),
    Refusal(ops.reverse, (ONE,), ShapeError, {"axes": (1, 1)}),
    Refusal(ops.pad, (LINE, LINE), ShapeError, {"low": (0,), "high": (0,), "interior": (0,)}),
    Refusal(ops.pad, (LINE, ZERO), ShapeError, {"low": (-2,), "high": (-2,), "interior": (0,)}),
    Refusal(ops.pad, (LINE, ZERO), ShapeError, {"low": (0,), "high": (0,), "interior": (-1,)}),
    Refusal(ops.pad, (LINE, ZERO > 0), DTypeError, {"low": (0,), "high": (0,), "interior": (0,)}),
    Refusal(ops.concatenate, (ONE, ONE.astype(C64)), DTypeError, {"axis": 0}),
    Refusal(ops.concatenate, (ONE, LINE), ShapeError, {"axis": 0}),
    Refusal(ops.concatenate, (ONE, ONE[:, :2]), ShapeError, {"axis": 0}),
    Refusal(ops.concatenate, (ONE, ONE), ShapeError, {"axis": 2}),
    Refusal(ops.iota, (), DTypeError, {"dtype": BOOL, "shape": (2,), "axis": 0}),
    Refusal(ops.iota, (), ShapeError, {"dtype": F32, "shape": (2,), "axis": 1}),
    Refusal(ops.diagonal, (LINE,), ShapeError, {"offset": 0, "axis1": 0, "axis2": 1}),
    Refusal(ops.diagonal, (ONE,), ShapeError, {"offset": 0, "axis1": 1, "axis2": 1}),
    Refusal(ops.update_diagonal, (ONE, LINE), ShapeError, {"offset": 0, "axis1": 0, "axis2": 1}),
    Refusal(
        ops.update_diagonal,
        (ONE, np.ones(2)),
        DTypeError,
        {"offset": 0, "axis1": 0, "axis2": 1},
    ),
]
