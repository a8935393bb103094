"""Threads that share arrays: nothing that one has written is lost, or computed from the wrong."""

import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.settings import settings

ROWS, COLUMNS, BOUND = 4, 10_000, 16_384
ROUNDS = 25
SIZE, STEPS = 20_000, 30


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


def step(np: Any, own: list[Any], theirs: Any, rng: random.Random) -> None:
    """One of the things that programs do, to arrays of the thread's own or with everybody's.

    Of numbers with few bits: all is exact, in whatever order it is summed.
    """
    i, j = rng.randrange(3), rng.randrange(3)
    match rng.randrange(8):
        case 0:
            own[i] = np.sort(own[j] % 11.0)
        case 1:
            own[i] *= 0.5
            own[i] += theirs
        case 2:
            own[i][1:-1] = (own[i][:-2] + own[i][2:]) * 0.5
        case 3:
            chosen = own[i] > 0.5
            own[i][chosen] = own[j][chosen] * 0.5
        case 4:
            own[i] = own[j][np.argsort(theirs, kind="stable")]
        case 5:
            own[i][: SIZE // 2] = theirs[SIZE // 2 :]
        case 6:
            own[i] = np.where(theirs > own[j], theirs, np.cumsum(np.floor(own[j])) % 7.0)
        case 7:
            own[i] = (own[i] - float(own[j][rng.randrange(SIZE)] + np.max(theirs))) % 5.0


def everybodys(np: Any) -> list[Any]:
    a = np.arange(float(SIZE)) * 7 % 61
    b = np.sort(a) * 1.5
    return [a, b, b[::-1] + a, np.cumsum(a) % 19]


def walk(np: Any, theirs: list[Any], seed: int) -> list[numpy.ndarray]:
    rng = random.Random(seed)
    own = [np.arange(float(SIZE)) % (seed % ROWS + 2) for _ in range(3)]
    for _ in range(STEPS):
        step(np, own, rng.choice(theirs), rng)
    return [numpy.asarray(x) for x in own]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("tier", ["interpret", "auto"])
def test_what_threads_compute_from_one_anothers_pending_arrays(
    tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody computes twice, or in memory that somebody reads, what another is computing."""
    monkeypatch.setattr(settings, "tier", tier)
    for seed in range(0, 16 * ROWS, ROWS):
        theirs = everybodys(np)
        with ThreadPoolExecutor(ROWS) as pool:
            found = pool.map(partial(walk, np, theirs), range(seed, seed + ROWS))
            for i, arrays in enumerate(found):
                expected = walk(numpy, everybodys(numpy), seed + i)
                numpy.testing.assert_array_equal(arrays, expected)
