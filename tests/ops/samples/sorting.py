"""Samples of sorting and searching."""

from __future__ import annotations

from itertools import product

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import BF16, BOOL, C64, F32, FLOATS, ORDERED, STORED, short_name
from lazytensor.core.ops.searching import BEHIND
from tests.ops.sample import Refusal, Sample


def random() -> np.random.Generator:
    return np.random.default_rng(13)


def mixed(dtype: np.dtype, *, zeros: bool = False) -> np.ndarray:
    """Five lines of eight: special numbers, the ends of the range, and many equal ones."""
    if dtype == BOOL:
        return random().integers(0, 2, (5, 8)).astype(bool)
    if dtype in FLOATS:
        special = [np.nan, np.inf, -np.inf, 1e-3, np.nan, 2.5] + ([0.0, -0.0] * 3 if zeros else [])
    else:
        special = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1, 2, np.iinfo(dtype).max - 1]
    few = random().integers(1, 6, 40 - len(special))
    found = np.concatenate([np.array(special, dtype), few.astype(dtype)])
    return random().permutation(found).reshape(5, 8)


DTYPES = sorted(ORDERED, key=short_name)
WAYS = list(product([0, 1], [False, True]))
NOTHING = np.zeros((3, 0), F32)
LONG = random().standard_normal((3, 700))
LONG[1, [5, 600]] = np.nan
TIES = np.round(LONG).astype(F32)
LINES = [LONG, LONG.astype(F32), TIES, TIES.astype(np.float64), np.nan_to_num(TIES).astype(int)]


def payload(dtype: np.dtype) -> np.ndarray:
    return random().permutation(40).reshape(5, 8).astype(dtype)


SORTS = [
    *(
        Sample(ops.sort, (mixed(d),), {"axis": axis, "descending": down})
        for d in DTYPES
        for axis, down in ((1, False), (0, True))
    ),
    *(
        Sample(ops.sort, (mixed(F32, zeros=True), payload(d)), {"axis": 1})
        for d in sorted(STORED, key=short_name)
    ),
    *(
        Sample(ops.sort, (mixed(d, zeros=True), payload(C64)), {"axis": axis, "descending": down})
        for d in (BF16, np.dtype(np.int64))
        for axis, down in WAYS
    ),
    *(
        Sample(
            ops.sort,
            (mixed(BOOL), mixed(d, zeros=True), payload(C64)),
            {"axis": axis, "keys": 2, "descending": down},
        )
        for d in (F32, np.dtype(np.uint64))
        for axis, down in WAYS
    ),
    Sample(ops.sort, (TIES, LONG, LONG), {"axis": 1, "keys": 2}),
    Sample(ops.sort, (LONG,), {"axis": 1}),
    Sample(ops.sort, (np.zeros((1, 1)), np.ones((1, 1))), {"axis": 0}),
    Sample(ops.sort, (NOTHING,), {"axis": 1}),
    Sample(ops.sort, (NOTHING, NOTHING), {"axis": 0}),
]
ARGSORTS = [
    *(
        Sample(ops.argsort, (mixed(d, zeros=True),), {"axis": axis, "descending": down})
        for d in DTYPES
        for axis, down in ((0, False), (1, True))
    ),
    *(Sample(ops.argsort, (x,), {"axis": 1}) for x in (*LINES, NOTHING)),
]
LARGEST = [
    *(Sample(ops.top_k, (mixed(d, zeros=True),), {"k": k}) for d in DTYPES for k in (0, 3, 8)),
    *(Sample(ops.top_k, (x,), {"k": 20}) for x in LINES),
    Sample(ops.top_k, (NOTHING,), {"k": 0}),
]

MIDDLES = [  # without -0.0: which of equal zeros it is is left open
    *(Sample(ops.order_statistics, (mixed(d),), {"ranks": (3, 7, 0, 3)}) for d in DTYPES),
    *(Sample(ops.order_statistics, (x + x.dtype.type(0),), {"ranks": (349, 699)}) for x in LINES),
    Sample(ops.order_statistics, (np.zeros((0, 3)),), {"ranks": (2,)}),
]


