"""NumPy's functions: values, dtypes, shapes and errors; what is lazy and what is not; aliasing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.observe import metrics
from lazytensor.core.runtime import scheduler
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy import functions, namespace
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.arrays.methods import FunctionMethods
from tests.numpy.agreement import assert_agree, assert_same, outcome
from tests.numpy.expressions import assert_equal, evaluate, table
from tests.sweeps import one_in

THEMES = (
    "creation",
    "elementwise",
    "joining",
    "ordering",
    "products",
    "reductions",
    "selecting",
    "shapes",
    "statistics",
)
ALL = (*THEMES, "linalg", "fft", "random")


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "interpret")


@pytest.mark.parametrize("line", table(*THEMES))
def test_as_numpy(line: str) -> None:
    assert_equal(line)


def _recorded(lines: list[str]) -> list[tuple[str, Any, Any]]:
    """What each expression gives: with NumPy, and recorded with ours."""
    found = []
    for line in lines:
        expected = outcome(lambda np, line=line: evaluate(line, np), numpy)
        if isinstance(expected, Exception):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found.append((line, expected, evaluate(line, lnp)))
    return found


@one_in(2)
@pytest.mark.parametrize("name", ALL)
def test_compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, every expression of a table in one compiled program."""
    found = _recorded([line for line in table(name) if not line.startswith("!")])
    monkeypatch.setattr(settings, "tier", "compile")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        scheduler.sync(*(x.node for _, _, value in found for x in _lazies(value)))
    for _, expected, value in found:
        assert_same(outcome(lambda np, value=value: value, lnp), expected, 1e-6)


def _lazies(value: Any) -> list[Lazy]:
    if isinstance(value, tuple | list):
        return [x for item in value for x in _lazies(item)]
    return [value] if isinstance(value, Lazy) else []


CALLABLES = [
    name
    for name in dir(numpy)
    if not name.startswith("_")
    and callable(getattr(numpy, name))
    and not isinstance(getattr(numpy, name), type | numpy.ufunc)
]


def test_closed_world() -> None:
    """Every function of NumPy's is lazy, or its arguments' values are needed by its nature."""
    known = {*functions.LAZY, *functions.HOST, *functions.ABOUT, *namespace.LAZY}
    assert not set(CALLABLES) - known
    assert not functions.LAZY.keys() & functions.HOST.keys()


@pytest.mark.parametrize("home", ["linalg", "fft", "random"])
def test_closed_world_of_modules(home: str) -> None:
    real, ours = getattr(numpy, home), getattr(lnp, home)
    public = {
        name
        for name in real.__all__
        if callable(getattr(real, name)) and not isinstance(getattr(real, name), type)
    }
    generator = {"default_rng", "seed", "get_state", "set_state", "get_bit_generator"}
    missing = public - {*ours.LAZY, *getattr(ours, "HOST", ()), *generator, "set_bit_generator"}
    assert missing <= {"bytes", "test"}


def test_everything_in_numpy_is_here() -> None:
    for name in dir(numpy):
        assert hasattr(lnp, name), name
    assert lnp.float64 is numpy.float64
    assert lnp.pi == numpy.pi
    assert lnp.ma is numpy.ma


def test_testing_takes_lazy_arrays() -> None:
    lnp.testing.assert_equal([lnp.arange(3)], [[0, 1, 2]])
    lnp.testing.assert_allclose(lnp.arange(3) + 1e-9, [0, 1, 2], atol=1e-8)
    with pytest.raises(AssertionError):
        lnp.testing.assert_array_equal(lnp.arange(3), [0, 1, 3])


@pytest.mark.parametrize(
    "name", [name for name in vars(FunctionMethods) if callable(getattr(numpy.ndarray, name, None))]
)
def test_methods_are_attached(name: str) -> None:
    assert callable(getattr(lnp.zeros(3), name))
    assert callable(getattr(numpy.zeros(3), name))


