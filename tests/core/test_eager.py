"""`LAZYTENSOR_EAGER=1`: each operation runs where it is recorded; `LAZYTENSOR_CHECK=nan`."""

import re
import traceback
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor.core.observe import metrics
from lazytensor.core.settings import settings
from lazytensor.core.trace import eager_mode
from tests.core.processes import run


@pytest.fixture
def at_once() -> Iterator[None]:
    eager_mode.attach()
    yield
    eager_mode.detach()


@pytest.fixture
def checked(at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "check", "nan")


def heat(np):  # type: ignore[no-untyped-def]
    x = np.linspace(0.0, 1.0, 30).reshape(5, 6)
    y = x[1:-1, 1:-1]
    for _ in range(3):
        y += 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] - 2 * y)
    x[x > 0.5] = 0.0
    x[2] = np.sort(x[3])[::-1]
    parts = np.split(np.concatenate([x, x.T.reshape(5, 6)]), 2)
    return [np.linalg.norm(x), x.mean(axis=0), np.where(x > 0.1, x, -x), *parts, np.cumsum(x)]


def test_bodies_of_composites_are_recorded(at_once: None) -> None:
    for dtype in (np.bool_, np.int32, np.float16):
        x = np.arange(4).astype(dtype)
        for name in ("isnan", "modf", "spacing"):
            found, expected = (getattr(module, name)(module.asarray(x)) for module in (lnp, np))
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_values_are_the_same_and_nothing_is_cut(at_once: None) -> None:
    found = [np.asarray(value) for value in heat(lnp)]
    for mine, theirs in zip(found, heat(np), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert metrics.snapshot()["cuts"] == metrics.snapshot()["compiles"] == 0


def test_nothing_is_pending(at_once: None) -> None:
    x = lnp.ones(3) + 1.0
    assert x.ref.node.value is not None
    lazytensor.sync()
    assert metrics.snapshot()["cuts"] == 0


FAILURES: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "an index": (IndexError, lambda: lnp.arange(4)[lnp.array([1, 9])]),
    "a singular matrix": (np.linalg.LinAlgError, lambda: lnp.linalg.inv(lnp.zeros((2, 2)))),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_at_the_users_line(failure: str, at_once: None) -> None:
    error, fails = FAILURES[failure]
    with pytest.raises(error) as raised:
        fails()
    lines = [frame.lineno for frame in traceback.extract_tb(raised.tb) if frame.name == "<lambda>"]
    assert lines == [fails.__code__.co_firstlineno]


def test_after_the_mode_operations_are_recorded_again() -> None:
    eager_mode.attach()
    eager_mode.detach()
    assert (lnp.ones(3) + 1.0).ref.node.value is None


def test_the_first_operation_that_makes_a_nan_is_named(checked: None) -> None:
    x = lnp.array([1.0, 0.0])
    y = lnp.log(x)  # an infinity is none
    z = y * 2.0
    with pytest.raises(FloatingPointError, match=r"multiply: 1 NaN in a result of type f64\[2\]"):
        z * x
    with pytest.raises(FloatingPointError) as raised:
        lnp.sqrt(z)
    assert re.search(r"test_eager\.py:\d+ in test_the_first_operation", str(raised.value))


def test_a_nan_that_was_given_is_none_of_ours(checked: None) -> None:
    x = lnp.array([np.nan, 1.0], dtype=np.float32)
    assert np.isnan(np.asarray(lnp.where(x > 0, x, np.nan) + x)).tolist() == [True, False]


@pytest.mark.parametrize(
    ("variables", "printed"),
    [
        ({"LAZYTENSOR_EAGER": "1"}, "nan 0"),
        ({"LAZYTENSOR_CHECK": "nan"}, "FloatingPointError 0"),
        ({}, "nan 1"),
    ],
)
def test_the_variables(variables: dict[str, str], printed: str) -> None:
    program = """
        import lazytensor
        import lazytensor.numpy as np
        try:
            print(float(np.log(np.array([-1.0])).sum()), end=" ")
        except FloatingPointError as error:
            print(type(error).__name__, end=" ")
        print(int(lazytensor.metrics.snapshot()["cuts"]))
    """
    assert run(program, **variables).stdout.strip() == printed


def test_a_wrong_variable_is_refused() -> None:
    for name, value in {"LAZYTENSOR_CHECK": "inf", "LAZYTENSOR_LOG": "cuts,everything"}.items():
        with pytest.raises(Exception, match=name):
            run("import lazytensor", **{name: value})
