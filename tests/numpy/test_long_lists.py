"""Long lists of plain numbers are NumPy's to go through: Python code does no step per element."""

import sys
from typing import Any

import pytest

import lazytensor
import lazytensor.numpy as np
from tests.numpy.agreement import assert_agree

PROGRAMS = {
    "read": lambda x, n: x[n],
    "read with another index": lambda x, n: x.reshape(-1, 2)[n, 0],
    "write": lambda x, n: x.__setitem__(n, 1.0),
    "add.at": lambda x, n: np.add.at(x, n, 1.0),
    "take": lambda x, n: x.take(n),
    "a function": lambda x, n: np.take(x, n),
    "a function that NumPy computes": lambda x, n: np.bincount(n),
    "a function of real arguments": lambda x, n: np.interp(n, [0.0, 1.0], [0.0, 1.0]),
    "a ufunc": lambda x, n: np.add(x, n[:1] * x.size),
    "an operator": lambda x, n: x + n[:1] * x.size,
    "joined": lambda x, n: np.concatenate([x, n]),
    "made an array": lambda x, n: np.array(n),
}


def calls(program: Any, count: int) -> int:
    """Calls that a program makes, of Python functions and from them, where a list is this long."""
    x = np.arange(40_000.0) + 1.0
    given = [i % 100 for i in range(count)]
    made = 0

    def note(frame: Any, event: str, arg: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        program(x, given)
    finally:
        sys.setprofile(None)
    lazytensor.sync()
    return made


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_list_is_not_gone_through(program):
    calls(program, 30_000)  # the first time, more is to be done
    assert abs(calls(program, 30_000) - calls(program, 32_000)) < 1_000


LONG = [1] * 40
KEYS = {
    "rows": LONG,
    "rows from the end": [-1] * 40,
    "rows that there are not": [20_000] * 40,
    "numbers and flags": [True, *LONG],
    "numbers, then a flag": [*LONG, True],
    "numbers and a fraction": [*LONG, 1.5],
    "numbers and a word": [*LONG, "a"],
    "numbers and None": [*LONG, None],
    "a number too large": [*LONG, 2**70],
    "of two depths": [*LONG, [2, 3]],
    "two axes": (LONG, [0] * 40),
    "two lengths": (LONG, [0] * 41),
    "two that broadcast": (LONG, [[0], [1]]),
    "a new axis between": (LONG, None, [0] * 40),
    "a slice": (LONG, slice(None)),
    "rows of rows": [LONG, LONG],
}
USES = {
    "read": lambda np, x, key: x[key],
    "write": lambda np, x, key: (x.__setitem__(key, 7.0), x),
    "add.at": lambda np, x, key: (np.add.at(x, key, 2.0), x),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_long_lists_select_what_numpy_has_them_select(use, key):
    assert_agree(lambda np: use(np, np.arange(40_000.0).reshape(-1, 2), key))
