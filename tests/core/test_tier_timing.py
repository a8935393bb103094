"""Which tier runs a program faster: when each is timed, and which is chosen."""

import pytest

from lazytensor.core.runtime import tier_timing as policy


@pytest.mark.parametrize(("again", "chosen"), [(2.0, True), (1.0, False), (0.6, False)])
def test_xla_is_tried_again_for_a_few_runs(again: float, chosen: bool) -> None:
    trial = policy.Trial()
    trial.interpreted(1.0)
    for _ in range(policy.WARMING + policy.TRIALS):
        trial.compiled(2.0)
    for _ in range(policy.WARMING + policy.TRIALS + policy.RUNS_UNTIL_RETIMED):
        assert trial.interprets()
        trial.interpreted(1.0)
    for _ in range(policy.WARMING_AGAIN + policy.TIMED_AGAIN):
        assert trial.is_open()
        trial.compiled(again)
    assert not trial.is_open()
    for _ in range(policy.WARMING + policy.TRIALS):  # where it may have become faster, NumPy's too
        assert trial.interprets()
        trial.interpreted(1.0)
    assert trial.interprets() is chosen


@pytest.mark.parametrize(
    ("seconds", "chosen"), [((1e-3, 2e-3), True), ((2e-3, 1e-3), False), ((1e-3, 1e-3), False)]
)
def test_tiers_are_compared_by_their_quickest_runs(
    seconds: tuple[float, float], chosen: bool
) -> None:
    trial = policy.Trial()
    assert not trial.is_open()
    trial.interpreted(seconds[0])
    outliers = (9.0, 9.0, 1.0, 3.0, 9.0)
    for outlier in (*[0.0] * policy.WARMING, *outliers):
        assert trial.is_open()
        assert not trial.interprets()
        trial.compiled(seconds[1] * outlier)
    for outlier in (*[9.0] * policy.WARMING, *outliers):
        assert trial.interprets()
        trial.interpreted(seconds[0] * outlier)
    while not trial.is_decided():
        trial.interpreted(seconds[0] * 9.0)
    assert not trial.is_open()
    assert trial.interprets() is chosen


def test_another_executable_is_timed_anew() -> None:
    trial = policy.Trial()
    trial.interpreted(1e-3)
    for _ in range(policy.WARMING + policy.TRIALS):
        trial.compiled(1.0)
    assert not trial.is_open()
    trial.renew()
    assert trial.is_open()
    assert not trial.interprets()


@pytest.mark.parametrize(
    ("seconds", "times", "tried"),
    [
        (1e-4, 0.9 * policy.NEAR_SHORT, True),
        (1e-4, 1.1 * policy.NEAR_SHORT, False),
        (2e-3, 0.9 * policy.NEAR_LONG, True),
        (2e-3, 1.1 * policy.NEAR_LONG, False),
        (1.0, 0.9 * policy.NEAR_LONGEST, True),
        (1.0, 1.1 * policy.NEAR_LONGEST, False),
    ],
)
def test_what_is_far_slower_is_not_tried_again(seconds: float, times: float, tried: bool) -> None:
    trial = policy.Trial()
    trial.interpreted(times * seconds)
    for _ in range(policy.WARMING + policy.TRIALS):
        trial.compiled(seconds)
    assert trial.interprets() is tried
    assert not trial.is_open()


def decided(numpys: float, xlas: float) -> policy.Trial:
    """A trial of runs that all took so long, and that has chosen."""
    trial = policy.Trial()
    trial.interpreted(numpys)
    while trial.is_open():
        trial.compiled(xlas)
    while not trial.is_decided():
        trial.interpreted(numpys)
    return trial


XLAS = 1e-4


