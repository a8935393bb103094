"""Random NumPy programs: equal to NumPy in values, dtypes, shapes and errors, whatever the cuts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
from hypothesis import given
from hypothesis import strategies as st

import lazytensor
import lazytensor.numpy
from lazytensor.core.errors import LazyTensorWarning
from lazytensor.core.settings import settings
from tests.fuzz.actions import RULES, Action, Pool, values
from tests.fuzz.test_barriers import usual

TIERS = ["interpret", "compile", "auto", "interpret"]


def barrier(pool: Pool, action: Action) -> None:
    lazytensor.sync()


def observe(pool: Pool, action: Action) -> None:
    numpy.asarray(pool[action.a % len(pool)])


def tier(pool: Pool, action: Action) -> None:
    settings.tier = TIERS[action.a % len(TIERS)]


BARRIERS: dict[str, Callable[[Pool, Action], None]] = {
    "barrier": barrier,
    "observe": observe,
    "tier": tier,
}
"""What only the lazy run does."""

NAMES = [*BARRIERS, *RULES, "view", "assign", "inplace", "binary", "barrier", "operator", "create"]
choices = st.integers(0, 60)
actions = st.builds(Action, st.sampled_from(NAMES), choices, choices, choices)
programs = st.lists(actions, min_size=12, max_size=40)


@given(programs)
def test_random_programs_equal_numpy(program: list[Action]) -> None:
    usual()
    expected = run(numpy, program)
    got = run(lazytensor.numpy, program)
    for step, (x, y) in enumerate(zip(got, expected, strict=True)):
        action = program[step] if step < len(program) else step - len(program)
        assert_same(x, y, f"step {step}: {action}")


def run(np: Any, program: list[Action]) -> list[Any]:
    """What each line gives, a type or an exception; then the values of all arrays."""
    pool = [values(np, (3, 4), "float64", 1), values(np, (4,), "int64", 2)]
    outcomes: list[Any] = []
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", LazyTensorWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        outcomes.extend(outcome(np, pool, action) for action in program)
        return outcomes + [numpy.array(x) for x in pool]


def outcome(np: Any, pool: Pool, action: Action) -> Any:
    if action.name in BARRIERS:
        if np is not numpy:
            BARRIERS[action.name](pool, action)
        return None
    try:
        made = RULES[action.name](np, pool, action)
    except Exception as error:  # noqa: BLE001  both must raise the same
        return error
    if made is None or made.size > 300:
        return None
    pool.append(made)
    return made.dtype, made.shape


ERRORS = (TypeError, ValueError, IndexError, OverflowError)
"""What NumPy raises; which of them, where a call breaks two rules, is not tested here."""


def assert_same(got: Any, expected: Any, where: str) -> None:
    if isinstance(expected, Exception) or isinstance(got, Exception):
        assert isinstance(got, Exception), f"{where}: {expected!r} was expected, got {got}"
        assert isinstance(expected, Exception), f"{where}: {got!r}"
        assert isinstance(got, ERRORS), f"{where}: {got!r}, not {expected!r}"
    elif isinstance(expected, numpy.ndarray):
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), where
        assert numpy.array_equal(got, expected), f"{where}:\n{got}\ninstead of\n{expected}"
    else:
        assert got == expected, f"{where}: {got} instead of {expected}"
