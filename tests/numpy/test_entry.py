"""The module's functions are NumPy's from outside, and give small arrays to NumPy at once."""

import copy
import inspect
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.observe import metrics
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy

FUNCTIONS = ["concatenate", "dot", "flip", "outer", "reshape", "sum", "transpose", "vdot", "where"]
BOUND = 100
SMALL = numpy.arange(6.0)
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "one": lambda np, x: np.flip(x),
    "two": lambda np, x: np.dot(x, x),
    "two by name": lambda np, x: np.dot(b=x, a=x + 1),
    "where to": lambda np, x: np.dot(x, x, out=numpy.empty(())),
    "an option": lambda np, x: np.sum(x, axis=0),
    "a position": lambda np, x: np.sum(x, 0),
    "a shape": lambda np, x: np.reshape(x, (2, 3)),
    "three": lambda np, x: np.where(x > 2, x, 0.0),
    "lists": lambda np, x: np.inner([1, 2], [3, 4]),
    "names only": lambda np, x: np.sum(a=x),
    "sorted": lambda np, x: np.sort(x[::-1]),
    "sorted along an axis": lambda np, x: np.sort(np.reshape(x[::-1], (2, 3)), axis=0),
    "an order": lambda np, x: np.argsort(-x, kind="stable"),
    "numbers": lambda np, x: np.divide(np.multiply(5, 5), 2),
}


@pytest.fixture(autouse=True)
def bound() -> Iterator[None]:
    """Small arrays stay real in these tests."""
    before, settings.small = settings.small, BOUND
    yield
    settings.small = before


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_small_arrays_are_numpys_and_nothing_is_recorded(call: Any) -> None:
    metrics.reset()
    given = call(np, SMALL)
    expected = call(numpy, SMALL)
    assert metrics.snapshot()["nodes"] == 0
    assert type(given) is type(expected)
    numpy.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_lazy_arrays_are_recorded(call: Any) -> None:
    given = call(np, np.array(numpy.arange(40_000.0))[::7000] / 7000)
    numpy.testing.assert_allclose(numpy.asarray(given), call(numpy, SMALL))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_look_like_numpys(name: str) -> None:
    function, real = getattr(np, name), getattr(numpy, name)
    assert (function.__name__, function.__module__) == (name, "lazytensor.numpy")
    assert pickle.loads(pickle.dumps(function)) == function == copy.deepcopy(function)
    assert inspect.signature(function) == inspect.signature(real)
    with pytest.raises(TypeError):
        function(*[SMALL] * 12)
    with pytest.raises(TypeError):
        function()


def test_functions_are_no_methods_of_classes_that_have_them() -> None:
    @dataclass
    class Layer:
        reduce: Any = np.sum

    class Other:
        product = np.dot

    assert Layer().reduce(SMALL) == 15.0
    assert Other().product(SMALL, SMALL) == 55.0


def test_large_arrays_that_small_ones_make_are_lazy() -> None:
    first, second = np.meshgrid(SMALL, numpy.arange(50.0))
    assert isinstance(first, Lazy)
    numpy.testing.assert_array_equal(numpy.asarray(first * second)[:, 1], numpy.arange(50.0))
