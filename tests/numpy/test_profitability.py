"""An account of recording: arrays count as small where it has lost, for a while, in its thread."""

from collections.abc import Iterator

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.interpreter.work import extent_of
from lazytensor.core.ir.graph import reachable
from lazytensor.core.ir.node import Node
from lazytensor.core.ir.op import leaf, starts
from lazytensor.core.ir.program import cut
from lazytensor.core.runtime.cost_model import LEAST_SHARE, MANY_SIZES
from lazytensor.core.runtime.program_cache import Entry
from lazytensor.core.runtime.shape_buckets import Family, Growth
from lazytensor.core.runtime.tier_timing import TRIALS, WARMING
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.host import profitability
from lazytensor.frontends.numpy.host.bound import is_raised, put_back, setting
from lazytensor.frontends.numpy.host.profitability import Account

BOUND = 100
RUN = 1.0  # seconds of one run by XLA
ENOUGH = 20  # runs that lose more than `LOSS` together, each as much as one may


@pytest.fixture(autouse=True)
def bound(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "small", BOUND)
    monkeypatch.setattr(settings, "tier", "auto")
    monkeypatch.setattr(profitability, "MOST", 1.0)
    monkeypatch.setattr(profitability, "PROCESSORS", np.inf)
    yield
    put_back()


def entry(size: int, numpys: float) -> Entry:
    """A program on arrays of `size` elements that took XLA `RUN` seconds and NumPy `numpys`."""
    x = leaf(np.zeros(size))
    outputs = [ops.add(x, x)]
    made = Entry(cut(reachable(outputs), outputs).program)
    made.spent = numpys
    made.trial.interpreted(numpys)
    for _ in range(WARMING + TRIALS):
        made.trial.compiled(RUN)
    for _ in range(WARMING + TRIALS):
        made.trial.interpreted(numpys)
    return made


def test_arrays_on_which_recording_loses_count_as_small_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(profitability, "FIRST", 1e-9)
    account = Account()
    losing = entry(2 * BOUND, 0.5)
    for interval in (1e-9, 2e-9):
        assert account.interval == interval
        account.note(losing, RUN)
        assert settings.small == 2 * BOUND + 1
        account.look()
        assert settings.small == BOUND


def chain(size: int, length: int) -> Entry:
    """A program of `length` operations that NumPy has run often, in `RUN` seconds at best."""
    node = leaf(np.zeros(size))
    for _ in range(length):
        node = ops.add(node, node)
    made = Entry(cut(reachable([node]), [node]).program, runs=WARMING + 1)
    made.trial.interpreted(RUN)
    return made


def test_loops_on_what_is_small_and_lazy_all_the_same_lose() -> None:
    account = Account()
    for _ in range(ENOUGH):
        account.note(chain(BOUND - 1, profitability.OF_A_LOOP - 1), RUN + 0.1)
    assert settings.small == BOUND
    account.note(chain(BOUND - 1, profitability.OF_A_LOOP), RUN + 0.1)
    assert settings.small == BOUND + 1
    assert account.settles
    account.note(chain(BOUND - 1, profitability.OF_A_LOOP), RUN + 0.1)  # no more while it holds
    assert account.seconds == 0.0


@pytest.mark.parametrize("size", [BOUND - 1, profitability.SPAN * BOUND + 1])
def test_other_sizes_do_not_count(size: int) -> None:
    account = Account()
    account.note(entry(size, 0.5), RUN)
    assert settings.small == BOUND


@pytest.mark.parametrize("measured", [False, True])
def test_of_larger_arrays_only_what_is_measured_counts(measured: bool) -> None:
    account, size = Account(), profitability.SPAN * BOUND + 1
    account.lost(2 * profitability.LOSS, size, measured)
    assert settings.small == (size + 1 if measured else BOUND)


def test_what_larger_arrays_gain_makes_up_for_that() -> None:
    account, size = Account(), profitability.SPAN * BOUND + 1
    account.note(entry(size, 1.5), RUN)
    account.lost(2 * profitability.LOSS, size, measured=True)
    assert settings.small == BOUND


def test_what_wins_elsewhere_counts_too() -> None:
    account = Account()
    winning, losing = entry(2 * BOUND, 1.2), entry(3 * BOUND, 0.9)
    for _ in range(9):
        account.note(winning, RUN)
        account.note(losing, RUN)
        assert settings.small == BOUND
    account.note(losing, RUN)
    account.note(losing, RUN)
    assert settings.small == 3 * BOUND + 1


