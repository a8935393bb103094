"""How each of NumPy's callables is handled: `python -m lazytensor.frontends.numpy.coverage`."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any, Final

import numpy as np

from lazytensor.frontends.numpy import functions, namespace
from lazytensor.frontends.numpy.host import functions as host
from lazytensor.frontends.numpy.modules import stride_tricks
from lazytensor.frontends.numpy.ufuncs.table import UFUNCS

OUTCOME_RECORDED: Final = "recorded"
ASKS_NOTHING: Final = "asks no array for values"
MADE: Final = "made of numbers, buffers, files"
VALUES: Final = "needs values"
FALLBACK: Final = "not lazy yet"

OUTCOMES: Final = {
    OUTCOME_RECORDED: "records, and computes nothing",
    ASKS_NOTHING: "of shapes, dtypes and settings",
    MADE: "what it makes is a lazy array",
    VALUES: "by its nature: computes its arguments, without a warning",
    FALLBACK: "NumPy computes it, with a warning",
}
BY_DATA: Final = frozenset(
    [
        *("allclose", "array_equal", "array_equiv", "real_if_close"),  # a bool, a dtype
        *("argwhere", "flatnonzero", "nonzero", "trim_zeros"),  # a shape
        "piecewise",  # which function is called
    ]
)
"""Functions that record all but the last step, which needs the values."""

NEVER_LAZY: Final = frozenset(
    [
        *("busday_count", "busday_offset", "datetime_as_string", "datetime_data", "is_busday"),
        *("frompyfunc", "info", "isnat"),
    ]
)
"""Functions of dates, functions and texts, which take no lazy array."""

LAZY_OUTCOMES: Final = (OUTCOME_RECORDED, ASKS_NOTHING, MADE)
"""Outcomes that never wait for an array's values."""

MODULE_NAMES: Final = ("", "linalg", "fft", "random", "lib.stride_tricks")
"""Modules by name; the empty one is `numpy` itself."""


def callables(home: str) -> list[str]:
    """NumPy's public functions and ufuncs, without its classes."""
    module = _module(np, home)
    return [
        name
        for name in dir(module)
        if not name.startswith("_")
        and callable(getattr(module, name))
        and not isinstance(getattr(module, name), type)
    ]


def kind(home: str, name: str) -> str:
    """The outcome of a call of this function."""
    if home == "random" or name in ("test", "LinAlgError"):
        return MADE if home == "random" else ASKS_NOTHING
    if home:
        lazy = stride_tricks.LAZY if "." in home else functions.MODULES[home].LAZY
        frequencies = home == "fft" and name.endswith("freq")
        return OUTCOME_RECORDED if name in lazy else MADE if frequencies else VALUES
    return _kind_at_top(name)


def _kind_at_top(name: str) -> str:
    if name in NEVER_LAZY:
        return ASKS_NOTHING
    if name in UFUNCS:
        return OUTCOME_RECORDED
    if name in BY_DATA:
        return VALUES
    if name in host.MAKES.split():
        return MADE
    if name in functions.HOST:
        return VALUES
    if name in functions.LAZY:
        return OUTCOME_RECORDED
    return ASKS_NOTHING if name in {**functions.ABOUT, **namespace.LAZY} else FALLBACK


def table() -> list[tuple[str, Counter[str]]]:
    """By module: the number of callables of each kind."""
    return [(home, Counter(kind(home, name) for name in callables(home))) for home in MODULE_NAMES]


def _module(root: Any, home: str) -> Any:
    for part in home.split(".") if home else ():
        root = getattr(root, part)
    return root


def missing(home: str) -> list[str]:
    """NumPy's public names, classes and constants included, that are not here."""
    import lazytensor.numpy

    ours = _module(lazytensor.numpy, home)
    names = [name for name in dir(_module(np, home)) if not name.startswith("_")]
    return [name for name in names if not hasattr(ours, name)]


def lazy_share(counts: Counter[str]) -> float:
    """The share of the callables that never wait for values."""
    return sum(counts[kind] for kind in LAZY_OUTCOMES) / max(counts.total(), 1)


def report() -> str:
    """The table as text, and the names of the functions that need values."""
    lines = [f"{'':26}functions  missing   lazy"]
    rest = []
    for home, counts in table():
        title = f"numpy.{home}" if home else "numpy"
        row = f"{counts.total():9}  {len(missing(home)):7}  {lazy_share(counts):5.0%}"
        lines.append(f"{title:26}{row}")
        lines += [f"    {counts[k]:4}  {k} ({OUTCOMES[k]})" for k in OUTCOMES if counts[k]]
        rest += [f"{title}.{n}" for n in callables(home) if kind(home, n) not in LAZY_OUTCOMES]
    return "\n".join([*lines, "", "Not lazy:", *textwrap.wrap(", ".join(rest), 100)])


if __name__ == "__main__":
    print(report())
