"""Lazy arrays beside other libraries' objects, and loops that write to what they go over."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from scipy import sparse

import lazytensor.numpy as lazy
from lazytensor.core.settings import settings

LARGE = 20_000


@pytest.fixture(params=[0, 16_384], ids=["all lazy", "by default"], autouse=True)
def _small(request: pytest.FixtureRequest) -> Iterator[None]:
    before, settings.small = settings.small, request.param
    yield
    settings.small = before


def sieve(np: Any) -> Any:
    prime = np.ones(LARGE, bool)
    prime[:2] = False
    found = []
    for i, is_prime in enumerate(prime):
        if is_prime:
            found.append(i)
            prime[2 * i :: i] = False
        if i > 150:
            break
    return found


def running(np: Any) -> Any:
    x = np.zeros(LARGE)
    for i, value in enumerate(x[:200]):
        x[i + 1] = value + 2.0
    return x.tolist()


def pairs(np: Any) -> Any:
    x = np.arange(float(LARGE))
    seen = []
    for i, (a, b) in enumerate(zip(x, x, strict=True)):
        seen.append((float(a), float(b)))
        x[i + 1] = a + b + 1.0
        if i > 20:
            break
    return seen


def only_read(np: Any) -> Any:
    return [float(v) for v in np.arange(float(LARGE))[:300] * 2.0]


@pytest.mark.parametrize("loop", [sieve, running, pairs, only_read], ids=lambda f: f.__name__)
def test_a_loop_sees_what_it_writes(loop: Callable[[Any], Any]) -> None:
    assert loop(lazy) == loop(numpy)


class Column:
    """What pandas' Series is to NumPy: something with `__array__`."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.array(self.values, dtype)

    def __len__(self) -> int:
        return len(self.values)


CHOICES = {
    "flags": numpy.arange(LARGE) % 3 == 0,
    "numbers": numpy.array([5, 3, 19_000]),
}


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_other_libraries_arrays_choose(choice: numpy.ndarray) -> None:
    expected = numpy.arange(float(LARGE))
    array = lazy.asarray(expected) * 1.0
    numpy.testing.assert_array_equal(array[Column(choice)], expected[choice])
    expected[choice] = -1.0
    array[Column(choice)] = -1.0
    numpy.testing.assert_array_equal(numpy.asarray(array), expected)


WITH_SPARSE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda m, a: m + a,
    "sum, the array first": lambda m, a: a + m,
    "difference": lambda m, a: a - m,
    "product": lambda m, a: m @ a,
    "product, the array first": lambda m, a: a @ m,
    "elementwise product": lambda m, a: m.multiply(a),
    "quotient": lambda m, a: m / a,
    "comparison": lambda m, a: m > a,
    "equality": lambda m, a: a == m,
}


@pytest.mark.parametrize("made", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("operation", WITH_SPARSE.values(), ids=WITH_SPARSE)
def test_sparse_matrices(operation: Callable[[Any, Any], Any], made: Any) -> None:
    matrix = made(sparse.eye(150))
    real = numpy.arange(1.0, 22_501.0).reshape(150, 150)

    def dense(x: Any) -> Any:
        return numpy.asarray(x.todense() if sparse.issparse(x) else x)

    got, expected = operation(matrix, lazy.asarray(real) + 0.0), operation(matrix, real)
    assert sparse.issparse(got) == sparse.issparse(expected)
    numpy.testing.assert_allclose(dense(got), dense(expected), rtol=1e-13)


def test_matplotlib_finds_the_columns() -> None:
    cbook = pytest.importorskip("matplotlib.cbook")
    columns = cbook._reshape_2D(lazy.zeros((200, 100)) + 1.0, "x")
    assert len(columns) == 100


SHARED = {
    "frombuffer": lambda np, memory: np.frombuffer(memory),
    "ndarray": lambda np, memory: np.ndarray((LARGE,), float, memory),
}


@pytest.mark.parametrize("show", SHARED.values(), ids=SHARED)
def test_memory_that_others_see_is_written_to(show: Callable[[Any, Any], Any]) -> None:
    memory = bytearray(8 * LARGE)
    show(lazy, memory)[:] = 3.0
    assert numpy.frombuffer(memory)[-1] == 3.0
    assert float(show(lazy, bytes(memory)).sum()) == 3.0 * LARGE


class Held:
    """A user's own class, whose `__array__` gives an array of the NumPy that they use."""

    def __init__(self, np: Any, values: Any) -> None:
        self.np = np
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.np.array(self.values, dtype)


NUMBERS = numpy.arange(float(LARGE))

WITH_HELD: dict[str, Callable[[Any, Any], Any]] = {
    "recorded": lambda np, x: np.add(x, 1.0),
    "on the host": lambda np, x: np.unique(x),
    "bound again": lambda np, x: np.piecewise(x, [NUMBERS > 2.0], [1.0, 2.0]),
    "fallen back": lambda np, x: np.linalg.lstsq(np.ones((LARGE, 1)), x)[0],
    "compared": lambda np, x: np.testing.assert_array_equal(x, np.asarray(x)),
    "reduced": lambda np, x: np.add.reduce(x),
    "combined": lambda np, x: np.hypot.outer(x, [1.0]),
    "indexing": lambda np, x: np.r_[x, x],
    "called for each": lambda np, x: np.vectorize(float)(x),
    "gone over": lambda np, x: sum(float(value) for value in np.nditer(x)),
    "drawn from": lambda np, x: np.random.default_rng(0).choice(x),
    "a keyword": lambda np, x: np.random.default_rng(0).normal(loc=x),
}


@pytest.mark.filterwarnings("ignore::lazytensor.core.errors.LazyTensorWarning")
@pytest.mark.parametrize("use", WITH_HELD.values(), ids=WITH_HELD)
def test_what_users_arrays_hold_is_taken(use: Callable[[Any, Any], Any]) -> None:
    expected = use(numpy, Held(numpy, NUMBERS))
    made = use(lazy, Held(lazy, NUMBERS))
    if expected is None:
        assert made is None
        return
    numpy.testing.assert_allclose(numpy.asarray(made), expected, rtol=1e-12)
