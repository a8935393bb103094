"""Recipes: a call that was seen before records what the first one did, and what NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.frontends.numpy.arrays.array import wrap
from lazytensor.frontends.numpy.ufuncs.recipes import RECIPES_BOUND, recorded
from tests.numpy.agreement import assert_agree

Call = Callable[..., Any]

CALLS: dict[str, Call] = {
    "sum": lambda np, x, y, c: x.sum(),
    "sum axis": lambda np, x, y, c: [x.sum(axis=0), x.sum(0), x.sum(axis=(0, 1)), np.sum(x, 1)],
    "sum dtype": lambda np, x, y, c: [x.sum(dtype=np.float64), x.sum(dtype="f8")],
    "sum where": lambda np, x, y, c: x.sum(axis=0, where=c),
    "keepdims": lambda np, x, y, c: [x.sum(1, keepdims=True), x.sum(1, keepdims=False)],
    "mean": lambda np, x, y, c: [x.mean(), np.mean(x, axis=1)],
    "max": lambda np, x, y, c: [x.max(axis=1), np.max(x), x.argmin(), np.argmax(x, 0)],
    "any": lambda np, x, y, c: [x.any(axis=0), c.all(), np.count_nonzero(x, axis=1)],
    "cumsum": lambda np, x, y, c: [x.cumsum(), np.cumsum(x, axis=0)],
    "where": lambda np, x, y, c: [np.where(c, x, y), np.where(x > 1, x, x)],
    "where number": lambda np, x, y, c: [np.where(c, x, n) for n in (0, 0.0, -0.0, True, 1, 1.5)],
    "where scalar": lambda np, x, y, c: np.where(c, x, y[0, 0] * 2),
    "columns": lambda np, x, y, c: [x.T @ (y * 2), (x[:3, :3] * 2).T @ (y[:3, :3] * 3).T],
    "dot": lambda np, x, y, c: [np.dot(x, y.T), x.dot(y.T), np.inner(x, x), x @ y.T, x @ x.T],
    "clip": lambda np, x, y, c: [x.clip(0, 2), np.clip(x, 0.5, None), x.clip(y, 3)],
    "concatenate": lambda np, x, y, c: [np.concatenate([x, y]), np.concatenate((x, y, x), axis=1)],
    "stack": lambda np, x, y, c: [np.stack([x, y], axis=-1), np.vstack([x, y]), np.hstack([x, y])],
    "astype": lambda np, x, y, c: [x.astype(np.float32), x.astype("i2"), x.astype(bool)],
    "copy": lambda np, x, y, c: [x.copy(), x.copy(order="F"), x.astype(x.dtype)],
    "reshape": lambda np, x, y, c: [x.reshape(-1), x.reshape(4, 3), np.reshape(x, (2, -1))],
    "turned": lambda np, x, y, c: [x.T, np.transpose(x, (1, 0)), x.swapaxes(0, 1), x.mT],
    "flat": lambda np, x, y, c: [x.ravel(), np.ravel(x, order="F"), np.expand_dims(x, (0, 2))],
    "spread": lambda np, x, y, c: [x.std(), x.var(0, ddof=1), np.std(x, 1), np.var(x, where=c)],
    "average": lambda np, x, y, c: [np.average(x, 0), np.average(x, weights=y + 1), np.ptp(x, 0)],
    "quantiles": lambda np, x, y, c: [np.median(x, 0), np.quantile(x, [0.2, 0.7])],
    "without nan": lambda np, x, y, c: [np.nanmax(x, 0), np.nanmean(x), np.nansum(x, 1)],
    "nan's places": lambda np, x, y, c: [np.nanargmin(x, 1), np.nanmedian(x), np.nanprod(x)],
    "in order": lambda np, x, y, c: [np.sort(x), x.argsort(0), np.round(x, 1), x.round()],
    "joined": lambda np, x, y, c: [np.append(x, y), np.column_stack([x, y]), np.append(x, y, 0)],
    "moved": lambda np, x, y, c: [np.roll(x, 1), np.roll(x, (1, 2), (0, 1)), np.tile(x, 2)],
    "repeated": lambda np, x, y, c: [np.repeat(x, 2, 0), x.repeat(3), np.tril(x), np.triu(x, 1)],
    "neighbours": lambda np, x, y, c: [np.diff(x), np.trapezoid(x), np.trace(x), x.trace(1)],
    "products": lambda np, x, y, c: [np.cross(x[:, :3], y[:, :3]), np.einsum("ij,kj->ik", x, y)],
    "windows": lambda np, x, y, c: [np.convolve(x[0], y[0]), np.correlate(x[0], y[1], "full")],
    "spectra": lambda np, x, y, c: [np.fft.fft(x), np.fft.rfft(x.real, 6), np.fft.ifft2(x)],
    "norm": lambda np, x, y, c: [np.linalg.norm(x), np.linalg.norm(x, axis=1), np.isclose(x, y)],
    "infinities": lambda np, x, y, c: [np.isposinf(x.real), np.take_along_axis(x, y.argsort(0), 0)],
    "unfit": lambda np, x, y, c: x.reshape(5, 5),
    "no axis": lambda np, x, y, c: x.sum(axis=2),
    "no product": lambda np, x, y, c: np.dot(x, y),
}
"""Calls, by what is special about them, with two arrays of one type and a mask."""

FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "own": lambda np, a: np.array(a),
    "pending": lambda np, a: np.array(a) ^ True if a.dtype == bool else np.array(a) * 1,
    "view": lambda np, a: np.array([a, a])[1],
    "backwards": lambda np, a: np.array(a)[::-1],
    "in columns": lambda np, a: np.array(a.T).T,
}
_DATA = numpy.arange(12).reshape(3, 4)


def _twice(call: Call, form: Call, dtype: str, np: Any) -> list[Any]:
    """What is recorded first, and what after it with other data; with how it lies in memory."""
    x, y, c = (form(np, a) for a in (_DATA.astype(dtype), (_DATA % 5).astype(dtype), _DATA % 3 > 0))
    made = [call(np, x, y, c), call(np, y, x, ~c)]
    flat = [a for item in made for a in (item if type(item) is list else [item])]
    return [made, [(a.flags.c_contiguous, a.flags.fnc, a.base is x, a.base is y) for a in flat]]


@pytest.mark.parametrize("dtype", ["f4", "i4", "c16", "?"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("call", CALLS)
def test_the_second_call_is_as_the_first(call: str, form: str, dtype: str) -> None:
    assert_agree(lambda np: _twice(CALLS[call], FORMS[form], dtype, np))


NUMBERS = (1, 1.0, True, 0, False, 0.0, -0.0, 1j, 2, float("nan"), (1,), [1])


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda np, x, n: x.sum(axis=n), (1, 1.0, 0, 0.0, (1,), [1], None, "1", 2)),
        (lambda np, x, n: x.reshape(n, -1), (1, 1.0, 2, 2.0, (1,), "1", None)),
        (lambda np, x, n: x.sum(axis=0, keepdims=n), (1, True, 0, False)),
        (lambda np, x, n: np.where(x > 1, x, n), NUMBERS),
        (lambda np, x, n: np.copysign(1.0, np.where(x > 1, x, n).real), NUMBERS),
    ],
)
def test_equal_arguments_of_different_classes_are_told_apart(call: Call, values: Any) -> None:
    """One after another, so that each could take the recipe of another."""
    for n in values:
        assert_agree(lambda np, n=n: call(np, np.ones((2, 3), "f4"), n))


def test_an_array_that_is_looked_at_is_no_part_of_a_recipe() -> None:
    def program(np: Any) -> list[Any]:
        x = np.arange(6.0).reshape(2, 3)
        return [[x.sum(axis=np.array(n)), x.reshape(np.array(n + 2), -1)] for n in (0, 1)]

    assert_agree(program)


def test_what_is_written_to_is_given_back_every_time() -> None:
    x, sums = lnp.ones((3, 4)), [lnp.zeros(4) for _ in range(3)]
    assert all(x.sum(axis=0, out=one) is one for one in sums)
    assert [one.tolist() for one in sums] == [[3.0] * 4] * 3


@pytest.mark.parametrize(
    ("call", "warning"),
    [
        (lambda: lnp.ones(3, dtype=complex).astype(float), numpy.exceptions.ComplexWarning),
        (lambda: lnp.ones((0, 3)).mean(axis=0), RuntimeWarning),
        (lambda: lnp.ones((1, 3)).var(axis=0, ddof=1), RuntimeWarning),
        (lambda: lnp.median(lnp.ones((0, 3)), 0), RuntimeWarning),
    ],
)
def test_what_warns_warns_every_time(call: Call, warning: type[Warning]) -> None:
    for _ in range(3):
        with pytest.warns(warning):
            call()


def test_a_view_is_written_through_every_time() -> None:
    def program(np: Any) -> Any:
        x = np.zeros((3, 4))
        for n in range(1, 4):
            x.T[n] = n
            x.reshape(-1)[0] += 1
            x.ravel()[-1] *= 2
        return x

    assert_agree(program)


KEYS: dict[str, Any] = {
    "element": (1, 2),
    "row": 1,
    "column": (slice(None), 2),
    "part": (slice(1, None), slice(0, 2)),
    "all": ...,
    "new axis": (None, 1),
    "backwards": slice(None, None, -1),
}
VALUES: dict[str, Callable[[Any, Any], Any]] = {
    **{f"{n!r}": lambda np, x, n=n: n for n in (1, 1.5, True, -0.0, 1e300, 2**40, float("nan"))},
    "beyond": lambda np, x: 2**70,
    "complex": lambda np, x: 2j,
    "own number": lambda np, x: np.float32(0.1),
    "scalar": lambda np, x: x[0, 0] + x[0, 1],
    "row": lambda np, x: np.arange(4.0)[: x[1:, :2].shape[-1]],
    "another row": lambda np, x: x[-1],
    "rows": lambda np, x: x[::-1] * 2,
    "itself": lambda np, x: x,
    "list": lambda np, x: [[7]],
}


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i8", "?", "c16"])
@pytest.mark.parametrize("form", ["own", "view", "in columns"])
@pytest.mark.parametrize("key", KEYS)
def test_what_was_written_before_is_written_so_again(key: str, form: str, dtype: str) -> None:
    def program(np: Any, names: Any) -> list[Any]:
        made = []
        for scale in (1, 2):
            x = FORMS[form](np, (_DATA * scale).astype(dtype))
            for name in names:
                try:
                    with numpy.testing.suppress_warnings() as warned:
                        warned.filter(RuntimeWarning)
                        x[KEYS[key]] = VALUES[name](np, x)
                except (TypeError, ValueError, OverflowError) as error:
                    made.append(type(error).__name__)
                made.append(x.copy())
        return made

    real = [name for name in VALUES if name != "complex" or dtype == "c16"]
    assert_agree(lambda np: program(np, real))
    for name in real:
        assert_agree(lambda np, name=name: program(np, [name]))


def test_rows_and_columns_of_an_array_are_written_into_it() -> None:
    """What is written is shown through the same last step as what it is written into, or not."""

    def program(np: Any) -> Any:
        x = np.arange(12.0).reshape(3, 4) * 1
        y = np.arange(16.0).reshape(4, 4) * 1
        for _ in range(3):
            x[0, :] = x[-2, :]
            x[:, 0] = x[:, -2]
            x[:, 1] = y[1, 1:]
            y[2] = y[:, 3]
            y[0] = x[1]
            x[1:, 2] = x[:-1, 2]
        return [x, y]

    assert_agree(program)


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1, 1), (1,), (4,)])
def test_a_value_of_the_wrong_shape_is_refused_every_time(shape: tuple[int, ...]) -> None:
    def program(np: Any, key: Any) -> Any:
        x = np.zeros((4, 4))
        for value in (np.ones(4), np.ones((2, *shape))[1], np.ones(shape) * 1):
            x[key] = value
        return x

    for key in (0, (slice(None), 0), (slice(1), 1), (slice(2), slice(1, 2))):
        assert_agree(lambda np, key=key: program(np, key))


@pytest.mark.parametrize(
    "call",
    [
        lambda np, x, out: np.multiply(x, 2, out=out),
        lambda np, x, out: np.multiply(x, x[0, 0], out=out),
        lambda np, x, out: np.sqrt(x, out=out),
        lambda np, x, out: np.add(x, out, out=out),
        lambda np, x, out: np.add(x, x[0], out=out),
        lambda np, x, out: np.greater(x, 2, out=out),
        lambda np, x, out: np.add(x[0], 1, out=out),
        lambda np, x, out: np.add(x, out=out),
    ],
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?"])
def test_results_go_where_they_are_wanted_every_time(call: Call, dtype: str) -> None:
    def program(np: Any) -> Any:
        x = np.arange(12, dtype="f4").reshape(3, 4)
        x + x, x * 2, x * x[0, 0], np.sqrt(x), x + x[0], x > 2, x[0] + 1  # plans for all of them
        owner = np.ones((2, 3, 4), dtype)
        for out in (owner[0], owner[1], np.zeros((3, 4), dtype)):
            assert call(np, x, out) is out
        out.flags.writeable = False
        try:
            call(np, x, out)
        except ValueError:
            return [owner, out]
        return None

    assert_agree(program)


def test_scalars_of_functions_are_as_those_of_arrays() -> None:
    def program(np: Any) -> list[Any]:
        x = np.arange(6, dtype="f4").reshape(2, 3) + 1
        points = [x.sum(), x.mean(), x[0, 1] * 1, np.sum(x[0]), np.float64(3) * x[1, 1]]
        pairs = [
            (np.sqrt(p), np.add(p, q), np.maximum(p, x), 2 - p) for p in points for q in points
        ]
        return [y for pair in pairs for y in pair]

    assert_agree(program)


@pytest.mark.parametrize("turn", [lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2]])
def test_views_of_views_are_the_same_every_time(turn: Call) -> None:
    def program(np: Any) -> list[Any]:
        made = []
        for n in (1, 2):
            x = turn(np.arange(36.0).reshape(6, 6) * n)
            y = x[1:-1, 1:]
            for key in (slice(1, None), (slice(None), 1), (0, slice(None, None, -1)), None, ...):
                z = y[key]
                z += 1
                made += [z, z.shape, z.strides, z.flags.c_contiguous, z.base is y.base, x.copy()]
        return made

    assert_agree(program)


def test_losing_an_imaginary_part_warns_at_every_write() -> None:
    x, z = lnp.zeros(3), lnp.ones(3, dtype=complex)
    for _ in range(3):
        with pytest.warns(numpy.exceptions.ComplexWarning):
            x[...] = z


@pytest.mark.parametrize(
    "call",
    [
        lambda x: lnp.where(x > 1, x.sum(0), 2.0),
        lambda x: x.astype("i4").sum(0) @ x.T.clip(0.5, 7),
    ],
)
def test_programs_are_the_same(call: Call) -> None:
    x = lnp.arange(12.0).reshape(4, 3)
    assert len({str(lazytensor.trace(lambda x: call(x).copy(), x)) for _ in range(3)}) == 1


def test_a_call_is_made_once_for_each_key_and_few_keys_are_kept() -> None:
    calls: list[int] = []

    def shifted(x: Any, n: int) -> Any:
        calls.append(n)
        return wrap((x + n).node)

    function = recorded(shifted, shifted)
    x = lnp.ones(3)
    for n in [*range(RECIPES_BOUND)] * 2:
        function(x, n)
    assert calls == [*range(RECIPES_BOUND)]
    function(x, RECIPES_BOUND)
    function(x, 0)
    assert calls[RECIPES_BOUND:] == [RECIPES_BOUND, 0]
