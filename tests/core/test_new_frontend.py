"""The example frontend: lazy, right, small, and at home with the others."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest

import lazytensor
import lazytensor.numpy as lnp
from lazytensor import DTypeError, ShapeError, metrics, settings
from lazytensor.reuse.source import count_lines

FOLDER = Path(__file__).parents[2] / "examples" / "new_frontend"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("new_frontend", FOLDER / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["new_frontend"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


xp: Any = load()
X = numpy.linspace(0.05, 0.9, 12).reshape(3, 4)
Y = numpy.linspace(0.1, 2.0, 12).reshape(3, 4)


def _call(name: str) -> Callable[[Any, Any, Any], Any]:
    binary = getattr(numpy, name).nin == 2
    return lambda np, x, y: getattr(np, name)(x, y) if binary else getattr(np, name)(x)


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    **{name: _call(name) for name in xp.table.ELEMENTWISE if name != "round"},
    "round": lambda np, x, y: np.round(x),
    "sum": lambda np, x, y: np.sum(x, axis=1, keepdims=True) * np.sum(y),
    "prod": lambda np, x, y: np.prod(x, axis=0),
    "max": lambda np, x, y: np.max(x - y, axis=-1),
    "min": lambda np, x, y: np.min(x, axis=0) + 1,
    "where": lambda np, x, y: np.where(x < y, x, 0.5),
    "matmul": lambda np, x, y: np.matmul(x, y.mT) + x @ y.mT,
    "reshape": lambda np, x, y: np.reshape(x, (2, 6)) * 2.0,
    "permute_dims": lambda np, x, y: np.permute_dims(x, (1, 0)) / 3.0,
    "concat": lambda np, x, y: np.concat([x, y], axis=1),
    "operators": lambda np, x, y: abs(1.0 - x) ** 2.0 / -y,
    "slices": lambda np, x, y: x[1, ...] * y[-1] + x[::2, 1:4:2][0, 1],
    "creators": lambda np, x, y: x * np.ones((3, 1)) + np.zeros(4) + np.full((3, 4), 2.0),
}
EQUAL: dict[str, Callable[[Any, Any, Any], Any]] = {
    "chain": lambda np, x, y: np.exp(x) * y - np.sqrt(x) / 2.0,
    "softmax": lambda np, x, y: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True),
    "layer": lambda np, x, y: np.tanh(x @ y.mT + 1.0),
    "stencil": lambda np, x, y: 0.5 * (x[1:, 1:] + x[:-1, :-1]),
}
"""What is recorded alike in the lazy NumPy."""


@pytest.mark.parametrize("name", CALLS)
def test_functions_are_lazy_and_right(name: str) -> None:
    metrics.reset()
    made = CALLS[name](xp, xp.asarray(X), xp.asarray(Y))
    assert (metrics.counts["cuts"], type(made)) == (0, xp.Array)
    expected = CALLS[name](numpy, X, Y)
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    numpy.testing.assert_allclose(numpy.asarray(made), expected, rtol=1e-14)


@pytest.mark.parametrize("name", EQUAL)
def test_programs_are_those_of_the_lazy_numpy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "tier", "compile")
    one, other = (lnp.array(X), lnp.array(Y)), (xp.asarray(X), xp.asarray(Y))
    assert lazytensor.trace(EQUAL[name], xp, *other) == lazytensor.trace(EQUAL[name], lnp, *one)
    expected = numpy.asarray(EQUAL[name](lnp, *one))
    metrics.reset()
    numpy.testing.assert_array_equal(numpy.asarray(EQUAL[name](xp, *other)), expected)
    assert metrics.snapshot()["compiles"] == 0


def test_views_are_written_through() -> None:
    x, expected = xp.asarray(X), X.copy()
    for a in (x, expected):
        part = a.mT[1:3]
        part[0, :] = 7.0
        a[1] = a[0] * 2
        a[..., ::3] = -1.0
    numpy.testing.assert_array_equal(numpy.asarray(x), expected)


def test_other_frontends_share_its_arrays() -> None:
    x = xp.asarray(X)
    metrics.reset()
    shared = lnp.asarray(x)
    shared[0] = 5.0
    y = xp.asarray(lnp.exp(shared))
    x[1] = 6.0
    assert metrics.counts["cuts"] == 0
    assert numpy.asarray(shared)[:2].tolist() == [[5.0] * 4, [6.0] * 4]
    assert float(y[0, 0]) == pytest.approx(numpy.exp(5.0))


def test_the_standards_rules_are_kept() -> None:
    with pytest.raises(DTypeError, match="no promotion is defined"):
        xp.asarray(X) + xp.arange(4)
    with pytest.raises(DTypeError, match="cannot stand next to"):
        xp.arange(4) + 1.5
    with pytest.raises(ShapeError):
        xp.asarray(X) + xp.ones(5)
    with pytest.raises(IndexError, match="out of bounds"):
        xp.asarray(X)[3]
    assert (xp.arange(3, dtype="int32") + xp.arange(3)).dtype == numpy.int64


def test_it_is_small() -> None:
    assert count_lines(FOLDER.glob("*.py")) <= 200
