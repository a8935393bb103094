"""NaN, infinities and matrices that cannot be factored: what NumPy makes of them, in both tiers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy
import pytest

from tests.numpy.agreement import assert_agree

NAN, INF = numpy.nan, numpy.inf
LINES = [
    [NAN, 2.0, 1.0, 3.0, 0.5, -1.0],
    [2.0, NAN, 1.0, 3.0, 3.0, 7.0],
    [NAN, 2.0, NAN, 1.0, NAN, -1.0],
    [NAN] * 6,
    [INF, NAN, -INF, 0.5, NAN, 1.0],
    [2.0, 1.0, 3.0, INF, -INF, NAN],
]
COMPLEX = [[complex(NAN, 1), 2, 1, complex(1, NAN)], [1 + 2j, complex(NAN, NAN), 1j, 1 + 1j]]
ORDER = """
    np.sort(x)
    np.sort(np.stack([x, x[::-1]]), axis=0)
    np.argsort(x, stable=True)
    np.sort(x, descending=True) if np is not numpy else numpy.flip(numpy.sort(x))
    np.partition(x, 2)[2]
    x[np.argpartition(x, 1)[1]]
    np.lexsort((x[::-1], x))
    np.max(x)
    np.min(np.stack([x, x[::-1]]), axis=0)
    np.fmax(x, x[::-1])
    np.minimum(x, 1)
    np.fmin.reduce(x)
    np.maximum.accumulate(x)
    np.fmin.accumulate(x)
    np.max(x, where=x > 0, initial=0)
    np.argmax(x)
    np.argmin(np.stack([x, x[::-1]]), axis=0)
    np.nanmax(x)
    np.nanargmin(x)
    np.median(x)
    np.nanmedian(np.stack([x, x[::-1]]), axis=1)
    np.percentile(x, 30)
    np.nanpercentile(x, 30)
    np.unique(x)
    np.unique(x, equal_nan=False)
    np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    np.isin(x, [1, np.nan])
    np.union1d(x, [1, np.nan])
    np.setdiff1d(x, [1, np.nan])
    np.searchsorted(np.sort(x), [-1, 0, 1, np.nan])
    np.searchsorted(np.sort(x), x, side="right")
    np.digitize(x, [-1, 0, 1])
    np.histogram(x, [-1, 0, 1, 2])[0]
    np.clip(x, -1, 1)
    np.clip(x, None, x[::-1])
    np.sign(x)
    np.nan_to_num(x)
    np.heaviside(x, 0.5)
    np.isclose(x, x, equal_nan=True)
    x * (x > 1)
    (x > 1).astype(x.dtype) * x
    (x > 1) * x[::-1]
    np.add.at(y, [0, 1, 1], x[:3]) or y
    np.maximum.at(y, [0, 1, 1], x[:3]) or y
    np.remainder(x, 2)
    np.fmod(x, 0)
    np.log(x - 2)
    np.astype(x, "i4")
    np.astype(x, "i8")
    np.astype(x, "?")
"""
MATRICES: dict[str, Any] = {
    "negative": -numpy.eye(3),
    "singular": numpy.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]]),
    "zero": numpy.zeros((3, 3)),
    "an infinity": numpy.array([[2.0, 1.0, 0.0], [0.0, -INF, 1.0], [0.0, 0.0, 3.0]]),
    "NaN": numpy.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, NAN]]),
    "one of them": numpy.stack([2 * numpy.eye(3), -numpy.eye(3), numpy.ones((3, 3))]),
}
LINEAR = """
    np.linalg.cholesky(m)
    np.linalg.cholesky(m, upper=True)
    np.linalg.inv(m)
    np.linalg.solve(m, m)
    np.linalg.det(m)
    np.linalg.slogdet(m)
    np.linalg.matrix_power(m, -2)
    np.linalg.matrix_power(m, 0)
    np.linalg.eigvalsh(m)
    np.linalg.cond(m, 1)
    np.linalg.qr(m)[1]
"""
WHOLE = """
    x // 0
    x % 0
    np.divmod(x, x[::-1])
    np.floor_divide(x, x - x)
    np.remainder(-x, 0 * x)
    np.fmod(x, 0)
    x / 0
    x ** 2
    np.power(x, -1)
    np.power(x, x)
    np.power(x, -1.0)
    np.log(x)
    np.sqrt(x)
    np.reciprocal(x)
    np.gcd(x, 0)
    np.lcm(x, 0)
    np.left_shift(x, 40)
    np.abs(x)
    np.negative(x)
    np.emath.sqrt(x)
    np.nanmax(x)
    np.isnan(x)
"""
COMPLEX_LINES = """
    np.sort(x)
    np.max(x)
    np.argmin(x)
    np.unique(x)
    np.maximum.at(y, [0, 1], x[1:3]) or y
    np.interp(x, [0.0, 1.0], [0.0, 1.0])
    np.interp([0.5, 0.7], np.sort(x), x.real)
"""


def lines(table: str) -> list[str]:
    return [line.strip() for line in table.strip().splitlines()]


def agree(code: str, values: Any, dtype: str) -> None:
    def program(np: ModuleType) -> Any:
        x, y = (np.asarray(numpy.array(values, dtype)) for _ in range(2))  # y is written to
        return eval(code, {"np": np, "numpy": numpy, "x": x, "y": y, "m": x})

    assert_agree(program)


@pytest.mark.parametrize("code", lines(ORDER))
def test_of_numbers_and_none_it_makes_what_numpy_makes(code: str, tier: str) -> None:
    for dtype in ("f8", "f4", "f2") if tier == "interpret" else ("f8",):
        for values in LINES:
            agree(code, values, dtype)


@pytest.mark.parametrize("code", lines(COMPLEX_LINES))
def test_of_complex_numbers_too(code: str, tier: str) -> None:
    for values in COMPLEX:
        agree(code, values, "c16")


@pytest.mark.parametrize("code", lines(WHOLE))
def test_of_whole_numbers_too(code: str, tier: str) -> None:
    for dtype in ("i1", "i4", "i8", "u1", "u8") if tier == "interpret" else ("i4", "i8", "u1"):
        least = numpy.iinfo(dtype).min
        agree(code, [least, least + 1, 0, 1, 2, numpy.iinfo(dtype).max], dtype)


@pytest.mark.parametrize("code", lines(LINEAR))
def test_of_bad_matrices_it_makes_what_numpy_makes(code: str, tier: str) -> None:
    for kind, matrix in MATRICES.items():
        if kind in ("an infinity", "NaN") and "eig" in code:
            continue  # NumPy may never come back from OpenBLAS
        agree(code, matrix, "f8")
