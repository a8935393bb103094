"""The standard's namespace: values are NumPy's, nothing is cut, the core's extras are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lazytensor.array_api as xp
import lazytensor.numpy as lnp
from lazytensor import metrics
from lazytensor.core.lib.pool_gradients import PoolWindows
from lazytensor.core.lib.random import RandomStream
from lazytensor.frontends.array_api.array import Array
from lazytensor.reuse.components import FRONTENDS, paths
from lazytensor.reuse.source import count_lines

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
Y = X[::-1] * 0.5 + 0.25
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "operators": lambda xp, x, y: (x + 1) * y - 2.0 / (y * y + 1) + (-x) ** 2 + x @ y.mT @ x,
    "comparison": lambda xp, x, y: (x < y) & ~(x == y) | (abs(x) >= 1),
    "reductions": lambda xp, x, y: xp.sum(x, axis=1) + xp.max(y, axis=-1) - xp.mean(x),
    "deviation": lambda xp, x, y: xp.std(x, axis=0, keepdims=True) + xp.var(y),
    "moves": lambda xp, x, y: xp.moveaxis(xp.stack([x, y]), 0, -1)[..., ::-1],
    "joins": lambda xp, x, y: xp.concat([x, y[:1, :]], axis=0),
    "rolls": lambda xp, x, y: xp.roll(xp.flip(x, axis=1), 2, axis=0),
    "sorts": lambda xp, x, y: xp.take_along_axis(x, xp.argsort(y, axis=1), axis=1),
    "searches": lambda xp, x, y: xp.searchsorted(xp.sort(x[0, :]), y[1, :]),
    "masks": lambda xp, x, y: x[x > 0.2],
    "points": lambda xp, x, y: x[xp.asarray([0, 2]), xp.asarray([1, -1])],
    "clips": lambda xp, x, y: xp.clip(xp.where(x > 0, x, y), 0.1, 1.0),
    "norms": lambda xp, x, y: xp.linalg.vector_norm(x, axis=1) + xp.linalg.matrix_norm(y),
    "solves": lambda xp, x, y: xp.linalg.solve(x @ x.mT + 3 * xp.eye(3), y),
    "transforms": lambda xp, x, y: xp.fft.irfft(xp.fft.rfft(x) * 2.0, n=4),
    "grids": lambda xp, x, y: xp.meshgrid(x[0, :], y[:, 0])[1],
    "runs": lambda xp, x, y: xp.cumulative_sum(x, axis=1, include_initial=True),
    "creates": lambda xp, x, y: xp.zeros((2, 2)) + xp.full((2,), 3.0) + xp.arange(2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_are_numpys(name: str) -> None:
    found = CALLS[name](xp, xp.asarray(X), xp.asarray(Y))
    expected = np.asarray(CALLS[name](np, X, Y))
    assert type(found) is Array
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"masks"}))  # their number is data
def test_nothing_is_cut_while_recording(name: str) -> None:
    x, y = xp.asarray(X), xp.asarray(Y)
    before = metrics.counts["cuts"]
    CALLS[name](xp, x, y)
    assert metrics.counts["cuts"] == before


def test_what_is_written_is_seen_by_views_and_by_other_frontends() -> None:
    x = xp.asarray(X)
    other = lnp.asarray(x)
    row = x[1, :]
    x[1, :2] = 7.0
    x[xp.asarray([1]), xp.asarray([-1])] = 9.0
    x[x < 0] = 0.0
    expected = X.copy()
    expected[1, :2], expected[1, -1] = 7.0, 9.0
    expected[expected < 0] = 0.0
    np.testing.assert_array_equal(np.asarray(row), expected[1])
    np.testing.assert_array_equal(np.asarray(other), expected)
    x += 1
    np.testing.assert_array_equal(np.asarray(x), expected + 1)


def test_what_the_core_has_is_there() -> None:
    x = xp.asarray(np.array([[1.0, 5.0, 2.0, 4.0]]))
    windows = PoolWindows((2,), (1,), (2,), (0,))
    largest, places = xp.pooling.max_pool_with_places(x, windows, (2,))
    assert np.asarray(largest).tolist() == [[5.0, 4.0]]
    assert np.asarray(places).tolist() == [[1, 3]]
    stream = RandomStream(3)
    order = xp.random.permutation(9, stream)
    assert sorted(np.asarray(order).tolist()) == list(range(9))
    assert (
        np.asarray(xp.random.permutation(9, RandomStream(3))).tolist() == np.asarray(order).tolist()
    )
    assert float(xp.losses.huber(xp.asarray(3.0), 1.0)) == 2.5
    assert float(xp.ranking.lower_median(x, 1, False)[0][0]) == 2.0


def test_a_function_names_the_dtypes_that_it_refuses() -> None:
    with pytest.raises(TypeError, match="floor takes no arrays of bool"):
        xp.floor(xp.asarray([True]))


def test_an_index_beyond_the_end_is_refused() -> None:
    with pytest.raises(IndexError):
        xp.asarray(X)[3, 0]
    taken = xp.take(xp.asarray(X), xp.asarray([0, 5]), axis=0)
    with pytest.raises(IndexError, match="out of bounds for an axis of 3 elements"):
        np.asarray(taken)


def test_it_is_thin() -> None:
    assert count_lines(paths(*FRONTENDS["array_api"])) <= 250
