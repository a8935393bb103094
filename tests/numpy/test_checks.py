"""Floating-point flags: what NumPy warns of or raises is warned of or raised where asked for."""

import io
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core import metrics
from lazytensor.core.settings import settings

TINY, HUGE, INF, NAN = 1e-200, 1e200, np.inf, np.nan
Function = Callable[[Any, Any], Any]

OPERATIONS: dict[str, Function] = {
    "divide": lambda np, x: 1.0 / x,
    "floor_divide": lambda np, x: 1.0 // x,
    "remainder": lambda np, x: np.remainder(1.0, x),
    "reciprocal": lambda np, x: np.reciprocal(x),
    "log": lambda np, x: np.log(x),
    "log2": lambda np, x: np.log2(x),
    "log10": lambda np, x: np.log10(x),
    "log1p": lambda np, x: np.log1p(x),
    "arctanh": lambda np, x: np.arctanh(x),
    "arcsin": lambda np, x: np.arcsin(x),
    "sqrt": lambda np, x: np.sqrt(x),
    "exp": lambda np, x: np.exp(x),
    "expm1": lambda np, x: np.expm1(x),
    "cosh": lambda np, x: np.cosh(x),
    "square": lambda np, x: np.square(x),
    "multiply": lambda np, x: x * x,
    "add": lambda np, x: x + x,
    "subtract": lambda np, x: x - x,
    "power": lambda np, x: np.power(x, -1.5),
    "sin": lambda np, x: np.sin(x),
    "absolute": lambda np, x: abs(x),
    "maximum": lambda np, x: np.maximum(x, 0.0),
    "less": lambda np, x: x < 1.0,
    "where=": lambda np, x: np.divide(1.0, x, out=np.ones_like(x), where=x != 0),
    "out=": lambda np, x: np.log(x, out=np.ones_like(x)),
    "reduce": lambda np, x: np.add.reduce(np.concatenate([x, x])),
    "sum": lambda np, x: x.sum(),
}
POINTS = {
    "plain": 0.5, "zero": 0.0, "minus zero": -0.0, "one": 1.0, "minus one": -1.0, "two": 2.0,
    "tiny": TINY, "huge": HUGE, "minus huge": -HUGE, "largest": 1.7e308, "infinite": INF,
    "minus infinite": -INF, "nan": NAN,
}  # fmt: skip
WHOLE: dict[str, Function] = {
    "//": lambda np, x: np.array([1, 2, 3]) // x,
    "%": lambda np, x: np.array([1, 2, 3]) % x,
    "fmod": lambda np, x: np.fmod(np.array([1, 2, 3]), x),
}


def texts(module: Any, operation: Function, values: Any, **modes: str) -> list[str]:
    """What is warned of, in order; of everything where no mode is given."""
    modes = modes or {"all": "warn"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with module.errstate(**modes):
            operation(module, module.array(values))
    assert all(warning.filename == __file__ for warning in caught)
    return sorted(str(warning.message) for warning in caught)


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_what_numpy_warns_of_is_warned_of(
    name: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    modes = {"divide": "warn", "over": "warn", "invalid": "warn", "under": "ignore"}
    for point, value in POINTS.items():
        expected = texts(np, OPERATIONS[name], [value, 0.5], **modes)
        assert texts(lnp, OPERATIONS[name], [value, 0.5], **modes) == expected, point


@pytest.mark.parametrize("name", WHOLE)
def test_division_of_integers_by_zero(name: str) -> None:
    for divisor in ([1, 2, 3], [1, 0, 3]):
        expected = texts(np, WHOLE[name], divisor, all="warn")
        assert texts(lnp, WHOLE[name], divisor, all="warn") == expected


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
def test_the_lowest_integer_has_no_opposite(dtype: str) -> None:
    lowest = np.iinfo(dtype).min
    for values, divisor in (([lowest, 1], -1), ([lowest, 1], 1), ([], 0), ([5], 0)):
        for divide in (lambda np, x, y: x // y, lambda np, x, y: np.divmod(x, y)[0]):
            found = [
                texts(module, lambda np, x, d=divide, y=divisor: d(np, x.astype(dtype), y), values)
                for module in (np, lnp)
            ]
            assert found[0] == found[1], (values, divisor)


@pytest.mark.parametrize("name", ["multiply", "exp", "square", "divide"])
def test_underflow(name: str) -> None:
    for value in (TINY, 1e300, -800.0, 0.0, 0.5):
        expected = texts(np, OPERATIONS[name], [value], under="warn", over="ignore")
        found = texts(lnp, OPERATIONS[name], [value], under="warn", over="ignore")
        assert found == [text for text in expected if "underflow" in text], value


def test_raised_at_the_users_line_and_nothing_is_changed() -> None:
    x = lnp.array([0.0, 1.0])
    y = lnp.ones(2)
    with lnp.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            y /= x
        with pytest.raises(FloatingPointError, match="divide by zero encountered in log"):
            lnp.log(x)
    assert y.tolist() == [1.0, 1.0]
    assert (1.0 / x).tolist() == [np.inf, 1.0]


def test_call_print_and_log(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[Any] = []
    x = lnp.array([0.0])
    with lnp.errstate(divide="call", call=lambda text, flag: said.append((text, flag))):
        1.0 / x
    with lnp.errstate(divide="print"):
        1.0 / x
    log = io.StringIO()
    with lnp.errstate(divide="log", call=log):
        1.0 / x
    assert said == [("divide by zero", 1)]
    assert "divide by zero encountered in divide" in capsys.readouterr().out
    assert "divide by zero encountered in divide" in log.getvalue()


def test_the_state_is_put_back_and_says_what_is_checked() -> None:
    off = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")
    assert lnp.geterr() == off
    with lnp.errstate(all="warn", under="ignore"):
        with lnp.errstate(over="raise"):
            assert lnp.geterr() == off | {"divide": "warn", "over": "raise", "invalid": "warn"}
        old = lnp.seterr(divide="ignore")
        assert old == off | {"divide": "warn", "over": "warn", "invalid": "warn"}
    assert lnp.geterr() == off
    old = lnp.seterr(all="raise")
    lnp.seterr(**old)
    assert lnp.geterr() == off
    with pytest.raises(ValueError, match="loudly"):
        lnp.seterr(all="loudly")
    assert lnp.geterr() == off


def test_a_state_is_its_threads_own() -> None:
    found: list[Any] = []

    def other() -> None:
        found.append(lnp.geterr()["divide"])
        found.append((1.0 / lnp.zeros(2)).tolist())

    with lnp.errstate(all="raise"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == ["ignore", [np.inf, np.inf]]


def test_nothing_is_recorded_where_nothing_is_asked_for() -> None:
    """And a call that was seen before is checked all the same."""

    def nodes() -> float:
        x = lnp.ones(3)
        lazytensor.sync()
        before = metrics.snapshot()["nodes"]
        y = 1.0 / x
        made = metrics.snapshot()["nodes"] - before
        assert y.tolist() == [1.0, 1.0, 1.0]
        return made

    nodes()
    plain = nodes()
    with lnp.errstate(divide="raise"):
        assert nodes() > plain
    assert nodes() == plain
    with lnp.errstate(divide="raise"), pytest.raises(FloatingPointError):
        1.0 / lnp.zeros(3)


def test_also_what_nobody_looks_at_is_warned_of() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"), lnp.errstate(divide="warn"):
        1.0 / lnp.zeros(3)
