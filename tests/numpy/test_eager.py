"""Arrays under `settings.eager` elements stay NumPy's own; what comes of lazy ones is lazy."""

from collections.abc import Iterator

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.array import Lazy

BOUND = 100


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """Small arrays stay real in these tests."""
    before, settings.eager = settings.eager, BOUND
    yield
    settings.eager = before


MAKERS = {
    "zeros": lambda n: np.zeros(n),
    "ones of a shape": lambda n: np.ones((n, 1), np.float32),
    "full": lambda n: np.full(n, 2.5),
    "empty": lambda n: np.empty([n]) * 0.0,
    "arange": lambda n: np.arange(n),
    "linspace": lambda n: np.linspace(0.0, 1.0, n),
    "array of a list": lambda n: np.array([1.5] * n),
    "array of an array": lambda n: np.array(numpy.arange(n)),
    "asarray": lambda n: np.asarray([True] * n),
    "draws": lambda n: np.random.default_rng(0).random(n),
    "ndarray": lambda n: np.ndarray((n,), buffer=numpy.ones(n)),
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
