"""An account of recording: arrays count as small where it has lost, for a while, in its thread."""

import time
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.interpreter.work import extent_of
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, starts
from lazytensor.core.ir.program import cut
from lazytensor.core.policy import LOOP_OPERATIONS, LOSS_SECONDS, TRIALS
from lazytensor.core.runtime import cost_model
from lazytensor.core.runtime.background import Job
from lazytensor.core.runtime.program_cache import Entry, cache
from lazytensor.core.runtime.scheduler import sync
from lazytensor.core.runtime.shape_buckets import Family, Growth
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.host import profitability
from lazytensor.frontends.numpy.host.bound import is_raised, put_back, raise_to, setting
from lazytensor.frontends.numpy.host.profitability import FIRST_INTERVAL, Account

BOUND = 100
RUN = 1.0  # seconds of one run by XLA
RECORDING = 0.5  # seconds to record any program
SPAN = LOOP_OPERATIONS**2
ENOUGH = 20  # runs that lose more than `LOSS_SECONDS` together, each as much as one may


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "small", BOUND)
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(profitability, "MOST_SECONDS", 1.0)
    for name in ("SECONDS_PER_RECORDING", "SECONDS_PER_OPERATION"):
        monkeypatch.setattr(cost_model, name, 0.0)
    monkeypatch.setattr(cost_model, "SECONDS_PER_CALL", RECORDING)
    yield
    put_back()


def entry(size: int, saved: float) -> Entry:
    """A program on arrays of `size` elements. XLA saves `saved` seconds a run."""
    x = leaf(np.zeros(size))
    outputs = [ops.add(x, x)]
    made = Entry(cut(reachable(outputs), outputs).program)
    made.trial.interpreted(RUN + saved)
    while made.trial.is_open():
        made.trial.compiled(RUN)
    return made


def chain(size: int, length: int) -> Entry:
    """A program of `length` operations that only the host has run."""
    node = leaf(np.zeros(size))
    for _ in range(length):
        node = ops.add(node, node)
    made = Entry(cut(reachable([node]), [node]).program, runs=2)
    made.trial.interpreted(RUN)
    return made


def test_arrays_on_which_recording_loses_count_as_small_for_a_while() -> None:
    account = Account()
    losing = entry(2 * BOUND, 0.0)
    for interval in (60.0, 120.0):
        account.interval = interval
        account.note(losing)
        assert settings.small == 2 * BOUND + 1
        assert account.interval == 2 * interval
        account.note(entry(3 * BOUND, 0.0))  # it was lazy before: that is no further trial
        assert account.interval == 2 * interval
        raise_to(settings.small, 0.0)
        assert settings.small == BOUND


def test_what_runs_on_another_device_loses_nothing(moved: Counter[str]) -> None:
    """It is not timed against NumPy, which would have to fetch its arrays."""
    account, x = Account(), leaf(np.zeros(2 * BOUND))
    settings.tier = "compile"
    sync(ops.add(x, x))
    settings.tier = "auto"
    (there,) = cache.entries()
    account.note(there)
    assert settings.small == BOUND
    account.note(entry(2 * BOUND, 0.0))  # which the host has run so far
    assert settings.small == 2 * BOUND + 1


def test_what_is_gained_later_shortens_the_interval() -> None:
    account = Account()
    account.interval = 8.0
    account.note(entry(2 * BOUND, RECORDING + 0.1))
    assert account.interval == FIRST_INTERVAL / 2


def test_loops_on_what_is_small_and_lazy_all_the_same_lose() -> None:
    account = Account()
    for _ in range(ENOUGH):
        account.note(chain(BOUND - 1, LOOP_OPERATIONS - 1))
    assert settings.small == BOUND
    account.note(chain(BOUND - 1, LOOP_OPERATIONS), is_observed=False)
    assert settings.small == BOUND + 1
    assert account.settles
    account.note(chain(BOUND - 1, LOOP_OPERATIONS))  # no more while it holds
    assert account.seconds == 0.0


@pytest.mark.parametrize("size", [BOUND - 1, SPAN * BOUND + 1])
def test_other_sizes_do_not_count(size: int) -> None:
    account = Account()
    account.note(entry(size, 0.0))
    account.lost(2 * LOSS_SECONDS, size)
    assert settings.small == BOUND


def test_what_wins_elsewhere_counts_too() -> None:
    account = Account()
    winning, losing = entry(2 * BOUND, RECORDING + 0.2), entry(3 * BOUND, RECORDING - 0.02)
    for _ in range(9):
        account.note(winning)
        account.note(losing)
        assert settings.small == BOUND
    for _ in range(3):
        account.note(losing)
    assert settings.small == 3 * BOUND + 1


@pytest.mark.parametrize(
    ("sizes", "refusals"), [(LOOP_OPERATIONS, 1), (LOOP_OPERATIONS - 1, 1), (LOOP_OPERATIONS, 0)]
)
def test_programs_that_never_come_again_lose(sizes: int, refusals: int) -> None:
    account, family = Account(), Family(wanted=0, sizes=sizes, refusals=refusals)
    for _ in range(ENOUGH):
        new = chain(2 * BOUND, 1)
        new.runs, new.spent, new.growth = 1, 2 * RECORDING, Growth(family)
        account.note(new)
    lose = sizes >= LOOP_OPERATIONS and refusals > 0
    assert settings.small == (2 * BOUND + 1 if lose else BOUND)


