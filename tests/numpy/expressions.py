"""Expressions over a few arrays, evaluated with NumPy and with ours.

`tables/*.txt` has one a line. Those marked `!` need values while they are recorded, because the
shape or the type of their result is data; all others must only record.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

import lazytensor.numpy
from lazytensor.core.observe import metrics
from tests.numpy.agreement import assert_same, outcome

TABLES = Path(__file__).parent / "tables"

_random = numpy.random.default_rng(0)

ARRAYS: dict[str, Any] = {
    "x": _random.normal(size=(3, 4)),
    "y": _random.normal(size=(4, 3)),
    "z": _random.normal(size=(3, 4)),
    "t": _random.normal(size=(2, 3, 4)),
    "v": _random.normal(size=6),
    "w": numpy.array([0.5, 2.0, 1.0]),
    "s": numpy.array([1.0, 2.0, 2.0, 3.5, 7.0]),
    "f": _random.normal(size=(3, 4)).astype(numpy.float32),
    "h": _random.normal(size=5).astype(numpy.float16),
    "c": _random.normal(size=(3, 4)) + 1j * _random.normal(size=(3, 4)),
    "i": _random.integers(-5, 6, (3, 4)),
    "j": _random.integers(0, 3, 5).astype(numpy.int32),
    "k": numpy.array([2, 0, 1, 2]),
    "u": _random.integers(0, 255, 6).astype(numpy.uint8),
    "b": _random.integers(0, 2, (3, 4)).astype(bool),
    "m": numpy.array([True, False, True, True]),
    "n": numpy.where(_random.random((3, 4)) < 0.3, numpy.nan, _random.normal(size=(3, 4))),
    "e": numpy.zeros((0, 3)),
    "o": numpy.array(2.5),
    "q": _random.normal(size=(3, 3)) + 3 * numpy.eye(3),
    "g": numpy.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]]),
}


def table(*names: str) -> list[str]:
    """The expressions of some tables."""
    return [line for name in names for line in (TABLES / f"{name}.txt").read_text().splitlines()]


def evaluate(source: str, np: ModuleType, quiet: bool = False) -> Any:
    """The value of an expression; `quiet`: nothing may be cut or fall back meanwhile."""
    names = {name: np.array(array) for name, array in ARRAYS.items() if name in source}
    before = _counts()
    value = eval(source, {"np": np}, names)
    if quiet:
        spent = {name: n - before[name] for name, n in _counts().items()}
        assert not any(spent.values()), f"{source}: {spent}"
    return value


def _counts() -> dict[str, int]:
    found = metrics.snapshot()
    return {name: int(found[name]) for name in ("cuts", "fallbacks")}


def assert_equal(line: str, rtol: float = 1e-6) -> None:
    """An expression gives with ours what it gives with NumPy, or raises what NumPy raises."""
    source = line.removeprefix("!")
    expected = outcome(lambda np: evaluate(source, np), numpy)
    quiet = source == line and not isinstance(expected, Exception)
    actual = outcome(lambda np: evaluate(source, np, quiet), lazytensor.numpy)
    assert_same(actual, expected, rtol)
