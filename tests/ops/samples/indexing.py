"""Samples of gather and scatter."""

from __future__ import annotations

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import BOOL, NUMBERS, ORDERED, STORED, DTypes, short_name
from tests.ops.sample import Refusal, Sample

Axes = tuple[int, ...]


def random() -> np.random.Generator:
    return np.random.default_rng(11)


def whole(dtype: np.dtype, *shape: int, least: int = 0) -> np.ndarray:
    """Small whole numbers: their sums and products are exact in every dtype."""
    numbers = random().integers(0, 2 if dtype == BOOL else 3, shape)
    return (least + numbers).astype(dtype)


def index(*shape: int, below: int) -> np.ndarray:
    return np.asarray(random().integers(0, below, shape), np.int64)


X = random().standard_normal((4, 5, 6))
X[0, 0, :3] = np.nan, np.inf, -0.0
NOTHING = np.zeros((0, 3))
NO_INDEX = np.zeros((0,), np.int64)

PLACES: list[tuple[tuple[np.ndarray, ...], Axes]] = [
    ((index(2, 3, below=4),), (0,)),
    ((index(3, below=5),), (1,)),
    ((index(7, below=6),), (2,)),
    ((index(2, 3, below=4), index(3, below=5)), (0, 1)),
    ((index(2, 1, below=6), index(2, 3, below=4)), (2, 0)),
    ((index(2, 3, below=4), index(3, below=5), index(2, 1, below=6)), (0, 1, 2)),
    ((np.array([3, 9, 0]),), (0,)),
    ((np.array([3, 9, 0]), np.array([7, 1, 2])), (1, 2)),
    ((np.array(2),), (1,)),
    ((NO_INDEX,), (0,)),
    ((NO_INDEX, np.array([3])), (0, 2)),
]


def updates_for(x: np.ndarray, indices: tuple[np.ndarray, ...], axes: Axes) -> tuple[int, ...]:
    """The shape of updates: the indices' shape, then the sizes of the axes not indexed."""
    front = np.broadcast_shapes(*(i.shape for i in indices))
    return front + tuple(n for axis, n in enumerate(x.shape) if axis not in axes)


def scatters(dtypes: DTypes, mode: str) -> list[Sample]:
    places = np.array([[2, 0], [2, 3]])
    return [
        Sample(
            ops.scatter,
            (whole(dtype, 3, 2), whole(dtype, 2, 2, 2, least=1), places),
            {"axes": (0,), "mode": mode},
        )
        for dtype in sorted(dtypes, key=short_name)
    ]


GATHERS = [
    *(
        Sample(ops.gather, (whole(d, 3, 4), index(2, 2, below=4)), {"axes": (1,)})
        for d in sorted(STORED, key=short_name)
    ),
    *(Sample(ops.gather, (X, *indices), {"axes": axes}) for indices, axes in PLACES),
    Sample(ops.gather, (NOTHING, NO_INDEX), {"axes": (0,)}),
    Sample(ops.gather, (NOTHING, index(2, 2, below=3)), {"axes": (1,)}),
]
SCATTERS = [
    *scatters(STORED, "set"),
    *scatters(NUMBERS, "add"),
    *scatters(NUMBERS, "mul"),
    *scatters(ORDERED, "min"),
    *scatters(ORDERED, "max"),
    *(
        Sample(
            ops.scatter,
            (X, random().integers(-4, 4, updates_for(X, indices, axes)).astype(float), *indices),
            {"axes": axes, "mode": mode},
            tolerance,
            reason,
        )
        for indices, axes in PLACES
        for mode, tolerance, reason in [
            ("set", None, ""),
            ("add", 1e-15, "the order of additions to one place"),
            ("max", None, ""),
        ]
    ),
    Sample(
        ops.scatter,
        (np.zeros((3, 2)), random().standard_normal((400, 2)), index(400, below=4)),
        {"axes": (0,), "mode": "set"},
    ),
    Sample(ops.scatter, (NOTHING, NOTHING, NO_INDEX), {"axes": (0,), "mode": "add"}),
]
ALONG = [
    *(
        Sample(ops.take_along, (whole(d, 3, 4), index(3, 2, below=4)), {"axis": 1})
        for d in sorted(STORED, key=short_name)
    ),
    Sample(ops.take_along, (X, index(4, 2, 6, below=9)), {"axis": 1}),
    Sample(ops.take_along, (X, index(4, 1, 3, below=6)), {"axis": 2}),
    Sample(ops.take_along, (X[:1], index(4, 5, 3, below=6)), {"axis": 2}),
    Sample(ops.take_along, (X, index(1, 5, 1, below=4)), {"axis": 0}),
    Sample(ops.take_along, (X, np.zeros((4, 0, 6), np.int64)), {"axis": 1}),
]
LINE = random().standard_normal(24)
START = np.array([1])
STRIDED = [
    *(
        Sample(ops.strided, (whole(d, 24), START), {"shape": (3, 4), "strides": (4, 1)})
        for d in sorted(STORED, key=short_name)
    ),
    Sample(ops.strided, (LINE, START), {"shape": (2, 3, 2), "strides": (1, 6, 2)}),
    Sample(ops.strided, (LINE, np.array([23])), {"shape": (4, 2), "strides": (-6, -1)}),
    Sample(ops.strided, (LINE, START), {"shape": (5, 3), "strides": (1, 1)}, view=False),
    Sample(ops.strided, (LINE, START), {"shape": (), "strides": ()}),
    Sample(ops.strided, (LINE, START), {"shape": (0, 3), "strides": (1, 1)}),
]
HEADS = np.array([1, 2, 5])
SEGMENTS = [
    *(
        Sample(ops.reduce_segments, (whole(d, 7, 2), HEADS), {"axis": 0, "mode": mode})
        for mode, dtypes in (("add", NUMBERS), ("mul", NUMBERS), ("min", ORDERED), ("max", ORDERED))
        for d in sorted(dtypes, key=short_name)
    ),
    Sample(ops.reduce_segments, (X, np.array([0, 3])), {"axis": 2, "mode": "max"}),
    Sample(
        ops.reduce_segments, (whole(np.dtype(float), 40, 50), HEADS), {"axis": 1, "mode": "add"}
    ),
]
SAMPLES = [*SEGMENTS, *GATHERS, *SCATTERS, *ALONG, *STRIDED]