@pytest.mark.parametrize(("numpys", "chosen"), [(2 * XLAS, False), (XLAS / 2, True)])
def test_the_interpreter_is_tried_again_too(numpys: float, chosen: bool) -> None:
    trial = decided(2 * XLAS, XLAS)
    for runs in (policy.RUNS_UNTIL_RETIMED, policy.AGAIN_AFTER * policy.RUNS_UNTIL_RETIMED):
        for _ in range(runs):
            assert trial.is_decided()
            assert not trial.interprets()
            trial.ran()
        for _ in range(policy.WARMING_AGAIN + policy.TIMED_AGAIN):
            assert trial.is_open()
            trial.compiled(XLAS)
        for _ in range(1 + policy.STILL_WARMING):
            assert trial.interprets()
            assert not trial.is_decided()
            trial.interpreted(numpys)
        assert trial.interprets() is chosen
        assert trial.gain(XLAS, 0.0) == pytest.approx(numpys - XLAS)  # what was learnt anew
        if chosen:
            break


def test_what_it_took_before_it_was_tried_is_not_compared() -> None:
    trial = policy.Trial()
    trial.interpreted(0.0)  # as where nothing is known
    while trial.is_open():
        trial.compiled(XLAS)
    while not trial.is_decided():
        trial.interpreted(2 * XLAS)
    assert not trial.interprets()
    assert trial.gain(XLAS, 0.0) == pytest.approx(XLAS)


def test_the_interpreter_is_timed_for_as_long_as_it_warms_up() -> None:
    trial = policy.Trial()
    trial.interpreted(5 * XLAS)
    while trial.is_open():
        trial.compiled(XLAS)
    warm = policy.WARMING + policy.TRIALS + 10
    for run in range(warm):
        assert trial.interprets()
        trial.interpreted(5 * XLAS * 0.9**run)
    for _ in range(policy.STILL_WARMING):
        assert not trial.is_decided()
        trial.interpreted(5 * XLAS * 0.9 ** (warm - 1))
    assert trial.is_decided()
    assert trial.interprets() is (5 * 0.9 ** (warm - 1) < 0.95)


def test_a_share_of_many_runs_is_the_interpreters() -> None:
    trial, runs = decided(2 * XLAS, XLAS), policy.RUNS_UNTIL_RETIMED
    while runs < 100 * policy.XLA_RUNS_PER_TRIAL:
        for _ in range(runs):
            trial.ran()
        while trial.is_open():
            trial.compiled(XLAS)
        timed = 0
        while trial.interprets():
            trial.interpreted(2 * XLAS)
            timed += 1
        assert timed == max(1 + policy.STILL_WARMING, runs // policy.XLA_RUNS_PER_TRIAL)
        runs *= policy.AGAIN_AFTER


@pytest.mark.parametrize(("times", "tried"), [(0.9, True), (1.1, False)])
@pytest.mark.parametrize(
    ("seconds", "near"),
    [(1e-4, policy.NEAR_SHORT), (2e-3, policy.NEAR_LONG), (1.0, policy.NEAR_LONGEST)],
)
def test_what_was_slower_when_warm_is_tried_again_if_it_was_not_much(
    seconds: float, near: float, times: float, tried: bool
) -> None:
    trial = decided(times * seconds * near**0.5, seconds)
    for _ in range(100 * policy.RUNS_UNTIL_RETIMED):
        trial.ran()
        if trial.is_open():
            break
    assert trial.is_open() is tried


def test_what_xla_saves_is_known_while_both_are_timed_again() -> None:
    trial = decided(2 * XLAS, XLAS)
    for _ in range(policy.RUNS_UNTIL_RETIMED):
        assert trial.saved() == XLAS
        trial.ran()
    assert trial.is_open()
    for _ in range(policy.WARMING_AGAIN + policy.TIMED_AGAIN):
        assert trial.saved() == XLAS
        trial.compiled(XLAS)
    assert not trial.is_decided()
    while not trial.is_decided():
        assert trial.saved() == XLAS
        trial.interpreted(2 * XLAS)
    assert trial.saved() == XLAS


def test_where_only_one_tier_has_run_nothing_is_known_to_be_saved() -> None:
    trial = policy.Trial()
    trial.interpreted(3.0)
    assert trial.saved() is None
    assert decided(1.0, 3.0).saved() == 0.0
