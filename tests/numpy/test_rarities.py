"""Unusual arguments: values, dtypes, warnings, and the words of errors are NumPy's.

A line of the table is statements and an expression, separated by `; `.
"""

from __future__ import annotations

import io
import pickle
import warnings
from types import ModuleType
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.settings import settings
from tests.numpy.agreement import assert_same, real
from tests.numpy.expressions import table

LINES = [line for line in table("rarities") if line and not line.startswith("#")]


def evaluate(line: str, np: ModuleType) -> tuple[Any, set[str]]:
    """What a line gives or raises, and NumPy's warnings of parts that are lost."""
    *statements, expression = line.split("; ")
    x = np.linspace(0, 1, 40) * 2
    names = {"np": np, "numpy": numpy, "io": io, "pickle": pickle}
    names |= {"x": x, "i": np.arange(40) * 1, "A": matrix(x)}
    with warnings.catch_warnings(record=True) as caught, numpy.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            for statement in statements:
                exec(statement, names)
            found = real(eval(expression, names))
        except Exception as error:  # noqa: BLE001 (it is the result)
            found = error
    told = [w for w in caught if issubclass(w.category, numpy.exceptions.ComplexWarning)]
    assert not any(issubclass(w.category, LazyTensorWarning) for w in caught), line
    assert type(found) is not SyntaxError
    return found, {str(w.message) for w in told}


def matrix(x: Any) -> Any:
    """A matrix."""
    return x.reshape(5, 8) * 1


@pytest.mark.parametrize("small", [0, 16])
@pytest.mark.parametrize("line", LINES)
def test_as_numpy(line: str, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "small", small)
    monkeypatch.setattr(settings, "tier", "interpret")
    expected, warned = evaluate(line, numpy)
    actual, told = evaluate(line, lnp)
    assert_same(actual, expected, 1e-6, text=True)
    assert told == warned
