"""Barriers must never change results: nor must tiers, observations, holders, the order of cuts."""

import hypothesis
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lazytensor.core.ir.recording import thread
from lazytensor.core.policy import ELEMENTS_BOUND
from lazytensor.core.runtime import scheduler
from lazytensor.core.settings import settings
from lazytensor.core.trace import automatic_cut
from tests.core.conftest import forget
from tests.fuzz.machine import NAMES, Action, Machine

numbers = st.integers(0, 30)
actions = st.builds(Action, st.sampled_from(NAMES), numbers, numbers, numbers)
programs = st.lists(actions, min_size=12, max_size=40)


FEWER = hypothesis.settings(max_examples=hypothesis.settings().max_examples // 2)
"""Each program is compiled a dozen times."""


@FEWER
@given(programs, st.integers(1, 4))
def test_barriers_never_change_results(program: list[Action], times: int) -> None:
    usual()
    expected = Machine(barriers=False).run(program, times)
    got = Machine(barriers=True).run(program, times)
    assert_same(got, expected)


@FEWER
@given(programs)
def test_compiling_never_changes_results(program: list[Action]) -> None:
    """In one program from beginning to end."""
    usual()
    expected = Machine(barriers=False).run(program)
    settings.tier = "compile"
    assert_same(Machine(barriers=False).run(program), expected)


LARGEST, MOST_NODES = scheduler.PROGRAM_NODES_BOUND, automatic_cut.PENDING_NODES_BOUND


def usual() -> None:
    """Undo what the program before has set."""
    forget()
    settings.tier, settings.programs = "interpret", 4096
    scheduler.PROGRAM_NODES_BOUND = LARGEST  # type: ignore[misc]
    thread.recorder.bound = ELEMENTS_BOUND
    automatic_cut.PENDING_NODES_BOUND = MOST_NODES  # type: ignore[misc]


def assert_same(got: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(got) == len(expected)
    for number, (x, y) in enumerate(zip(got, expected, strict=True)):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        assert np.array_equal(x, y), f"array {number}: {x} instead of {y}"
