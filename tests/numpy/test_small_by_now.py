"""Lazy arrays of a size that has come to count as small: what is done to them is done at once."""

from collections.abc import Callable, Iterator
from functools import cache as once
from typing import Any

import numpy
import pytest

import lazytensor.numpy as np
from lazytensor.core.observe import metrics
from lazytensor.core.policy import LOSS_SECONDS
from lazytensor.core.runtime import cost_model
from lazytensor.core.runtime.lending import Lent
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy
from lazytensor.frontends.numpy.host import profitability
from lazytensor.frontends.numpy.host.bound import put_back, raise_to
from lazytensor.frontends.numpy.host.profitability import account

BOUND = 100
SIZE = 2 * BOUND
Program = Callable[..., Any]


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing has been lost, and larger arrays do not count as small."""
    monkeypatch.setattr(profitability._thread, "account", profitability.Account())
    monkeypatch.setattr(settings, "small", BOUND)
    yield
    put_back()


@pytest.fixture
def no_programs() -> None:
    """No program has been run: what XLA runs, after some hundred tests, is not at hand."""
    cache.clear()


def lose(size: int) -> None:
    """Let arrays of `size` elements count as small, whatever it cost to make them."""
    account().seconds, account().largest = 0.0, 0
    account().lost(2 * LOSS_SECONDS, size)
    assert settings.small == size + 1


def known(numpys: Any, dtype: Any = float) -> Any:
    """An array of `SIZE` elements that is lazy, and that the host has."""
    x = (numpys.arange(SIZE * 1.0) % 17 - 8).astype(dtype)
    x[3] = 2
    numpy.asarray(x)
    return x


@once
def known_scalar(numpys: Any) -> Any:
    """A number that is lazy where arrays are, and that the host has: a time step."""
    step = numpys.ones(SIZE).sum() / 3
    assert step > 0  # a look at it
    return step


EXPRESSIONS: dict[str, Program] = {
    "abs(x)": lambda np, x, y: abs(x),
    "-x": lambda np, x, y: -x,
    "x + y": lambda np, x, y: x + y,
    "x * x": lambda np, x, y: x * x,
    "2 - x": lambda np, x, y: 2 - x,
    "x ** 2": lambda np, x, y: x**2,
    "x ** y": lambda np, x, y: x**y,
    "x > 0": lambda np, x, y: x > 0,
    "divmod": lambda np, x, y: divmod(x, y),
    "exp": lambda np, x, y: np.exp(x),
    "maximum of a real array": lambda np, x, y: np.maximum(x, numpy.ones(SIZE)),
    "two results": lambda np, x, y: np.modf(x),
    "differences": lambda np, x, y: x[1:] - x[:-1],
    "backwards": lambda np, x, y: x[::-1] + x,
    "a column": lambda np, x, y: x.reshape(20, 10)[:, 3] * 2,
    "transposed": lambda np, x, y: x.reshape(20, 10).T + 1,
    "a sum": lambda np, x, y: x.sum(),
    "sums": lambda np, x, y: x.reshape(20, 10).sum(axis=0),
    "where": lambda np, x, y: np.where(x > 0, x, y),
    "where, of numbers": lambda np, x, y: np.where(x > 0, 1.0, 0.0),
    "any": lambda np, x, y: np.any(x > 7),
    "astype": lambda np, x, y: x.astype(numpy.float32),
    "cumsum": lambda np, x, y: np.cumsum(x),
    "clip": lambda np, x, y: np.clip(x, -1, 1),
    "a mask's": lambda np, x, y: x[numpy.arange(SIZE) % 3 == 0] * 2,
    "added to a real array": lambda np, x, y: numpy.ones(SIZE).__iadd__(x),
    "a list of indices": lambda np, x, y: x[[3, numpy.int8(1), 3]],
    "roll": lambda np, x, y: np.roll(x, 1),
    "roll of rows": lambda np, x, y: np.roll(x.reshape(20, 10), -1, axis=0),
    "repeat": lambda np, x, y: x[::2].repeat(2),
    "std": lambda np, x, y: x.std(),
    "var of columns": lambda np, x, y: np.var(x.reshape(20, 10), axis=0),
    "gradients": lambda np, x, y: tuple(np.gradient(x.reshape(20, 10))),
    "sorted": lambda np, x, y: np.sort(x[::2] * 1),
    "interp": lambda np, x, y: np.interp(y, numpy.arange(-8.0, 9.0), numpy.arange(17.0) ** 2),
    "fft": lambda np, x, y: np.fft.fft(x).real * 1,
    "a scalar": lambda np, x, y: 0.5 * known_scalar(np) * x + known_scalar(np),
    "a scalar's": lambda np, x, y: np.sqrt(abs(-known_scalar(np))) - 1,
    "a scalar rounded": lambda np, x, y: known_scalar(np).round(2),
    "a scalar of another dtype": lambda np, x, y: known_scalar(np).astype(numpy.float32),
    "concatenate": lambda np, x, y: np.concatenate((x[:50] * 1, y[:50] * 1)),
}


@pytest.mark.usefixtures("no_programs")
@pytest.mark.parametrize("program", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_nothing_is_recorded_of_what_the_host_has(program: Program) -> None:
    x, y = known(np), known(np) + 9.0
    numpy.asarray(y)
    before = program(np, x, y)  # which teaches how it is recorded
    lose(SIZE)
    metrics.reset()
    made = program(np, x, y)
    assert metrics.snapshot()["nodes"] == 0
    assert metrics.snapshot()["cuts"] == 0
    expected = program(numpy, known(numpy), known(numpy) + 9.0)
    for want, have, lazy in zip(*map(listed, (expected, made, before)), strict=True):
        assert not issubclass(type(have), Lazy)
        assert (have.dtype, have.strides) == (want.dtype, want.strides)
        numpy.testing.assert_array_equal(have, want)
        numpy.testing.assert_allclose(numpy.asarray(lazy), want, rtol=1e-14)


def listed(x: Any) -> list[Any]:
    return [*x] if isinstance(x, tuple) else [x]


def test_what_is_pending_or_larger_or_tried_again_is_recorded() -> None:
    x, large = known(np), np.ones(SIZE + 1) + 0
    numpy.asarray(large)
    pending = known(np) * 2
    lose(SIZE)
    for made in (pending + 1, x + pending, large * 2, np.exp(large)):
        assert issubclass(type(made), Lazy)
    assert type(x * 3) is numpy.ndarray
    raise_to(settings.small, 0.0)  # it is time to try again
    assert issubclass(type(x * 4), Lazy)
    assert settings.small == BOUND


def test_what_was_recorded_of_a_pending_array_and_a_real_one_is_not_repeated() -> None:
    x, row = known(np), numpy.ones(SIZE)
    pending = known(np) * 2
    lose(SIZE)
    for _ in range(2):
        for function in (lambda x: x + row, lambda x: row - x, lambda x: np.maximum(row, x)):
            assert issubclass(type(function(pending)), Lazy)
            assert type(function(x)) is numpy.ndarray


def test_what_a_pending_array_has_taught_is_not_what_is_done_with_a_known_one() -> None:
    x, pending = known(np), known(np) * 2
    lose(SIZE)
    calls: list[Callable[[Any], Any]] = [
        lambda x: x * x,
        lambda x: 2 * x,
        lambda x: -x,
        np.exp,
        lambda x: np.maximum(x, 0.5),
        lambda x: np.roll(x, 3),
    ]
    for function in calls:
        for _ in range(2):
            assert issubclass(type(function(pending)), Lazy)
            assert type(function(x)) is numpy.ndarray


def test_a_result_is_never_the_memory_of_an_array() -> None:
    x = known(np)
    lose(SIZE)
    for made in (x.astype(float, copy=False), +x, np.copy(x), x.clip(-100, 100)):
        if made is not x:
            made[0] = 123.0
    numpy.testing.assert_array_equal(numpy.asarray(x), known(numpy))


def test_a_view_of_nothing_is_a_view() -> None:
    x, X = known(np).reshape(20, 10), known(numpy).reshape(20, 10)
    empty, EMPTY = x.diagonal(12), X.diagonal(12)
    lose(SIZE)
    assert not np.moveaxis(empty, 0, -1).flags.writeable
    assert not numpy.moveaxis(EMPTY, 0, -1).flags.writeable


UPDATES: dict[str, Program] = {
    "+=": lambda x, y: x.__iadd__(y),
    "-= a number": lambda x, y: x.__isub__(3),
    "*= itself": lambda x, y: x.__imul__(x),
    "/=": lambda x, y: x.__itruediv__(y),
    "//=": lambda x, y: x.__ifloordiv__(2.5),
    "**=": lambda x, y: x.__ipow__(2),
    "%=": lambda x, y: x.__imod__(y),
    "a part": lambda x, y: x[50:].__iadd__(y[50:]),
    "backwards": lambda x, y: x.__iadd__(x[::-1]),
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("is_shared", [False, True])
def test_updates_are_done_in_memory_and_seen_through_views(
    update: Program, is_shared: bool
) -> None:
    x, X = known(np), known(numpy)
    y, Y = known(np) + 9.0, known(numpy) + 9.0
    numpy.asarray(y)
    view, VIEW = x[::2], X[::2]
    copy = x.copy() if is_shared else None
    lose(SIZE)
    for i in range(3):
        metrics.reset()
        update(x, y)
        assert metrics.snapshot()["nodes"] <= (3 if i == 0 else 0)  # leaves: what was shared
        update(X, Y)
        numpy.testing.assert_array_equal(numpy.asarray(x), X)
        numpy.testing.assert_array_equal(numpy.asarray(view), VIEW)
    if is_shared:
        numpy.testing.assert_array_equal(numpy.asarray(copy), known(numpy))


WRITES: dict[str, Program] = {
    "a part": lambda np, x, y: x.__setitem__(slice(1, None), y[:-1]),
    "all of it": lambda np, x, y: x.__setitem__(..., y),
    "a number": lambda np, x, y: x.__setitem__(slice(2, 150, 3), 7),
    "where a mask holds": lambda np, x, y: x.__setitem__(x > 0, 0.25),
    "at indices": lambda np, x, y: x.__setitem__(numpy.array([1, 5, 1]), -1.0),
    "of a view": lambda np, x, y: x.reshape(20, 10)[:, 1:].__setitem__((..., 0), y[:20]),
    "what a function gave": lambda np, x, y: x.__setitem__(slice(100), np.sin(x[100:])),
    "exchanged": lambda np, x, y: x.__setitem__([3, 7], x[[7, 3]]),
    "clipped": lambda np, x, y: np.clip(x, -5, 5, out=x),
    "clipped by its method": lambda np, x, y: x.clip(-5, None, out=x),
    "what a function gives": lambda np, x, y: np.add(x, y, out=x),
    "of no name": lambda np, x, y: np.multiply(x[::-1], 0.5, x),
    "where it holds": lambda np, x, y: np.sqrt(y, out=x, where=numpy.arange(SIZE) % 3 == 0),
    "sums": lambda np, x, y: np.sum(y.reshape(20, 10), axis=0, out=x[:10]),
    "an update and a write": lambda np, x, y: x.__imul__(0.5).__setitem__(x < 0, y[0]),
}


@pytest.mark.usefixtures("no_programs")
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("is_shared", [False, True])
def test_parts_are_written_in_memory(write: Program, is_shared: bool) -> None:
    x, X = known(np), known(numpy)
    y, Y = known(np) + 9.0, known(numpy) + 9.0
    numpy.asarray(y)
    kept = x * 2 if is_shared else None  # pending, from the array's earlier values
    copy = x.copy() if is_shared else None
    lose(SIZE)
    for i in range(4):
        if i == 2:
            metrics.reset()
        write(np, x, y)
        write(numpy, X, Y)
        numpy.testing.assert_array_equal(numpy.asarray(x), X)
    assert (metrics.snapshot()["nodes"], metrics.snapshot()["cuts"]) == (0, 0)
    if is_shared:
        numpy.testing.assert_array_equal(numpy.asarray(copy), known(numpy))
        numpy.testing.assert_array_equal(numpy.asarray(kept), known(numpy) * 2)


LOOKS: dict[str, Program] = {
    "compared": lambda np, x, y: x > 0,
    "added": lambda np, x, y: x + y,
    "the second operand": lambda np, x, y: y - x,
    "of a number": lambda np, x, y: 1 - x,
    "negative": lambda np, x, y: -x,
    "a function": lambda np, x, y: np.exp(x),
    "a function of two": lambda np, x, y: np.maximum(x, y),
    "NumPy's function": lambda np, x, y: numpy.maximum(x, y),
    "a choice": lambda np, x, y: np.where(y > 0, x, y),
    "a sum": lambda np, x, y: np.sum(x),
    "added to a real array": lambda np, x, y: numpy.ones(SIZE).__iadd__(x),
    "written to another": lambda np, x, y: y.__iadd__(x),
    "all values": lambda np, x, y: numpy.asarray(x),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_memory_that_was_written_to_goes_on_being_lent(look: Program) -> None:
    x, y = known(np), known(np) + 9.0
    numpy.asarray(y)
    lose(SIZE)
    x *= 3
    assert type(x.ref) is Lent
    seen = look(np, x, y)
    assert type(x.ref) is Lent
    if isinstance(seen, numpy.ndarray):
        seen[...] = 0  # it is its own
    numpy.testing.assert_array_equal(numpy.asarray(x), known(numpy) * 3)


WRONG: dict[str, Program] = {
    "a cast": lambda x, whole: whole.__iadd__(0.5),
    "a shape": lambda x, whole: x.__iadd__(x[1:]),
    "a larger shape": lambda x, whole: x[:1].__iadd__(x),
    "a negative power": lambda x, whole: whole.__ipow__(-1),
    "a function": lambda x, whole: x + x[1:],
}


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_errors_are_numpys(program: Program) -> None:
    with pytest.raises((TypeError, ValueError)) as theirs:
        program(known(numpy), known(numpy, int))
    given = known(np), known(np, int)
    lose(SIZE)
    assert all(issubclass(type(x), Lazy) for x in given)
    with pytest.raises((TypeError, ValueError)) as ours:
        program(*given)
    assert type(ours.value) is type(theirs.value)
    assert str(ours.value) == str(theirs.value)


def mandelbrot(np: Any, rounds: int) -> Any:
    """After NPBench's, whose coordinates are read by a mask that is lazy."""
    C = numpy.linspace(-2.0, 0.5, SIZE) + 0.3j
    Z, N = np.zeros(SIZE, complex), np.zeros(SIZE, int)
    for i in range(rounds):
        inside = np.less(abs(Z), 2.0)
        N[inside] = i
        Z[inside] = Z[inside] ** 2 + C[inside]
    return Z, N


