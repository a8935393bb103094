"""Arrays under `settings.small` elements stay NumPy's own; what comes of lazy ones is lazy."""

import gc
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as np
from lazytensor.core.observe import metrics
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.host import profitability
from lazytensor.frontends.numpy.host.bound import is_raised, put_back
from lazytensor.frontends.numpy.modules import linalg
from tests.numpy.rounds import PROGRAMS, SMALL_OPERATIONS, filled

BOUND = 100


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small arrays stay real in these tests, and the thread has neither lost nor gained."""
    put_back()
    monkeypatch.setattr(profitability._thread, "account", profitability.Account())
    monkeypatch.setattr(settings, "small", BOUND)
    yield
    put_back()


MAKERS = {
    "zeros": lambda n: np.zeros(n),
    "ones of a shape": lambda n: np.ones((n, 1), np.float32),
    "full": lambda n: np.full(n, 2.5),
    "zeros of a NumPy integer": lambda n: np.zeros(numpy.int64(n)),
    "ones of NumPy integers": lambda n: np.ones((numpy.int32(n), 1)),
    "empty of an array": lambda n: np.empty(numpy.array([n, 1])),
    "eye of NumPy integers": lambda n: np.eye(numpy.int64(n), numpy.int64(1)),
    "empty": lambda n: np.empty([n]) * 0.0,
    "arange": lambda n: np.arange(n),
    "linspace": lambda n: np.linspace(0.0, 1.0, n),
    "array of a list": lambda n: np.array([1.5] * n),
    "array of an array": lambda n: np.array(numpy.arange(n)),
    "asarray": lambda n: np.asarray([True] * n),
    "draws": lambda n: np.random.default_rng(0).random(n),
    "ndarray": lambda n: np.ndarray((n,), buffer=numpy.ones(n).tobytes()),
    "zeros_like": lambda n: np.zeros_like(numpy.ones(n)),
    "mgrid": lambda n: np.mgrid[0:n],
    "eye": lambda n: np.eye(n, 1),
    "a function": lambda n: np.cumsum(numpy.ones(n)),
    "a ufunc": lambda n: np.exp(numpy.zeros(n)),
    "a ufunc of two": lambda n: np.add(numpy.ones(n), 2.0),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_small_is_real_and_large_is_lazy(make):
    small, large = make(BOUND - 1), make(BOUND)
    assert type(small) is numpy.ndarray
    assert issubclass(type(large), Lazy)
    numpy.testing.assert_array_equal(numpy.asarray(large)[: BOUND - 1].shape, small.shape)
    assert large.dtype == small.dtype


GROWING = {
    "outer": lambda np, x, y: np.outer(x, y),
    "kron": lambda np, x, y: np.kron(x, y),
    "a ufunc's outer": lambda np, x, y: np.subtract.outer(x, y),
    "broadcasting": lambda np, x, y: np.multiply(x[:, None], y),
}


@pytest.mark.parametrize("function", GROWING.values(), ids=GROWING)
@pytest.mark.parametrize("n", [9, 11])
def test_what_grows_large_is_recorded(function, n):
    x, y = np.arange(float(n)), np.arange(10) - 3
    metrics.reset()
    made = function(np, x, y)
    recorded = metrics.snapshot()["nodes"] > 0
    assert (type(made) is numpy.ndarray, recorded) == ((True, False) if n == 9 else (False, True))
    x[0] = 100.0  # what was recorded has taken the values of before
    numpy.testing.assert_array_equal(made, function(numpy, numpy.arange(float(n)), y))


AT_ONCE = {
    "a sum": (lambda np, x: np.sum(x), 1),
    "a product": (lambda np, x: np.dot(x, x), 1),
    "a product of matrices": (lambda np, x: np.matmul(x, x), 2),
    "all pairs": (lambda np, x: np.outer(x, x), 1),
    "all pairs of parts": (lambda np, x: np.kron(x, x), 1),
    "a number": (lambda np, x: np.clip(2.5, 0, 1), 3),
    "a number among arrays": (lambda np, x: np.interp(2.5, x, x), 3),
    "a number that is drawn": (lambda np, x: np.random.random(), 2),
}


@pytest.mark.parametrize(("program", "most"), AT_ONCE.values(), ids=AT_ONCE)
def test_small_calls_are_numpys_at_once(program, most):
    """Calls of Python functions that are made besides NumPy's own."""
    x = numpy.ones(5)
    made = {np: 0, numpy: 0}
    gc.collect()  # a collection calls back
    for module in made:
        program(module, x)

        def note(frame: Any, event: str, arg: Any, module: Any = module) -> None:
            made[module] += event == "call"

        sys.setprofile(note)
        try:
            program(module, x)
        finally:
            sys.setprofile(None)
    assert made[np] - made[numpy] <= most


