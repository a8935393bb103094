"""Threads that fill one array, each its own part: nothing that one has written is lost."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.settings import settings

ROWS, COLUMNS, BOUND = 4, 10_000, 16_384
ROUNDS = 25


def row_by_row(out: Any, i: int) -> None:
    for _ in range(50):
        out[i] += 1.0


def elements(out: Any, i: int) -> None:
    for k in range(300):
        out[i, k] = k + i


def pieces(out: Any, i: int) -> None:
    for k in range(0, COLUMNS, 1000):
        out[i, k : k + 1000] = i


def through_a_view(out: Any, i: int) -> None:
    row = out[i]
    for k in range(20):
        row[k:] += 1.0


def masked(out: Any, i: int) -> None:
    row = out[i]
    for k in range(5):
        row[row < k] += i


def computed(out: Any, i: int) -> None:
    out[i] = np.sqrt(np.arange(float(COLUMNS))) + i


BODIES = [row_by_row, elements, pieces, through_a_view, masked, computed]


@pytest.fixture(params=[0, BOUND], ids=["all lazy", "rows are small"])
def _small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Threads take turns as often as Python lets them."""
    before, settings.small = settings.small, request.param
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    settings.small = before


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_parts_that_threads_write_are_all_there(body: Callable[[Any, int], None]) -> None:
    expected = numpy.zeros((ROWS, COLUMNS))
    for i in range(ROWS):
        body(expected, i)
    with ThreadPoolExecutor(ROWS) as pool:
        for _ in range(ROUNDS):
            out = np.zeros((ROWS, COLUMNS))
            list(pool.map(lambda i, out=out: body(out, i), range(ROWS)))
            numpy.testing.assert_array_equal(numpy.asarray(out), expected)