def test_a_loop_that_chooses_by_masks_comes_to_be_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profitability, "LOSS_SECONDS", 1e-3)
    for want, have in zip(mandelbrot(numpy, 40), mandelbrot(np, 40), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(have), want, rtol=1e-12)
    assert settings.small == SIZE + 1
    metrics.reset()
    mandelbrot(np, 40)
    assert metrics.snapshot()["nodes"] == 0


def test_a_loop_with_a_test_in_each_round_comes_to_be_numpys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profitability, "LOSS_SECONDS", 1e-3)
    monkeypatch.setattr(account(), "interval", 60.0)  # seconds until it is tried again
    x, v = np.ones(SIZE) + 0, np.full(SIZE, 0.5) + 0
    X, V = numpy.ones(SIZE), numpy.full(SIZE, 0.5)
    for _ in range(300):
        metrics.reset()
        x += v
        v *= 0.99
        X += V
        V *= 0.99
        assert float(x.max()) == X.max()
    assert metrics.snapshot()["nodes"] == 0


def test_a_loop_without_a_look_comes_to_be_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    """An automatic cut leaves the first operation of a round pending, on which all may depend."""
    x = known(np).reshape(4, -1).sum(axis=0)
    monkeypatch.setattr(cost_model, "SECONDS_PER_CALL", 1.0)
    monkeypatch.setattr(settings, "tier", "auto")
    assert issubclass(type(x), Lazy)
    metrics.reset()
    for _ in range(20_000):
        y = np.sin(x) * 0.5
        x = np.cos(y) + x * 0.25
        if type(x) is numpy.ndarray:
            break
    assert type(x) is numpy.ndarray
    assert metrics.snapshot()["compiles"] == 0


def test_what_a_mask_has_chosen_is_small_where_it_is_small() -> None:
    x = np.arange(3.0 * BOUND) + 0
    few, many = x[x < 9.0], x[x < 2.0 * BOUND]
    assert few.size == 9
    assert many.size == 2 * BOUND
    assert type(few * 2 + numpy.ones(9)) is numpy.ndarray
    assert issubclass(type(many * 2), Lazy)
    assert (few * 2).tolist() == [2.0 * i for i in range(9)]


def test_a_masked_read_of_what_has_come_to_be_small_stays_one() -> None:
    x, X = known(np), known(numpy)
    mask = x > 0
    chosen = x[mask]
    lose(SIZE)
    x[mask] = chosen * 2 + chosen
    numpy.testing.assert_array_equal(numpy.asarray(x), numpy.where(X > 0, X * 3, X))
    numpy.testing.assert_array_equal(numpy.asarray(chosen * chosen), X[X > 0] ** 2)