def test_a_large_product_of_small_arrays_is_lazy():
    x = np.ones((20, 4))
    made = np.matmul(x, x.T)
    assert type(x) is numpy.ndarray
    assert issubclass(type(made), Lazy)
    numpy.testing.assert_array_equal(made, numpy.full((20, 20), 4.0))


def test_small_arrays_that_do_not_fit_are_refused_as_numpy_does():
    x, y = np.arange(60.0), np.arange(50.0)
    with pytest.raises(ValueError, match="could not be broadcast together"):
        np.add(x, y)


def test_real_and_lazy_go_together():
    lazy, real = np.ones((20, 20)), np.arange(20.0)
    for mixed in (lazy + real, real + lazy, np.add(real, lazy), lazy @ real, np.dot(lazy, real)):
        assert issubclass(type(mixed), Lazy)
    numpy.testing.assert_array_equal(real + lazy, numpy.ones((20, 20)) + numpy.arange(20.0))
    lazy[3] = real
    real += lazy[3]
    real[0] = lazy.sum()
    assert type(real) is numpy.ndarray
    numpy.testing.assert_array_equal(real[1:], 2.0 * numpy.arange(1.0, 20.0))
    assert real[0] == 380.0 + 190.0


def test_results_of_lazy_operations_are_lazy_whatever_their_size():
    assert issubclass(type(np.ones((20, 20)).sum(axis=0)), Lazy)


def test_what_is_traced_is_lazy_however_small():
    program = lazytensor.trace(lambda x: np.exp(x) * np.arange(3), np.arange(3.0))
    assert "exp" in str(program)
    assert settings.small == BOUND