def interpreted(size: int, runs: int) -> Entry:
    """A program that NumPy has run so often, in `RUN` seconds at best, and XLA never."""
    made = Entry(entry(size, RUN).program, runs=runs)
    made.trial.interpreted(RUN)
    return made


def test_what_costs_more_than_xla_can_gain_loses() -> None:
    account = Account()
    most = (1 - LEAST_SHARE) * RUN  # what there is to gain
    for _ in range(ENOUGH):
        account.note(interpreted(2 * BOUND, WARMING + 1), RUN + most - 0.1)
        account.note(interpreted(2 * BOUND, WARMING), 3 * RUN)  # all is new
    assert settings.small == BOUND
    account.note(interpreted(2 * BOUND, WARMING + 1), RUN + most + 0.1)
    assert settings.small == 2 * BOUND + 1


@pytest.mark.parametrize(
    ("sizes", "refusals"), [(MANY_SIZES, 1), (MANY_SIZES - 1, 1), (MANY_SIZES, 0)]
)
def test_programs_that_never_come_again_lose(sizes: int, refusals: int) -> None:
    account, family = Account(), Family(wanted=0, sizes=sizes, refusals=refusals)
    for _ in range(ENOUGH):
        new = interpreted(2 * BOUND, 1)
        new.growth = Growth(family)
        account.note(new, RUN)
    lose = sizes >= MANY_SIZES and refusals > 0
    assert settings.small == (2 * BOUND + 1 if lose else BOUND)


def test_one_long_run_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(settings, "small", BOUND)
    account, losing = Account(), entry(2 * BOUND, 0.5)
    account.note(losing, 100 * RUN)
    assert settings.small == BOUND
    for _ in range(ENOUGH):
        account.note(losing, 100 * RUN)
    assert settings.small > BOUND


def test_the_largest_arrays_that_lose_are_what_becomes_small() -> None:
    account = Account()
    account.note(entry(3 * BOUND, 1.01), RUN)
    account.note(entry(2 * BOUND, 0.5), RUN)
    assert settings.small == 2 * BOUND + 1


def test_a_cut_that_is_waited_for_takes_its_own_time_too() -> None:
    account = Account()
    even = entry(2 * BOUND, 1.1)
    account.note(even, 0.2)
    assert settings.small == BOUND
    account.note(even, 0.2, cutting=0.3)
    account.note(even, 0.2, cutting=0.3)
    assert settings.small == 2 * BOUND + 1


@pytest.mark.parametrize(("processors", "loses"), [(2, True), (4, False)])
def test_what_is_cut_while_xla_runs_takes_a_processor_from_it(
    monkeypatch: pytest.MonkeyPatch, processors: int, loses: bool
) -> None:
    monkeypatch.setattr(profitability, "PROCESSORS", processors)
    account = Account()
    account.note(entry(2 * BOUND, 1.1), 0.3)
    assert (settings.small > BOUND) is loses


def test_larger_arrays_may_come_to_be_small_after_smaller_ones() -> None:
    account = Account()
    for size in (2 * BOUND, 3 * BOUND):
        account.note(entry(size, 0.5), RUN)
        assert settings.small == size + 1
    account.note(entry(2 * BOUND, 0.5), RUN)
    assert (settings.small, setting()) == (3 * BOUND + 1, BOUND)
    account.until = 1e-9
    account.look()
    assert settings.small == 3 * BOUND + 1  # the process has not worked for so long
    account.until = account.worked = 1e-9
    account.look()
    assert settings.small == BOUND


def test_loops_over_parts_count_too() -> None:
    account = Account()
    account.note(entry(2 * BOUND, 1.02), RUN)
    account.lost(profitability.LOSS, 3 * BOUND)
    assert settings.small == BOUND
    account.lost(profitability.LOSS, (profitability.SPAN + 1) * BOUND)
    assert settings.small == BOUND
    account.lost(profitability.LOSS, 3 * BOUND)
    assert settings.small == 3 * BOUND + 1


def test_what_is_not_known_yet_does_not_count() -> None:
    account = Account()
    untried = entry(2 * BOUND, 0.5)
    untried.trial = type(untried.trial)()
    account.note(untried, RUN)
    assert settings.small == BOUND


@pytest.mark.parametrize("chosen", [0, 50])
def test_what_a_user_sets_holds(chosen: int) -> None:
    account = Account()
    losing = entry(2 * BOUND, 0.5)
    account.note(losing, RUN)
    settings.small = chosen
    account.look()
    assert settings.small == chosen
    assert not is_raised()
    if not chosen:
        account.note(losing, RUN)
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
    "a row of what is computed": (lambda x: first(ops.add(x, x)), 80, 80),
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
