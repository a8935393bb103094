"""Which tier runs a program faster: when each is timed, and which is chosen."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lazytensor.core.policy import TRIALS, TRYING_SHARE
from lazytensor.core.runtime.tier_timing import Trial

XLAS = 1e-4
SECONDS = st.floats(1e-5, 1.0)


def run(trial: Trial, host: float, xla: float) -> float:
    """One run of a program that has an executable; the seconds that it took."""
    if trial.interprets():
        trial.interpreted(host)
        return host
    if trial.is_open():
        trial.compiled(xla)
    else:
        trial.ran()
    return xla


def begun(host: float, runs: int = 1) -> Trial:
    """A trial of a program that the host has run before there was an executable."""
    trial = Trial()
    for _ in range(runs):
        trial.interpreted(host)
    return trial


def test_nothing_is_timed_before_the_host_has_run() -> None:
    trial = Trial()
    assert not trial.is_open()
    assert not trial.interprets()


@pytest.mark.parametrize(("host", "chosen"), [(XLAS / 2, True), (XLAS, False), (2 * XLAS, False)])
def test_tiers_are_compared_by_their_quickest_runs(host: float, chosen: bool) -> None:
    trial = begun(9 * XLAS, 1000)
    for slower in (0.1, 9.0, 3.0, 1.0, 9.0, 2.0, 9.0, 9.0):  # the first does not count
        assert trial.is_open()
        trial.compiled(slower * XLAS)
    assert not trial.is_open()
    for slower in (9.0, 3.0, 1.0, 9.0, 2.0, 9.0, 9.0):
        assert not trial.is_decided()
        assert trial.interprets()
        trial.interpreted(slower * host)
    assert trial.is_decided()
    assert trial.interprets() is chosen
    assert trial.saved() == max(host - XLAS, 0.0)


def test_a_tier_is_timed_for_as_long_as_it_warms_up() -> None:
    trial, runs, seconds = begun(XLAS), 0, XLAS
    while runs < 20:
        assert trial.is_open()
        trial.compiled(seconds)
        runs, seconds = runs + 1, 0.9 * seconds
    for _ in range(TRIALS):
        assert trial.is_open()
        trial.compiled(seconds / 0.9)
    assert not trial.is_open()


def test_what_another_process_has_found_decides_until_both_are_timed_again() -> None:
    for host, xla in ((1.0, 3.0), (3.0, 1.0)):
        trial = begun(50.0)  # the first run is slow
        trial.inform((host, xla))
        assert trial.is_decided()
        assert trial.known == (host, xla)
        assert trial.interprets() is (host < xla)
        tried = {run(trial, xla, host) for _ in range(2000)}  # it is the other way round by now
        assert tried == {host, xla}
        assert trial.interprets() is (xla < host)


def test_the_better_executable_is_timed_where_another_process_has_timed_the_host_only() -> None:
    trial = Trial()
    trial.inform((1.0, float("inf")))
    assert trial.is_open()
    trial.compiled(9.0)  # which does not count
    trial.compiled(2.0)
    assert trial.interprets()


@given(host=SECONDS, xla=SECONDS, runs=st.integers(1, 300))
def test_trying_the_slower_tier_costs_a_bounded_share(host: float, xla: float, runs: int) -> None:
    trial = begun(host)
    taken = sum(run(trial, host, xla) for _ in range(runs))
    least = runs * min(host, xla)
    first = 2 * (host + xla)  # how slow a tier is shows in its first runs
    assert taken <= least + TRYING_SHARE * (taken + host) + first + 1e-9
    if taken * TRYING_SHARE > 20 * TRIALS * max(host, xla):
        assert (
            trial.interprets() is (host < xla)
            or abs(host - xla) <= TRYING_SHARE * xla
            or (not trial.is_decided())
        )


@pytest.mark.parametrize("faster", [0.5, 2.0])
def test_both_are_timed_again_at_doubling_intervals(faster: float) -> None:
    trial, timed, runs = begun(faster * XLAS, 1000), [], 0
    was_decided = False
    while runs < 2000:
        run(trial, faster * XLAS, XLAS)
        runs += 1
        if was_decided and not trial.is_decided():
            timed.append(runs)
        was_decided = trial.is_decided()
    gaps = [b - a for a, b in pairwise(timed)]
    assert len(gaps) > 2
    assert all(b > 1.5 * a for a, b in pairwise(gaps))


def test_one_slow_run_of_the_faster_tier_changes_nothing() -> None:
    trial = begun(3 * XLAS, 1000)
    for _ in range(200):
        run(trial, 3 * XLAS, XLAS)
    assert trial.is_decided()
    while trial.is_decided():  # until both are timed again
        run(trial, 3 * XLAS, XLAS)
    trial.compiled(99 * XLAS)
    for _ in range(TRIALS):
        assert not trial.interprets()
        run(trial, 3 * XLAS, XLAS)
    assert trial.known[1] == XLAS


@pytest.mark.parametrize("host", [0.5, 2.0])
def test_what_has_become_faster_is_found(host: float) -> None:
    trial = begun(host * XLAS, 1000)
    for _ in range(100):
        run(trial, host * XLAS, XLAS)
    assert trial.interprets() is (host < 1.0)
    for _ in range(3000):
        run(trial, XLAS / host, XLAS)
    while not trial.is_decided():
        run(trial, XLAS / host, XLAS)
    assert trial.interprets() is (host > 1.0)


def test_another_executable_is_timed_anew() -> None:
    trial = begun(XLAS / 2, 1000)
    for _ in range(50):
        run(trial, XLAS / 2, XLAS)
    assert trial.interprets()
    trial.renew()
    assert trial.is_open()
    assert not trial.interprets()


def test_another_executable_waits_until_it_may_be_tried() -> None:
    """Or XLA would run it untimed from then on, however slow it is."""
    trial = begun(XLAS / 2)
    while not trial.is_decided():
        run(trial, XLAS / 2, 9 * XLAS)
    trial.renew()
    runs = 0
    while not trial.is_open():
        assert trial.interprets()
        run(trial, XLAS / 2, 9 * XLAS)
        runs += 1
    assert 0 < runs < 10_000
    while not trial.is_decided():
        run(trial, XLAS / 2, XLAS / 9)
    assert not trial.interprets()


def test_what_was_found_is_known_while_both_are_timed_again() -> None:
    trial = begun(2 * XLAS, 1000)
    while not trial.is_decided():
        run(trial, 2 * XLAS, XLAS)
    for _ in range(200):
        run(trial, 2 * XLAS, XLAS)
        assert trial.saved() == XLAS


def test_where_only_one_tier_has_run_nothing_is_known_to_be_saved() -> None:
    assert begun(3.0).saved() is None
