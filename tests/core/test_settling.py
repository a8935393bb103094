"""Runs whose guards are looked at later: their values, failures, threads, forks and ends."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lazytensor
from lazytensor.core import ops
from lazytensor.core.observe import metrics
from lazytensor.core.ops.movement import reshaped
from lazytensor.core.runtime import scheduler
from lazytensor.core.runtime.locking import OUTSIDE_ELEMENTS
from lazytensor.core.runtime.program_cache import cache
from lazytensor.core.runtime.scheduler import fetch
from lazytensor.core.runtime.settling import deferred
from tests.core.arrays import Array, array
from tests.core.processes import attempt, run

N = OUTSIDE_ELEMENTS


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(lazytensor.settings, "tier", "compile")
    yield
    deferred.clear()


def positive(x: Array) -> Any:
    """The node of `x`, which is valid if its numbers are positive."""
    is_positive = ops.reduce_and(x.node > 0.0, axes=(0,))
    return ops.guarded(x.node, ops.guard(is_positive, error=ValueError, text="not positive"))


def step(x: Array, y: Array, factor: float = 2.0) -> None:
    """`x` times a factor, which has to be positive, and one more for `y`; nobody waits."""
    x[:] = x * factor
    x.holder.write(positive(x))
    y[:] = y + 1.0
    scheduler.sync(cause="a step", defers=True)


def pair() -> tuple[Array, Array]:
    return array(np.ones(N)), array(np.zeros(N))


def test_a_deferred_step_has_the_values_of_one_that_is_waited_for() -> None:
    x, y = pair()
    for taken in range(1, 6):
        step(x, y)
        assert len(deferred) == 1
        assert x.node.value is y.node.value is None
        if taken % 2:
            assert set(x.numpy()) == {2.0**taken}
            assert not deferred
        assert set((y + 0.0).numpy()) == {float(taken)}


def test_a_look_at_what_is_deferred_cuts_nothing() -> None:
    x, y = pair()
    step(x, y)
    before, meanwhile = metrics.snapshot()["cuts"], y + 1.0
    assert set(x.numpy()) == {2.0}
    assert meanwhile.node.value is None
    assert metrics.snapshot()["cuts"] == before


def test_the_graph_behind_is_gone_and_reads_of_it_are_forgotten() -> None:
    x, y = pair()
    part = x[1:9]
    known = []
    for _ in range(4):
        y[1:9] = part + y[1:9]
        behind = weakref.ref(y.node.operands[0])
        step(x, y)
        assert behind() is None
        assert y.node.operands == ()
        known.append(len(list(cache.entries())))
        if len(known) % 2:
            y.numpy()
    assert known[1:] == known[:-1]  # the same program, whether or not its values were looked at


def test_what_is_reshaped_again_is_the_deferred_node() -> None:
    x, y = pair()
    matrix = ops.reshape(ops.add(x.node, y.node), shape=(2, N // 2))
    step(x, y)
    again = reshaped(matrix, x.node.type)
    assert set(fetch(again)) == {1.0}


def test_a_failure_is_raised_at_the_next_cut_and_by_what_it_spoils_only() -> None:
    x, y = pair()
    step(x, y)
    step(x, y, -1.0)
    with pytest.raises(ValueError, match=r"not positive \(recorded at .*test_settling.py:\d+ in"):
        lazytensor.sync()
    with pytest.raises(ValueError, match="not positive"):
        x.numpy()
    assert set(y.numpy()) == {2.0}
    step(*pair())  # goes on with others
    lazytensor.sync()


def test_what_is_recorded_meanwhile_fails_too() -> None:
    x, y = pair()
    step(x, y, -1.0)
    after, other = x + 1.0, y + 1.0
    with pytest.raises(ValueError, match="not positive"):
        lazytensor.sync()
    with pytest.raises(ValueError, match="not positive"):
        after.numpy()
    assert set(other.numpy()) == {2.0}


def test_small_programs_are_waited_for() -> None:
    x, y = array(np.ones(8)), array(np.zeros(8))
    step(x, y)
    assert not deferred
    with pytest.raises(ValueError, match="not positive"):
        step(x, y, -1.0)


@pytest.mark.parametrize("tier", ["interpret", "auto"])
def test_what_the_host_runs_is_done(monkeypatch: pytest.MonkeyPatch, tier: str) -> None:
    monkeypatch.setattr(lazytensor.settings, "tier", tier)
    x, y = pair()
    step(x, y)
    assert not deferred
    with pytest.raises(ValueError, match="not positive"):
        step(x, y, -1.0)


def test_runs_that_the_user_wants_to_wait_for_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazytensor.settings, "wait", True)
    step(*pair())
    assert not deferred


def test_nothing_refers_to_a_run_that_is_settled() -> None:
    x, y = pair()
    step(x, y)
    (run,) = deferred.values()
    node = weakref.ref(x.node)
    x[:] = x * 1.0
    lazytensor.sync()
    gc.collect()
    assert node() is None
    assert run.run is None


@pytest.mark.parametrize("factor", [2.0, -1.0])
def test_any_thread_may_look_and_the_one_that_deferred_is_told(factor: float) -> None:
    x, y = pair()
    step(x, y, factor)
    seen: list[Any] = []

    def look() -> None:
        seen.append(set((y + 1.0).numpy()))
        try:
            seen.append(set(x.numpy()))
        except ValueError as error:
            seen.append(str(error))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen[0] == {2.0}
    if factor > 0:
        assert seen[1] == {factor}
        lazytensor.sync()
    else:
        assert "not positive" in seen[1]
        with pytest.raises(ValueError, match="not positive"):
            lazytensor.sync()
    assert not deferred


def test_other_threads_do_not_wait_for_what_they_do_not_need() -> None:
    step(*pair())
    other = threading.Thread(target=lambda: (array(np.ones(N)) + 1.0).numpy())
    other.start()
    other.join()
    assert [each.run is None for each in deferred.values()] == [False]


PROLOGUE = """
import os, sys
import lazytensor
from tests.core.test_settling import deferred, pair, step
lazytensor.settings.tier = "compile"
x, y = pair()
step(x, y)
"""


def test_a_forked_process_has_the_values() -> None:
    program = """
child = os.fork()
if child:
    print(os.waitpid(child, 0)[1])
print(f"{x.numpy()[0]} {y.numpy()[-1]}", flush=True)
if not child:
    os._exit(0)
"""
    assert run(PROLOGUE + program).stdout.split("\n") == ["2.0 1.0", "0", "2.0 1.0", ""]


def test_a_failure_at_the_end_is_told() -> None:
    done = attempt(PROLOGUE + "step(x, y, -1.0)")
    assert "ValueError: not positive (recorded at" in done.stderr


def test_a_process_may_end_before_the_values_are_there() -> None:
    assert run(PROLOGUE + "assert deferred").stderr == ""
