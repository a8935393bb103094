"""Floating-point flags: what NumPy warns of or raises is warned of or raised where asked for."""

import io
import itertools
import threading
import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core.observe import metrics
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
    places = {warning.filename for warning in caught}
    assert module is np or places <= {__file__}, places  # NumPy names its own Python files, too
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


ADVERSE: Final = {
    "d": [0.0, -0.0, INF, -INF, NAN, 1e-300, 1e300, 1.0, -1.0, 2.5, -800.0],
    "l": [0, 1, -1, 7, -(2**63), 2**62],
}
UFUNCS: Final = sorted(
    {f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc) and not f.signature}
)
OTHERWISE: Final[dict[str, Callable[..., bool]]] = {
    "floor_divide": lambda x, y=1: bool(np.isinf(x)),  # an infinity here, NaN in NumPy
    "power": lambda x, y: bool(np.isinf(y)),  # NumPy's flags depend on the processor
}


@pytest.mark.parametrize("tier", ["interpret", "compile"])
@pytest.mark.parametrize("name", UFUNCS)
def test_every_ufunc_sets_the_flags_that_numpys_sets(
    name: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    monkeypatch.setattr(settings, "small", 0)
    for kind, values in ADVERSE.items():
        for given in itertools.product(values, repeat=getattr(np, name).nin):
            if name in OTHERWISE and OTHERWISE[name](*given):
                continue
            arrays = [np.array([value], kind) for value in given]
            if name == "ldexp":
                arrays[1] = np.array([int(np.clip(np.nan_to_num(given[1]), -2000, 2000))])
            expected, found = (flagged(module, name, arrays) for module in (np, lnp))
            assert found == expected, (kind, given)


def flagged(module: Any, name: str, arrays: list[np.ndarray]) -> list[str]:
    """What is warned of; where the dtypes have no such function, or the numbers, the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with module.errstate(all="warn"):
                getattr(module, name)(*map(module.array, arrays))
        except (TypeError, ValueError) as error:
            return [type(error).__name__]
    return sorted({str(warning.message) for warning in caught})


NAMED: Final[dict[str, Function]] = {
    "x * 0": lambda np, x: x * 0,
    "x * (x > 5)": lambda np, x: x * (x > 5),
    "x / inf": lambda np, x: x / np.inf,
    "float32 * 0": lambda np, x: x.astype("f4") * 0,
    "divmod": lambda np, x: np.divmod(x, 0.0),
    "spacing": lambda np, x: np.spacing(np.array([INF, 1.0])),
    "a complex number / 0": lambda np, x: 1j / (x * 0),
    "** -1": lambda np, x: x**-1,
    "** 0.5": lambda np, x: (x - 5) ** 0.5,
    "** 2": lambda np, x: (x * HUGE) ** 2,
    "** 3": lambda np, x: (x * HUGE) ** 3,
    "2 **": lambda np, x: 2.0 ** (x * 1000),
    "a scalar / 0": lambda np, x: x.mean() / 0,
    "a scalar *": lambda np, x: x.mean() * 1e308 * 1e308,
    "a scalar - ": lambda np, x: x.sum() * np.inf - x.sum() * np.inf,
    "a scalar //": lambda np, x: x.sum() // 0,
    "a scalar %": lambda np, x: x.sum() % 0,
    "a scalar **": lambda np, x: (x + 2).sum() ** 1e10,
    "0 / a scalar": lambda np, x: 0 / (x.sum() * 0),
    "divmod of a scalar": lambda np, x: divmod(x.sum(), 0),
    "a ufunc of a scalar": lambda np, x: np.divide(x.sum(), 0),
    "a scalar / an array": lambda np, x: x.sum() / x,
}


FUNCTIONS: Final[dict[str, Function]] = {
    "astype of NaN": lambda np, x: (x * np.nan).astype(int),
    "astype of large numbers": lambda np, x: (x * 1e100).astype("i2"),
    "astype of large numbers without signs": lambda np, x: (x * 1e100).astype("u8"),
    "astype in range": lambda np, x: (-x).astype("i8"),
    "astype of bool": lambda np, x: (x * np.nan).astype(bool),
    "astype narrower": lambda np, x: (x * HUGE).astype("f4"),
    "astype tiny": lambda np, x: (x * 1e-100).astype("f4"),
    "cumprod": lambda np, x: np.cumprod(x + 2),
    "cumprod of rows": lambda np, x: np.cumprod((x + 2).reshape(20, 100), axis=1),
    "cumsum": lambda np, x: np.cumsum(x * 5e303),
    "cumsum of infinities": lambda np, x: np.cumsum(np.array([1.0, INF, -INF, 1.0])),
    "cumulative_sum": lambda np, x: np.cumulative_sum(x * 5e303),
    "accumulate": lambda np, x: np.multiply.accumulate(x + 2),
    "norm": lambda np, x: np.linalg.norm(x * HUGE),
    "norm of a matrix": lambda np, x: np.linalg.norm((x * HUGE).reshape(20, 100)),
    "norms of rows": lambda np, x: np.linalg.norm((x * HUGE).reshape(20, 100), axis=1),
    "dot": lambda np, x: np.dot(x * HUGE, x * HUGE),
    "matmul": lambda np, x: (x * HUGE).reshape(20, 100) @ (x * HUGE).reshape(100, 20),
    "matmul in range": lambda np, x: x.reshape(20, 100) @ x.reshape(100, 20),
    "fft": lambda np, x: np.fft.fft(x * np.inf),
    "ifft": lambda np, x: np.fft.ifft(x * np.inf),
    "rfft": lambda np, x: np.fft.rfft(x * np.inf),
    "rfft of an odd length": lambda np, x: np.fft.rfft(x[1:] * np.inf),
    "fft of numbers": lambda np, x: np.fft.fft(x),
    "diff": lambda np, x: np.diff(x * np.inf),
    "unwrap": lambda np, x: np.unwrap(x / 0),
    "sum": lambda np, x: (x * 5e304).sum(),
    "mean": lambda np, x: np.mean(x * 5e304),
    "a mean of nothing": lambda np, x: x[:0].mean(),
    "means of nothing": lambda np, x: np.zeros((300, 0)).mean(axis=1),
    "a variance of one": lambda np, x: np.var(x[:1], ddof=1),
    "a variance of fewer": lambda np, x: np.var(x[:3], ddof=5),
    "means of chosen": lambda np, x: x.reshape(20, 100).mean(axis=1, where=True),
    "NaN alone": lambda np, x: np.nanmean(np.full((3, 4), np.nan) * x[0], axis=1) + 0,
}
NAMED.update(FUNCTIONS)


@pytest.mark.parametrize("name", NAMED)
def test_flags_are_named_as_numpy_names_them(name: str) -> None:
    expected = texts(np, NAMED[name], np.arange(2000.0))
    assert texts(lnp, NAMED[name], np.arange(2000.0)) == expected


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


@pytest.mark.parametrize(
    "put_back",
    [lambda old: lnp.seterr(**old), lambda old: lnp.errstate(**old).__enter__()],
    ids=["seterr", "errstate"],
)
def test_a_state_that_is_given_back_is_numpys_own_again(
    put_back: Callable[[dict[str, str]], object],
) -> None:
    """NumPy computes with numbers, and warns of them where lazy operations are not checked."""
    host, ours = np.geterr(), lnp.geterr()
    try:
        old = lnp.seterr(divide="ignore", invalid="raise")
        assert np.geterr()["divide"] == "ignore"
        put_back(old)
        assert (np.geterr(), lnp.geterr()) == (host, ours)
    finally:
        np.seterr(**host)
        lnp.seterr(**ours)


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


GONE: Final[dict[str, Function]] = {
    "nanmax": lambda np, x: np.nanmax(x, axis=1),
    "nanmax of all": lambda np, x: np.nanmax(x),
    "nanmin": lambda np, x: np.nanmin(x, axis=1),
    "nanmedian": lambda np, x: np.nanmedian(x, axis=1),
    "nanpercentile": lambda np, x: np.nanpercentile(x, 50, axis=1),
    "nanquantile": lambda np, x: np.nanquantile(x, [0.2, 0.3], axis=1),
    "nanvar": lambda np, x: np.nanvar(x, axis=1),
    "nanstd": lambda np, x: np.nanstd(x, axis=1, ddof=3),
    "a variance of those chosen": lambda np, x: x[x > 5].var(),
    "deviations of those chosen": lambda np, x: np.std(x, axis=1, where=x > 5),
}


@pytest.mark.parametrize("state", ["ignore", "warn"])
@pytest.mark.parametrize("name", GONE)
def test_slices_without_numbers_are_warned_of_when_their_result_is(name: str, state: str) -> None:
    for row in ([NAN] * 4, [1.0, NAN, 2.0, 3.0]):
        both = [[1.0, 2.0, 6.0, 7.0, 8.0][:4], row]
        found = [
            texts(module, lambda np, x: np.asarray(GONE[name](np, x)).tolist(), both, all=state)
            for module in (np, lnp)
        ]
        assert found[0] == found[1], row


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
