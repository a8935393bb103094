"""The policy of the tiers, on recorded programs, against the best that could have been known."""

import statistics

from benchmarks.replay.policies import InUse
from benchmarks.replay.simulate import bound, seconds_of
from benchmarks.replay.trace import recorded

RATIOS = {trace.name: seconds_of(trace, InUse(trace)) / bound(trace) for trace in recorded()}


def test_the_policy_is_near_the_bound() -> None:
    assert len(RATIOS) >= 20
    assert statistics.geometric_mean(RATIOS.values()) <= 1.15
    assert max(RATIOS.values()) <= 1.6, RATIOS


def test_no_policy_is_better_than_the_bound() -> None:
    assert min(RATIOS.values()) >= 1.0 - 1e-9, RATIOS