VIEWS = {
    "broadcast_to": lambda np, x: np.broadcast_to(x, (40, x.size)),
    "broadcast_arrays": lambda np, x: np.broadcast_arrays(x, x[:, None])[0],
    "meshgrid": lambda np, x: np.meshgrid(x, x, copy=False)[1],
    "sliding_window_view": lambda np, x: np.lib.stride_tricks.sliding_window_view(x, 9),
    "as_strided": lambda np, x: np.lib.stride_tricks.as_strided(x, (20, 9), (8, 8)),
    "a view of one": lambda np, x: np.transpose(np.broadcast_to(x, (40, x.size))),
    "as_strided to a small one": lambda np, x: np.lib.stride_tricks.as_strided(x, (4,), (16,)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_large_views_of_small_arrays_show_what_is_written(name):
    found = []
    for module in (numpy, np):
        x = module.arange(30.0)
        view = VIEWS[name](module, x)
        x[2:] *= 3
        if name.startswith("as_strided"):
            view[1] = 7.0
        found.append((view.tolist(), x.tolist(), type(view)))
    assert found[0] == found[1]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_parts_do_what_numpys_views_do(program):
    expected, given = program(numpy), program(np)
    for want, have in zip([*expected], [*given], strict=True):
        numpy.testing.assert_allclose(numpy.asarray(have), want, rtol=1e-12)


def test_a_large_part_is_numpys_where_such_parts_are_multiplied():
    A, B = filled(np, 15, 40), filled(numpy, 15, 40)
    for i in range(20):
        part = A[:, i:]
        assert numpy.allclose(A[:, i] @ part, B[:, i] @ B[:, i:])
    assert not issubclass(type(part), Lazy)


def test_arrays_that_only_loops_over_elements_use_come_to_be_small(monkeypatch):
    monkeypatch.setattr(profitability, "LOSS_SECONDS", 1e-3)
    for _ in range(20):
        if settings.small > 2 * BOUND:
            break
        A = filled(np, 2 * BOUND)
        for i in range(2 * BOUND):
            A[i] = A[i - 1] + 1.0
    assert settings.small > 2 * BOUND
    assert type(filled(np, 2 * BOUND)) is numpy.ndarray
    assert is_raised()
    settings.small = BOUND  # ends what was raised
    assert not is_raised()


@pytest.mark.parametrize(
    ("program", "most", "nodes"), [(*row, 900)[:3] for row in SMALL_OPERATIONS]
)
def test_small_operations_are_not_recorded(program, most, nodes):
    """The cuts that are left bring the array to the host."""
    metrics.reset()
    program(np)
    assert metrics.snapshot()["cuts"] <= most
    assert metrics.snapshot()["nodes"] < nodes


DECOMPOSITIONS = {
    "cholesky": lambda np, a, b: (np.linalg.cholesky(a),),
    "eigh": lambda np, a, b: tuple(np.linalg.eigh(a, UPLO="U")),
    "eigvalsh": lambda np, a, b: (np.linalg.eigvalsh(a),),
    "inv": lambda np, a, b: (np.linalg.inv(a),),
    "solve": lambda np, a, b: (np.linalg.solve(a, b),),
    "svd": lambda np, a, b: tuple(np.linalg.svd(a, full_matrices=False)),
    "svdvals": lambda np, a, b: (np.linalg.svdvals(a),),
}


@pytest.mark.parametrize("function", DECOMPOSITIONS.values(), ids=DECOMPOSITIONS)
def test_a_matrix_at_hand_is_decomposed_at_once(function):
    a = numpy.random.default_rng(0).random((12, 12))
    a = a @ a.T + numpy.eye(12)
    b = numpy.arange(12.0)
    x = np.array(a)
    metrics.reset()
    made = function(np, x, b)
    assert not metrics.snapshot()["cuts"]
    for given, expected in zip(made, function(numpy, a, b), strict=True):
        assert type(given) is (np.ndarray if expected.size >= BOUND else numpy.ndarray)
        numpy.testing.assert_array_equal(numpy.asarray(given), expected)
    lazy = function(np, x + 0.0, b)  # whose values are not known yet
    assert issubclass(type(lazy[0]), Lazy)
    for given, expected in zip(lazy, function(numpy, a, b), strict=True):
        size = numpy.abs(numpy.asarray(given))  # vectors may point the other way
        numpy.testing.assert_allclose(size, numpy.abs(expected), rtol=1e-9, atol=1e-12)


def test_a_large_matrix_is_decomposed_in_a_program(monkeypatch):
    monkeypatch.setattr(linalg, "LARGEST_AT_ONCE", 100)
    metrics.reset()
    made = np.linalg.cholesky(np.array(4 * numpy.eye(12)))
    numpy.testing.assert_array_equal(numpy.asarray(made), 2 * numpy.eye(12))
    assert metrics.snapshot()["cuts"] == 1


def test_what_cannot_be_decomposed_is_refused():
    x = np.array(-numpy.eye(12))
    with pytest.raises(numpy.linalg.LinAlgError):
        numpy.asarray(np.linalg.cholesky(x))
    with pytest.raises(numpy.linalg.LinAlgError):
        numpy.asarray(np.linalg.svd(np.array(numpy.full((12, 12), numpy.nan)))[1])


SEEN = {
    "rows": lambda x: x[3:9],
    "a column": lambda x: x[:, 2],
    "turned": lambda x: x.T[1:],
    "in another shape": lambda x: x.reshape(-1, 2, 10)[1:],
    "backwards": lambda x: x[::-1, 3:],
    "a diagonal": lambda x: x.diagonal(),
}


@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("name", SEEN)
def test_to_see_a_part_of_values_that_are_there_is_no_cut(name, computed):
    """What a real array's method asks for, with other work pending: `r.dot(data[i : i + n])`."""
    x, plain = np.arange(2000.0).reshape(20, 100), numpy.arange(2000.0).reshape(20, 100)
    if computed:
        x, plain = x * 2, plain * 2
        lazytensor.sync()
    pending = x + 1
    metrics.reset()
    for _ in range(3):
        seen = numpy.asarray(SEEN[name](x))
    assert metrics.snapshot()["cuts"] == 0
    numpy.testing.assert_array_equal(seen, SEEN[name](plain), strict=True)
    assert seen.strides == numpy.array(SEEN[name](plain)).strides
    seen[...] = 0
    numpy.testing.assert_array_equal(numpy.asarray(x), plain)
    numpy.testing.assert_array_equal(numpy.asarray(pending), plain + 1)


def added_up(np: Any) -> Any:
    """Sums that were lazy once, from the left and from the right."""
    x = filled(np, 40, 40) * 1.5
    total = product = x[0, 0]
    for i in range(1600):
        total += x[i % 40, i // 40]
        product = (i % 7 - 3.0) - product
    return [total, product]


def test_a_sum_that_was_lazy_once_is_not_for_ever():
    metrics.reset()
    assert added_up(np) == added_up(numpy)
    assert metrics.snapshot()["nodes"] < 600
    assert not any(isinstance(x, Lazy) for x in added_up(np))
