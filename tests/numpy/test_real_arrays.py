"""Real arrays as operands of lazy ones, whose calls were seen before."""

import operator
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.ir import memo
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.ufuncs import ufunc as ufuncs
from tests.numpy.agreement import assert_same, real

ROWS, COLUMNS = 40, 3
Program = Callable[..., Any]

REAL: dict[str, numpy.ndarray] = {
    "a row": numpy.arange(COLUMNS) - 1.5,
    "a column": numpy.arange(ROWS * 1.0)[:, None],
    "a matrix": numpy.arange(ROWS * COLUMNS * 1.0).reshape(ROWS, COLUMNS),
    "a matrix in columns": numpy.arange(ROWS * COLUMNS * 1.0).reshape(COLUMNS, ROWS).T,
    "every other": numpy.arange(2.0 * COLUMNS)[::2],
    "no axes": numpy.array(2.5),
    "another dtype": numpy.arange(COLUMNS, dtype=numpy.int8),
    "another order of bytes": numpy.arange(COLUMNS, dtype=">f8"),
    "objects": numpy.array([1, 2.5, 3], object),
    "another class": numpy.ma.masked_array(numpy.arange(3.0), [0, 1, 0]),
}
PROGRAMS: dict[str, Program] = {
    "x + a": lambda np, x, a: x + a,
    "a - x": lambda np, x, a: a - x,
    "x > a": lambda np, x, a: x > a,
    "np.maximum(x, a)": lambda np, x, a: np.maximum(x, a),
    "np.maximum(a, x)": lambda np, x, a: np.maximum(a, x),
    "numpy.hypot(a, x)": lambda np, x, a: numpy.hypot(a, x),
    "columns * a": lambda np, x, a: x.T.copy().T * a,
    "x[::-1] * a": lambda np, x, a: x[::-1] * a,
    "x += a": lambda np, x, a: operator.iadd(x + 0, a),
}


@pytest.fixture(autouse=True)
def _all_lazy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", 0)
    memo.forget()


def data(numpys: Any) -> Any:
    return numpys.array(numpy.linspace(-2, 2, ROWS * COLUMNS).reshape(ROWS, COLUMNS))


def same(made: Any, expected: Any) -> None:
    """Values, dtypes and shapes, or the exceptions, are the same; for lazy arrays, layouts too."""
    assert_same(real(made), expected, rtol=1e-15)
    if isinstance(made, Lazy):
        assert (made.strides, made.flags.c_contiguous) == (
            expected.strides,
            expected.flags.c_contiguous,
        )


def tried(program: Program, numpys: Any, a: Any) -> Any:
    try:
        return program(numpys, data(numpys), a)
    except (TypeError, AttributeError) as error:
        return error


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_first_call_and_the_next_ones_are_numpys(program: str, name: str) -> None:
    call, a = PROGRAMS[program], REAL[name]
    expected = tried(call, numpy, a)
    for _ in range(3):
        same(tried(call, np, a), expected)


PLANNED = {name: REAL[name] for name in ("a row", "a matrix in columns", "no axes")}


@pytest.mark.parametrize("a", PLANNED.values(), ids=PLANNED)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_call_seen_before_has_a_plan(
    program: Program, a: numpy.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = data(np)
    program(np, x, a)
    program(np, x, a)  # what writes in place has one by now
    recorded = []
    record = ufuncs._record
    monkeypatch.setattr(ufuncs, "_record", lambda *args: recorded.append(args) or record(*args))
    assert isinstance(program(np, x, a), Lazy)
    assert not recorded


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_an_operand_may_be_written_to_afterwards(program: Program) -> None:
    row = REAL["a row"]
    expected = program(numpy, data(numpy), row)
    for _ in range(3):
        a = row.copy()
        made = program(np, data(np), a)
        a[:] = 7.0  # before it is computed
        same(made, expected)


def test_a_matrix_of_numpys_times_a_lazy_stack_lies_as_numpys_result() -> None:
    a, stack = numpy.ones((2, 4)).T, numpy.arange(24.0).reshape(3, 2, 4).transpose(2, 1, 0)
    for program in (lambda np, x: x @ a[:3], lambda np, x: np.matmul(a, x[:, :2])):
        expected = program(numpy, stack)
        for _ in range(3):
            same(program(np, np.array(stack, order="K")), expected)


def test_shapes_that_do_not_fit_are_said_to_be_numpys_way() -> None:
    x = data(np)
    for _ in range(2):
        assert (x + REAL["a row"]).shape == (ROWS, COLUMNS)
        with pytest.raises(ValueError, match=r"operands could not be broadcast together"):
            x + numpy.zeros(COLUMNS + 1)


def test_flags_are_checked_of_calls_seen_before() -> None:
    x, zeros = data(np), numpy.zeros(COLUMNS)
    for _ in range(2):
        with np.errstate(all="ignore"):
            _ = x / zeros
    with np.errstate(divide="raise", invalid="raise"), pytest.raises(FloatingPointError):
        float((x / zeros)[0, 0])
