"""What the first line of a function's text says is so."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from functools import cache
from types import ModuleType
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.frontends.numpy import laziness
from tests.numpy.expressions import TABLES, table

HOMES = ["", "fft", "linalg", "random"]
NO_ARRAYS = {"geterr", "seterr"}
"""Ours, but there is nothing in them to be lazy."""
EXPECTED = {
    (True, False): {laziness.RECORDS, laziness.DRAWS, laziness.COMPUTES_ARGUMENTS},
    (True, True): {laziness.OFTEN, laziness.DRAWS, laziness.COMPUTES_ARGUMENTS},
    (False, True): {laziness.CUTS, laziness.COMPUTES_ARGUMENTS},
}
"""By whether there are lines in the tables that only record, and lines that cut. Where NumPy
computes, lines without an array only record."""


def functions(home: str) -> dict[str, Any]:
    """The public functions of a module, NumPy's own left out."""
    ours, theirs = ((getattr(m, home) if home else m) for m in (lnp, numpy))
    found = {name: getattr(ours, name) for name in dir(theirs) if not name.startswith("_")}
    return {
        name: value
        for name, value in found.items()
        if callable(value)
        and not isinstance(value, type | ModuleType)
        and plain(value) != getattr(theirs, name)
        and name not in NO_ARRAYS
    }


def plain(value: Any) -> Any:
    """The function in a static method."""
    return value.__func__ if isinstance(value, staticmethod) else value


def line_of(function: Any) -> str | None:
    """The line that says whether it is lazy: the first, or the one after the signature."""
    head = (inspect.getdoc(function) or "").split("\n")[:3]
    return next((line for line in head if line in laziness.LINES), None)


@pytest.mark.parametrize("home", HOMES)
def test_every_function_says_whether_it_is_lazy(home: str) -> None:
    silent = [name for name, function in functions(home).items() if line_of(function) is None]
    assert silent == []


@pytest.mark.parametrize("name", ["sum", "linalg.norm", "dot", "add", "matmul", "where", "unique"])
def test_numpys_text_follows(name: str) -> None:
    theirs: Any = numpy
    ours: Any = lnp
    for part in name.split("."):
        theirs, ours = getattr(theirs, part), getattr(ours, part)
    left = (inspect.getdoc(ours) or "").replace(f"{line_of(ours)}\n\n", "", 1)
    assert left.split() == (inspect.getdoc(theirs) or "").split()


@pytest.mark.parametrize("name", ["sum", "argsort", "nonzero", "reshape", "take", "std", "dot"])
def test_methods_say_so_too(name: str) -> None:
    assert line_of(getattr(lnp.ndarray, name)) == line_of(getattr(lnp, name))


@cache
def observed() -> dict[str, set[bool]]:
    """Per function in the tables: whether there are lines that record, and lines that cut."""
    found: defaultdict[str, set[bool]] = defaultdict(set)
    for line in table(*(path.stem for path in TABLES.glob("*.txt"))):
        names = re.findall(r"np\.((?:linalg\.|fft\.|random\.)?\w+)\(", line)
        cuts = line.startswith("!")
        for name in names[:1] if cuts and line.startswith("!np.") else [] if cuts else names:
            found[name].add(cuts)
    return found


def known(name: str) -> Any:
    """The function of a name in the tables; None for a class, and for NumPy's own."""
    home, _, last = name.rpartition(".")
    return functions(home).get(last)


@pytest.mark.parametrize("name", sorted(filter(known, observed())))
def test_the_line_is_so(name: str) -> None:
    """Lines of the tables without a `!` are tested to record only (see `expressions.py`)."""
    seen = observed()[name]
    assert line_of(known(name)) in EXPECTED[False in seen, True in seen]