def in_order(dtype: np.dtype) -> np.ndarray:
    line = mixed(dtype, zeros=True).ravel()
    return line[np.argsort(line.astype(F32) if dtype == BF16 else line, kind="stable")]


SEARCHES = [
    *(
        Sample(ops.searchsorted, (in_order(d), mixed(d, zeros=True)), {"side": side})
        for d in DTYPES
        for side in ("left", "right")
    ),
    Sample(ops.searchsorted, (np.arange(300.0), 300 * random().random(50)), {"side": "left"}),
    Sample(ops.searchsorted, (np.zeros(0), np.ones(3)), {"side": "left"}),
    Sample(ops.searchsorted, (np.arange(3.0), np.array(1.5)), {"side": "left"}),
    Sample(ops.searchsorted, (np.arange(3.0), np.zeros((0, 2))), {"side": "right"}),
]
HALVINGS = [  # in lines that are in no order, NaN among them
    *(
        Sample(ops.bisect, (mixed(d, zeros=True), mixed(d)[:, :3]), {"behind": behind})
        for d in DTYPES
        for behind in BEHIND
    ),
    Sample(ops.bisect, (LONG, np.sort(LONG)[:, ::-7]), {"behind": "less"}),
    Sample(ops.bisect, (NOTHING, np.ones((3, 2), F32)), {"behind": "less"}),
    Sample(ops.bisect, (np.arange(7.0), np.zeros(0)), {"behind": "not greater"}),
]
SAMPLES = [*SORTS, *ARGSORTS, *LARGEST, *MIDDLES, *SEARCHES, *HALVINGS]

X = np.ones((2, 3), F32)
REFUSALS = [
    Refusal(ops.sort, (X,), ShapeError, {"axis": 2}),
    Refusal(ops.sort, (X.astype(C64),), DTypeError, {"axis": 0}),
    Refusal(ops.sort, (X, X.astype(C64)), DTypeError, {"axis": 0, "keys": 2}),
    Refusal(ops.sort, (X, X[:1]), ShapeError, {"axis": 0}),
    Refusal(ops.sort, (X,), ShapeError, {"axis": 0, "keys": 2}),
    Refusal(ops.argsort, (X.astype(C64),), DTypeError, {"axis": 0}),
    Refusal(ops.argsort, (X,), ShapeError, {"axis": -1}),
    Refusal(ops.order_statistics, (X,), ShapeError, {"ranks": (0, 3)}),
    Refusal(ops.order_statistics, (X,), ShapeError, {"ranks": (-1,)}),
    Refusal(ops.order_statistics, (X,), ShapeError, {"ranks": ()}),
    Refusal(ops.order_statistics, (X.astype(C64),), DTypeError, {"ranks": (1,)}),
    Refusal(ops.top_k, (X,), ShapeError, {"k": 4}),
    Refusal(ops.top_k, (X,), ShapeError, {"k": -1}),
    Refusal(ops.top_k, (np.array(1.0),), ShapeError, {"k": 0}),
    Refusal(ops.top_k, (X.astype(C64),), DTypeError, {"k": 1}),
    Refusal(ops.searchsorted, (X, X), ShapeError, {"side": "left"}),
    Refusal(ops.searchsorted, (X[0], X.astype(int)), DTypeError, {"side": "left"}),
    Refusal(ops.searchsorted, (X[0], X), ValueError, {"side": "middle"}),
    Refusal(ops.bisect, (X, X[:1]), ShapeError, {"behind": "less"}),
    Refusal(ops.bisect, (X, X.astype(int)), DTypeError, {"behind": "less"}),
    Refusal(ops.bisect, (X, X), ValueError, {"behind": "left"}),
]
