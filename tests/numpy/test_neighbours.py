"""Lazy arrays beside other libraries' objects, and loops that write to what they go over."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from scipy import linalg, ndimage, optimize, sparse

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


class Deferring:
    """What pandas' Series is to ufuncs: it computes with NumPy's arrays, and knows no others."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array_ufunc__(
        self, real: Any, method: str, *inputs: Any, out: Any = (), **how: Any
    ) -> Any:
        if any(type(x) not in (Deferring, numpy.ndarray, float) for x in (*inputs, *out)):
            return NotImplemented
        given = [x.values if type(x) is Deferring else x for x in inputs]
        made = getattr(real, method)(*given, **how, **({"out": out} if out else {}))
        return out[0] if out else Deferring(made)


TAKEN: dict[str, Callable[[Any, Any, Any], Any]] = {
    "function": lambda np, x, d: np.maximum(x, d),
    "function, the array last": lambda np, x, d: np.maximum(d, x),
    "real function": lambda np, x, d: numpy.hypot(d, x),
    "operator": lambda np, x, d: x - d,
    "update": lambda np, x, d: (x.__iadd__(d), x * 1),
    "out": lambda np, x, d: (np.multiply(d, 2.0, out=x), x * 1),
    "method": lambda np, x, d: np.subtract.outer(x[:3], d),
}


@pytest.mark.parametrize("call", TAKEN.values(), ids=TAKEN)
def test_classes_that_know_no_lazy_arrays_get_real_ones(call: Callable[..., Any]) -> None:
    def values(made: Any) -> list[Any]:
        made = made if type(made) is tuple else (made,)
        return [(type(x) is Deferring, getattr(x, "values", x)) for x in made]

    def run(np: Any) -> list[Any]:
        return values(call(np, np.arange(float(LARGE)) * 0.5, Deferring(numpy.arange(LARGE) % 7.0)))

    for (is_theirs, made), (expected_theirs, expected) in zip(run(lazy), run(numpy), strict=True):
        assert is_theirs == expected_theirs
        numpy.testing.assert_allclose(numpy.asarray(made), expected, rtol=1e-15)


def image(np: Any) -> Any:
    return np.sin(np.arange(200.0 * 200) * 1.7).reshape(200, 200) + 0.0


FILTERED: dict[str, Callable[[Any], Any]] = {
    "into itself": lambda np: (lambda x: (ndimage.gaussian_filter(x, 1, output=x), x))(image(np)),
    "into columns": lambda np: (
        lambda o: (ndimage.uniform_filter(image(np), 3, output=o), o, o + 1)
    )(np.zeros((200, 200)).T),
    "into parts": lambda np: (
        lambda o: (ndimage.sobel(image(np), 0, output=o[1]), o, o.sum(axis=0))
    )(np.zeros((2, 200, 200))),
    "into every second": lambda np: (
        lambda o: (ndimage.median_filter(image(np), 3, output=o[::2, ::-2]), o * 2)
    )(np.zeros((400, 400), np.float32)),
    "into what goes on": lambda np: (
        lambda o: (
            ndimage.laplace(image(np), output=o),
            o.__iadd__(1),
            ndimage.laplace(o, output=o),
            o,
        )
    )(np.zeros((200, 200))),
}


@pytest.mark.parametrize("program", FILTERED.values(), ids=FILTERED)
def test_filters_write_into_lazy_arrays(program: Callable[[Any], Any]) -> None:
    for made, expected in zip(program(lazy), program(numpy), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(made), expected, rtol=1e-6, atol=1e-12)


def test_read_only_arrays_are_not_filtered_into() -> None:
    x = image(lazy)
    with pytest.raises(ValueError, match="read-only"):
        ndimage.laplace(image(lazy), output=lazy.broadcast_to(x[0], (200, 200)))
    numpy.testing.assert_array_equal(x, image(numpy))


def test_numpys_as_strided_sees_the_memory_around_a_view() -> None:
    show = numpy.lib.stride_tricks.as_strided
    x, real = (np.arange(24.0).reshape(4, 6) + 0 for np in (lazy, numpy))
    for view, step in (
        (lambda a: a[2:, ::-1], -32),
        (lambda a: a.T[1:], 16),
        (lambda a: a[3, 4:], -48),
    ):
        numpy.testing.assert_array_equal(
            show(view(x), (3,), (step,)), show(view(real), (3,), (step,))
        )
    c = lazy.arange(4.0) + 0
    numpy.testing.assert_array_equal(linalg.circulant(c), linalg.circulant(numpy.arange(4.0)))


def test_pillow_takes_lazy_arrays() -> None:
    images = pytest.importorskip("PIL.Image")
    x, real = (np.abs(image(np) * 255).astype(np.uint8) for np in (lazy, numpy))
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::2, ::-1], lambda a: a > 100):
        made, expected = images.fromarray(view(x)), images.fromarray(view(real))
        assert (made.mode, made.size, made.tobytes()) == (
            expected.mode,
            expected.size,
            expected.tobytes(),
        )


class Picture:
    """What Pillow's images are: an array by `__array__`, of a size that is a pair."""

    def __init__(self, *size: int) -> None:
        self.size = size

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return numpy.arange(numpy.prod(self.size), dtype=dtype).reshape(self.size)


@pytest.mark.parametrize("size", [(4, 5), (200, 300)])
def test_a_size_need_not_be_a_number(size: tuple[int, int]) -> None:
    for make in (
        lambda np, x: np.asarray(x),
        lambda np, x: np.array(x, dtype=float),
        lambda np, x: np.ascontiguousarray(x),
        lambda np, x: np.outer(x, [1.0, 2.0]),
        lambda np, x: np.zeros_like(x),
    ):
        made, expected = make(lazy, Picture(*size)), make(numpy, Picture(*size))
        assert made.dtype == expected.dtype
        numpy.testing.assert_array_equal(made, expected)


def test_gradients_may_be_lazy() -> None:
    def loss(np: Any) -> Any:
        points = image(np)[:, :80] + 0.0
        return optimize.minimize(
            lambda w: (((points @ w - 1) ** 2).mean(), points.T @ (points @ w - 1) * 0.01),
            numpy.zeros(80),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 5},
        ).x

    numpy.testing.assert_allclose(loss(lazy), loss(numpy), rtol=1e-5, atol=1e-8)
