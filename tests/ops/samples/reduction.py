"""Samples of the reductions, cumulative ops and windows."""

from __future__ import annotations

from itertools import chain, product
from typing import Any

import numpy as np

from lazytensor.core import ops
from lazytensor.core.errors import DTypeError, ShapeError
from lazytensor.core.ir.dtypes import (
    BF16,
    BOOL,
    BOOLS,
    C64,
    C128,
    COMPLEX,
    F16,
    F32,
    F64,
    INTS,
    NUMBERS,
    ORDERED,
    DTypes,
    short_name,
)
from lazytensor.core.ir.op import Op
from tests.ops.sample import Refusal, Sample

BITS = {F16: 10, BF16: 7, F32: 23, F64: 52, C64: 23, C128: 52}
ORDER = "the order of additions or products; one rounding of the narrow result"
AXES = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]


def random() -> np.random.Generator:
    return np.random.default_rng(17)


def numbers(dtype: np.dtype, *shape: int, special: bool = False) -> np.ndarray:
    """Numbers near one, of which long products are finite; integers and flags of all kinds."""
    if dtype == BOOL:
        return random().integers(0, 2, shape).astype(bool)
    if dtype in INTS:
        low = max(np.iinfo(dtype).min, -100)
        return random().integers(low, 100, shape).astype(dtype)
    x = 1 + random().standard_normal(shape) / 8
    if dtype in COMPLEX:
        return (x + 1j * random().standard_normal(shape) / 8).astype(dtype)
    if special:
        places = random().permutation(x.size)[:3]
        x.flat[places] = np.nan, np.inf, -np.inf
    return x.astype(dtype)


def in_order(dtypes: DTypes) -> list[np.dtype]:
    return sorted(dtypes, key=short_name)


def sample(op: Op, x: np.ndarray, attrs: dict[str, Any], ulps: float = 0) -> Sample:
    """Integers, flags and extremes are exact; sums and products have `ulps` of tolerance."""
    if not ulps or x.dtype not in BITS:
        return Sample(op, (x,), attrs)
    return Sample(op, (x,), attrs, ulps * 0.5 ** BITS[x.dtype], ORDER)


LINES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((180, 25), (1,)),
    ((80, 64), (1,)),
    ((6, 997), (1,)),
    ((6, 1000), (0, 1)),
    ((2, 30, 100), (0, 2)),
    ((6, 100, 9), (0, 1)),
    ((100, 60), (0,)),
    ((5, 9000), (0,)),
]
"""Shapes and axes that are lowered each in a way of its own."""


def reductions(op: Op, dtypes: DTypes, ulps: float = 0, *, empty: bool = True) -> list[Sample]:
    special = ulps == 0
    every = [
        sample(op, numbers(d, 3, 4, 5, special=special), {"axes": axes}, ulps)
        for d in in_order(dtypes)
        for axes in ((0,), (1, 2))
    ]
    dtype = F64 if F64 in dtypes else np.dtype(np.int64)
    shapes = [
        sample(op, numbers(dtype, 3, 4, 5, special=special), {"axes": axes}, ulps) for axes in AXES
    ]
    long = [
        sample(op, numbers(d, *shape, special=special), {"axes": axes}, 4 * ulps)
        for d in in_order(dtypes & {BOOL, F32, F64, np.dtype(np.int32)})
        for shape, axes in LINES
    ]
    nothing = [
        sample(op, numbers(dtype, 0, 3), {"axes": axes}) for axes in ((1,), (0,), (0, 1)) if empty
    ] + [sample(op, numbers(dtype, 0, 3), {"axes": (1,)})]
    one = [
        sample(op, numbers(dtype, 1, 3, 1), {"axes": (0, 2)}),
        sample(op, numbers(dtype), {"axes": ()}),
    ]
    return every + shapes + long + nothing + one


