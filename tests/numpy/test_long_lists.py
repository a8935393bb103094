"""Long lists of plain numbers are NumPy's to go through: Python code does no step per element."""

import sys
from typing import Any

import pytest

import lazytensor
import lazytensor.numpy as np

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