def test_while_a_program_is_compiled_recording_it_loses() -> None:
    account = Account()
    waiting = chain(2 * BOUND, 1)
    waiting.spent = 2 * RUN
    for _ in range(ENOUGH):
        account.note(waiting)
    assert settings.small == BOUND
    job = waiting.job = Job.__new__(Job)
    job.how = ""
    account.note(waiting)
    assert settings.small == 2 * BOUND + 1
    job.how = "compiled"
    assert settings.small == BOUND
    assert account.interval == FIRST_INTERVAL / 2


def test_one_run_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profitability, "MOST_SECONDS", LOSS_SECONDS / TRIALS)
    account, losing = Account(), entry(2 * BOUND, 0.0)
    account.note(losing)
    assert settings.small == BOUND
    for _ in range(TRIALS):
        account.note(losing)
    assert settings.small > BOUND


def test_the_largest_arrays_that_lose_are_what_becomes_small() -> None:
    account = Account()
    account.note(entry(3 * BOUND, RECORDING - 0.01))
    account.note(entry(2 * BOUND, 0.0))
    assert settings.small == 3 * BOUND + 1


def test_larger_arrays_may_come_to_be_small_after_smaller_ones() -> None:
    account = Account()
    for size in (2 * BOUND, 3 * BOUND):
        account.note(entry(size, 0.0))
        assert settings.small == size + 1
    account.note(entry(2 * BOUND, 0.0))
    assert (settings.small, setting()) == (3 * BOUND + 1, BOUND)
    raise_to(3 * BOUND + 1, 0.05)
    time.sleep(0.06)
    assert settings.small == 3 * BOUND + 1  # the process has not worked for so long
    while settings.small > BOUND:
        pass  # works


def test_loops_over_parts_count_too() -> None:
    account = Account()
    account.note(entry(2 * BOUND, RECORDING + LOSS_SECONDS / 2))
    account.lost(LOSS_SECONDS, 3 * BOUND)
    assert settings.small == BOUND
    account.lost(LOSS_SECONDS, 3 * BOUND)
    assert settings.small == 3 * BOUND + 1


@pytest.mark.parametrize(("share", "loses"), [(1.1, False), (0.9, True)])
def test_where_xla_was_never_tried_it_is_taken_to_save_all(share: float, loses: bool) -> None:
    account = Account()
    untried = chain(2 * BOUND, LOOP_OPERATIONS)
    untried.spent = share * RECORDING * untried.runs
    for _ in range(ENOUGH):
        account.note(untried)
    assert settings.small == (2 * BOUND + 1 if loses else BOUND)
    assert account.seconds <= 0.0


def test_what_is_computed_for_room_saves_less() -> None:
    account = Account()
    account.note(entry(2 * BOUND, 3 * RECORDING), room=4.0)
    assert settings.small == 2 * BOUND + 1


@pytest.mark.parametrize("chosen", [0, 50])
def test_what_a_user_sets_holds(chosen: int) -> None:
    account = Account()
    losing = entry(2 * BOUND, 0.0)
    account.note(losing)
    settings.small = chosen
    assert settings.small == chosen
    assert not is_raised()
    if not chosen:
        account.note(losing)
        assert settings.small == 0


MANY_ROWS = (40, 2 * BOUND)


def first(x: Node) -> Node:
    """A row of a large array."""
    part = ops.slice(x, starts((3, 0)), sizes=(1, 2 * BOUND), strides=(1, 1))
    return ops.reshape(part, shape=(2 * BOUND,))


def replaced(x: Node, row: Node) -> Node:
    """A large array with another row."""
    there = ops.reshape(row, shape=(1, 2 * BOUND))
    return ops.update_slice(x, there, starts((0, 0)), strides=(1, 1))


PROGRAMS = {
    "a row": (first, 0, 2),
    "what is computed of rows": (lambda x: ops.add(first(x), first(x)), 2, 2),
    "a row replaced": (lambda x: replaced(x, first(x)), 2, 2),
    "rows picked": (lambda x: ops.gather(x, leaf(np.arange(3)), axes=(0,)), 6, 6),
    "all of it, turned": (lambda x: ops.transpose(x, axes=(1, 0)), 0, 80),
    "a row of a computed array": (lambda x: first(ops.add(x, x)), 80, 80),
    "a sum": (lambda x: ops.reduce_sum(x, axes=(1,)), 0.4, 80),
    "what is computed, a row replaced": (lambda x: replaced(ops.add(x, x), first(x)), 82, 80),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_array_of_which_parts_are_seen_and_replaced_may_be_as_large_as_it_likes(
    name: str,
) -> None:
    program, elements, largest = PROGRAMS[name]
    outputs = [program(leaf(np.zeros(MANY_ROWS)))]
    extent = extent_of(cut(reachable(outputs), outputs).program)
    assert (extent.elements / BOUND, extent.largest / BOUND) == (elements, largest)