def searches(op: Op) -> list[Sample]:
    """Lines with equal extremes, with NaN, and with nothing but infinities."""
    found = [
        Sample(op, (numbers(d, 5, 40, special=s),), {"axis": axis})
        for d in in_order(ORDERED)
        for axis in (0, 1)
        for s in (False, True)
    ]
    for n in (90, 1000, 20000, 20011):
        x = np.round(4 * random().standard_normal((60000 // n, n)))
        x[0] = -np.inf
        x[1, [n - 4, n // 2]] = np.nan
        x[2 % len(x)] = np.nan
        found.append(Sample(op, (x.astype(F32),), {"axis": 1}))
        found.append(Sample(op, (x.T.copy(),), {"axis": 0}))
        found.append(Sample(op, (np.nan_to_num(x, neginf=-9).astype(int),), {"axis": 1}))
    cube = numbers(F64, 3, 1, 5, special=True)
    return [
        *found,
        *(Sample(op, (cube,), {"axis": axis}) for axis in range(3)),
        Sample(op, (np.zeros((0, 3)),), {"axis": 1}),
        Sample(op, (np.array([-0.0, 0.0, -0.0]),), {"axis": 0}),
    ]


def cumulatives(op: Op, dtypes: DTypes, ulps: float = 0) -> list[Sample]:
    special = ulps == 0
    every = [
        sample(op, numbers(d, 4, 6, special=special), {"axis": axis, "reverse": reverse}, ulps)
        for d in in_order(dtypes)
        for axis, reverse in ((0, False), (1, True))
    ]
    shapes = [((5003,), 0), ((3, 2000), 1), ((100, 50), 0), ((37, 200), 1), ((70, 80, 3), 1)]
    shapes += [((2, 1100, 3), 1), ((30, 10, 20), 1), ((70, 20, 70), 1), ((8192,), 0), ((4, 1), 1)]
    wide = in_order(dtypes & {F64, BF16, C64, np.dtype(np.int16)})
    long = [
        sample(op, numbers(d, *shape, special=special), {"axis": axis}, 16 * ulps)
        for d, (shape, axis) in [*((F32, s) for s in shapes), *product(wide, shapes[:2])]
    ]
    zeros = [Sample(op, (np.array([-0.0, -0.0]),), {"axis": 0})]
    return [*every, *long, *zeros, Sample(op, (np.zeros((0, 3)),), {"axis": 0})]


def windows() -> list[Sample]:
    found = []
    ones, none = (1, 1, 1), ((0, 0), (0, 0), (0, 0))
    ways: list[dict[str, Any]] = [
        {"window": (1, 2, 2), "strides": (1, 2, 2), "padding": none},
        {"window": (1, 3, 3), "strides": ones, "padding": ((0, 0), (1, 1), (1, 1))},
        {"window": (2, 1, 20), "strides": (1, 2, 3), "padding": ((0, 0), (0, 0), (9, 9))},
        {"window": ones, "strides": (2, 1, 1), "padding": ((0, 0), (-1, 2), (0, -1))},
        {"window": (1, 9, 1), "strides": ones, "padding": none},
    ]
    dilated = {"base_dilation": (1, 2, 1), "window_dilation": (1, 2, 3)}
    plain = {"base_dilation": ones, "window_dilation": ones}
    for kind, dtypes in ops_windowed().items():
        inexact = 40.0 if kind in ("sum", "prod") else 0.0
        for way in ways:
            for more in (plain, dilated):
                x = numbers(F32, 3, 7, 8, special=not inexact)
                found.append(sample(ops.reduce_window, x, {"kind": kind, **way, **more}, inexact))
        for d in in_order(dtypes):
            x = numbers(d, 3, 7, 8, special=not inexact)
            attrs = {"kind": kind, **ways[1], **plain}
            found.append(sample(ops.reduce_window, x, attrs, inexact))
    return found


def ops_windowed() -> dict[str, DTypes]:
    return {"sum": NUMBERS, "prod": NUMBERS, "max": ORDERED, "min": ORDERED}


SAMPLES = list(
    chain(
        reductions(ops.reduce_sum, NUMBERS, 16),
        reductions(ops.reduce_prod, NUMBERS, 64),
        reductions(ops.reduce_max, ORDERED, empty=False),
        reductions(ops.reduce_min, ORDERED, empty=False),
        reductions(ops.reduce_and, BOOLS | INTS),
        reductions(ops.reduce_or, BOOLS | INTS),
        reductions(ops.reduce_xor, BOOLS | INTS),
        searches(ops.argmax),
        searches(ops.argmin),
        cumulatives(ops.cumsum, NUMBERS, 16),
        cumulatives(ops.cumprod, NUMBERS, 64),
        cumulatives(ops.cummax, ORDERED),
        cumulatives(ops.cummin, ORDERED),
        windows(),
    )
)

X = np.ones((2, 3), F32)
WINDOW: dict[str, Any] = {
    "kind": "sum",
    "window": (1, 1),
    "strides": (1, 1),
    "padding": ((0, 0), (0, 0)),
    "base_dilation": (1, 1),
    "window_dilation": (1, 1),
}
REFUSALS = [
    Refusal(ops.reduce_sum, (X > 0,), DTypeError, {"axes": (0,)}),
    Refusal(ops.reduce_prod, (X,), ShapeError, {"axes": (0, 0)}),
    Refusal(ops.reduce_max, (X.astype(C64),), DTypeError, {"axes": (0,)}),
    Refusal(ops.reduce_max, (X[:0],), ShapeError, {"axes": (0,)}),
    Refusal(ops.reduce_min, (X[:, :0],), ShapeError, {"axes": (0, 1)}),
    Refusal(ops.reduce_and, (X,), DTypeError, {"axes": (0,)}),
    Refusal(ops.reduce_or, (X > 0,), ShapeError, {"axes": (2,)}),
    Refusal(ops.reduce_xor, (X,), DTypeError, {"axes": ()}),
    Refusal(ops.argmax, (X[:0],), ShapeError, {"axis": 0}),
    Refusal(ops.argmax, (X.astype(C64),), DTypeError, {"axis": 0}),
    Refusal(ops.argmin, (X,), ShapeError, {"axis": 2}),
    Refusal(ops.cumsum, (X > 0,), DTypeError, {"axis": 0}),
    Refusal(ops.cumprod, (X,), ShapeError, {"axis": 2}),
    Refusal(ops.cummax, (X.astype(C64),), DTypeError, {"axis": 0}),
    Refusal(ops.cummin, (X,), ShapeError, {"axis": -1}),
    Refusal(ops.reduce_window, (X,), ValueError, {**WINDOW, "kind": "mean"}),
    Refusal(ops.reduce_window, (X > 0,), DTypeError, WINDOW),
    Refusal(ops.reduce_window, (X,), ShapeError, {**WINDOW, "window": (1,)}),
    Refusal(ops.reduce_window, (X,), ShapeError, {**WINDOW, "strides": (0, 1)}),
]
