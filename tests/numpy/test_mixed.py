"""Calls of ufuncs on operands of several dtypes, seen before or not, are the same."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.ir import memo
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_same, outcome

DTYPES = ("?", "i1", "u1", "i4", "i8", "f2", "f4", "f8", "c8", "c16")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "x + y": lambda np, x, y: x + y,
    "x / y": lambda np, x, y: x / y,
    "x > y": lambda np, x, y: x > y,
    "x ** y": lambda np, x, y: x**y,
    "np.maximum": lambda np, x, y: np.maximum(x, y),
    "np.hypot": lambda np, x, y: np.hypot(x, y),
    "np.sin": lambda np, x, y: np.sin(x),
}
NUMBERS = (3, 2.5, 2, 1e300, 2**53 + 1, -0.0, float("nan"), True, 1j)
NUMBERS += (numpy.float64(1.5), numpy.float32(0.1), numpy.int8(3))


@pytest.fixture(autouse=True)
def _all_lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", 0)
    memo.forget()


def values(numpys: Any, dtype: str, first: int = 1) -> Any:
    return numpys.array(numpy.arange(first, first + 5).astype(dtype))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays(function: Callable[..., Any], dtype: str) -> None:
    for other, first in itertools.product(DTYPES, (1, 2, 3)):
        results = [
            outcome(lambda np: function(np, values(np, dtype), values(np, other, first)), numpys)  # noqa: B023
            for numpys in (np, numpy)
        ]
        assert_same(*results, rtol=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_change(function: Callable[..., Any], dtype: str) -> None:
    for number in (*NUMBERS, *NUMBERS):
        for swapped in (False, True):

            def program(np: Any) -> Any:
                x = values(np, dtype)
                return function(np, number, x) if swapped else function(np, x, number)  # noqa: B023

            results = [outcome(program, numpys) for numpys in (np, numpy)]
            assert_same(*results, rtol=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize(("dtype", "other"), [("i4", "f8"), ("?", "f4"), ("i8", "i8")])
def test_a_call_seen_before_is_the_same_program(
    function: Callable[..., Any], dtype: str, other: str
) -> None:
    cache.clear()
    for _ in range(3):
        numpy.asarray(function(np, values(np, dtype), values(np, other)))
    assert len(cache.entries()) == 1


def test_what_has_no_axes_is_a_number_in_programs_or_is_computed() -> None:
    number, computed = np.full((), 0.1, "f4"), np.ones(3, "f4").sum() * 0.1
    for x in (number, computed, number, computed):
        made = numpy.asarray(values(np, "f8") * x)
        numpy.testing.assert_allclose(made, values(numpy, "f8") * numpy.asarray(x), rtol=1e-15)
        assert made.dtype == float