PAIR = index(2, below=3)
REFUSALS = [
    Refusal(ops.reduce_segments, (X, PAIR), ValueError, {"axis": 0, "mode": "set"}),
    Refusal(ops.reduce_segments, (X, PAIR * 1.0), DTypeError, {"axis": 0, "mode": "add"}),
    Refusal(ops.reduce_segments, (X, NO_INDEX), ShapeError, {"axis": 0, "mode": "add"}),
    Refusal(ops.reduce_segments, (X, PAIR), ShapeError, {"axis": 3, "mode": "add"}),
    Refusal(ops.strided, (X, START), ShapeError, {"shape": (2,), "strides": (1,)}),
    Refusal(ops.strided, (LINE, START), ShapeError, {"shape": (2,), "strides": (1, 1)}),
    Refusal(ops.gather, (X, PAIR.astype(np.int32)), DTypeError, {"axes": (0,)}),
    Refusal(ops.gather, (X, PAIR.astype(float)), DTypeError, {"axes": (0,)}),
    Refusal(ops.gather, (X, PAIR), ShapeError, {"axes": (3,)}),
    Refusal(ops.gather, (X, PAIR, PAIR), ShapeError, {"axes": (0,)}),
    Refusal(ops.gather, (X,), ShapeError, {"axes": ()}),
    Refusal(ops.gather, (X, PAIR, index(3, below=2)), ShapeError, {"axes": (0, 1)}),
    Refusal(ops.gather, (NOTHING, PAIR), ShapeError, {"axes": (0,)}),
    Refusal(ops.scatter, (X, X[:3], PAIR), ShapeError, {"axes": (0,), "mode": "set"}),
    Refusal(ops.scatter, (X, X[:2] > 0, PAIR), DTypeError, {"axes": (0,), "mode": "set"}),
    Refusal(ops.scatter, (X > 0, X[:2] > 0, PAIR), DTypeError, {"axes": (0,), "mode": "add"}),
    Refusal(ops.scatter, (X, X[:2], PAIR), ValueError, {"axes": (0,), "mode": "last"}),
    Refusal(ops.take_along, (X, PAIR), ShapeError, {"axis": 0}),
    Refusal(ops.take_along, (X, index(4, 2, 6, below=2)), ShapeError, {"axis": 3}),
    Refusal(ops.take_along, (X, index(3, 2, 6, below=2)), ShapeError, {"axis": 1}),
    Refusal(ops.take_along, (X, np.zeros(X.shape)), DTypeError, {"axis": 1}),
    Refusal(ops.take_along, (X[:, :0], index(4, 2, 6, below=2)), ShapeError, {"axis": 1}),
]