def test_numpy_hands_over() -> None:
    """NumPy's own functions, called with a lazy array, are ours."""
    x = lnp.arange(6.0)
    before = metrics.snapshot()["fallbacks"]
    assert isinstance(numpy.sum(x), Lazy)
    assert isinstance(numpy.concatenate([x, x]), Lazy)
    assert isinstance(numpy.linalg.norm(x), Lazy)
    assert isinstance(numpy.fft.fft(x), Lazy)
    assert metrics.snapshot()["fallbacks"] == before


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "reshape": lambda np, x: np.reshape(x, (4, 3)),
    "ravel": lambda np, x: np.ravel(x),
    "transpose": lambda np, x: np.transpose(x),
    "swapaxes": lambda np, x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda np, x: np.moveaxis(x, 0, 1),
    "expand_dims": lambda np, x: np.expand_dims(x, 1),
    "squeeze": lambda np, x: np.squeeze(x[None]),
    "reshape of a view": lambda np, x: x[1:].reshape(-1),
    "reshape in columns": lambda np, x: np.reshape(x, 12, order="F"),
    "ravel of a transpose": lambda np, x: x.T.ravel(),
    "ravel as stored": lambda np, x: x.T.ravel(order="K"),
    "flatten": lambda np, x: x.flatten(),
    "asarray": lambda np, x: np.asarray(x),
    "array": lambda np, x: np.array(x),
    "atleast_3d": lambda np, x: np.atleast_3d(x),
    "flip": lambda np, x: np.flip(x),
    "rot90": lambda np, x: np.rot90(x),
    "split": lambda np, x: np.split(x, 3)[1],
    "diff": lambda np, x: np.diff(x, n=0),
    "astype": lambda np, x: np.astype(x, float, copy=False),
    "ascontiguousarray": lambda np, x: np.ascontiguousarray(x.T),
    "broadcast_arrays": lambda np, x: np.broadcast_arrays(x, x)[0],
    "fortran": lambda np, x: np.asfortranarray(x).reshape(-1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_aliasing(name: str) -> None:
    """A view is one exactly where NumPy gives one: writes go through, both ways."""

    def program(np: Any) -> Any:
        x = np.arange(12.0).reshape(3, 4)
        view = VIEWS[name](np, x)
        view[...] = view * 2
        x[1] = -1.0
        return x, view, np.shares_memory(x, view)

    assert_agree(program)


def test_diagonal_shows_later_writes() -> None:
    def program(np: Any) -> Any:
        x = np.arange(9.0).reshape(3, 3)
        line, wide = np.diagonal(x), np.broadcast_to(x[0], (2, 3))
        x[0] = 7.0
        return line, wide

    assert_agree(program)


def test_shape_can_be_assigned() -> None:
    def program(np: Any) -> Any:
        x = np.arange(12.0)
        row = x[:4]
        x.shape = (3, -1)
        x[0, 1] = 9.0
        row[2] = 8.0
        y = x.T
        try:
            y.shape = (12,)
        except AttributeError:
            y = y[:, 0]
        return x, row, y, x.shape

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert_agree(program)


@pytest.mark.parametrize("make", ["np.diagonal(x)", "np.broadcast_to(x, (2, 3, 3))"])
def test_read_only(make: str) -> None:
    def program(np: Any) -> Any:
        x = np.arange(9.0).reshape(3, 3)
        eval(make, {"np": np, "x": x})[0] = 1.0

    assert_agree(program)


OUTSIDE = {
    "np.take(x, i * 3, axis=0)": IndexError,
    "np.take_along_axis(x, i * 9, axis=1)": IndexError,
    "np.choose(k * 2, [k, k])": ValueError,
    "np.average(x, weights=x * 0)": ZeroDivisionError,
    "np.nanargmax(x * np.nan)": ValueError,
    "np.digitize(x, i[0] * 1.0)": ValueError,
    "np.linalg.inv(q * 0)": numpy.linalg.LinAlgError,
    "np.linalg.solve(q * 0, q)": numpy.linalg.LinAlgError,
    "np.linalg.cholesky(-q)": numpy.linalg.LinAlgError,
}


@pytest.mark.parametrize("source", OUTSIDE)
def test_bad_data(source: str) -> None:
    """Data that NumPy refuses are refused when they are computed; others are computed then."""
    value = evaluate(source, lnp, quiet=True)
    good = lnp.arange(3) + 1
    with pytest.raises(OUTSIDE[source], match=r"test_functions|expressions|string"):
        numpy.asarray(value)
    assert good.tolist() == [1, 2, 3]
    with pytest.raises(OUTSIDE[source]):
        evaluate(source, numpy)


def test_dtypes_that_xla_has_not_stay_with_numpy() -> None:
    for made in (
        lnp.array([1, "a"], dtype=object),
        lnp.zeros(2, dtype="U3"),
        lnp.array(["2020-01-01"], dtype="datetime64[D]"),
        lnp.concatenate([lnp.array([object()]), lnp.array([None])]),
        lnp.zeros(2, numpy.longdouble),
    ):
        assert type(made) is numpy.ndarray


def test_without_a_lazy_argument_numpy_computes_at_once() -> None:
    before = metrics.snapshot()
    made = lnp.sort([3, 1, 2])
    assert isinstance(made, lnp.ndarray)
    assert made.tolist() == [1, 2, 3]
    assert metrics.snapshot()["cuts"] == before["cuts"]


def test_a_result_of_numpys_is_not_the_callers_array() -> None:
    mine = numpy.arange(3)
    made = lnp.ravel(mine)
    mine[0] = 9
    assert made.tolist() == [0, 1, 2]


def test_fallback_is_loud() -> None:
    x = lnp.array([[1 + 1j, 2], [3, 4]])
    before = metrics.snapshot()["fallbacks"]
    with pytest.warns(LazyTensorWarning, match=r"test_functions.py.*searchsorted"):
        assert lnp.searchsorted(x[1], x[1]).tolist() == [0, 1]
    assert metrics.snapshot()["fallbacks"] == before + 1


@pytest.mark.parametrize("axis", [0, -1])
def test_complex_numbers_are_sorted_in_place(axis: int) -> None:
    def program(np: Any) -> Any:
        x = np.array([[2 + 1j, np.nan, 1j], [2, -1, 1j]])
        view = x[:, ::-1]
        view.sort(axis)
        return x

    assert_agree(program)


def test_iterators_write_back() -> None:
    def program(np: Any) -> Any:
        x, y = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
        with np.nditer(x, op_flags=["readwrite"]) as elements:
            for element in elements:
                element[...] = element * 2
        for a, b in np.nditer([x, y], op_flags=[["readonly"], ["writeonly"]]):
            b[...] = a + 1
        total = sum(float(a) for a in np.nditer(y))
        return x, y, total

    assert_agree(program)


def test_vectorize() -> None:
    def program(np: Any) -> Any:
        step = np.vectorize(lambda a, b: a if a > b else -b)
        return step(np.arange(4.0), 2.0), step(1, 2), type(step(np.arange(3), 1)) is np.ndarray

    assert_agree(program)


@pytest.mark.parametrize("name", ["cov", "unwrap", "polyint"])
def test_numpys_python_over_lazy_arrays(name: str) -> None:
    """It records for the user's line, and leaves NumPy's own function as it was."""
    made = getattr(lnp, name)(lnp.arange(6.0) * 2)
    assert made.node.place[0].co_filename == __file__
    assert type(getattr(numpy, name)(numpy.arange(6.0))) is numpy.ndarray
    assert getattr(lnp, name).__doc__.endswith(getattr(numpy, name).__doc__)


def test_counterparts() -> None:
    assert namespace.counterpart(numpy.sum) is lnp.sum
    assert namespace.counterpart(numpy.linalg.inv) is lnp.linalg.inv
