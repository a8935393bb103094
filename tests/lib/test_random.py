"""Random numbers: a seed gives the same ones anywhere, and their moments are the distribution's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lazytensor.core import ops
from lazytensor.core.ir.dtypes import F32, F64
from lazytensor.core.ir.node import Node
from lazytensor.core.lib import distributions, random
from lazytensor.core.lib.random import RandomStream
from lazytensor.core.settings import settings
from tests.lib.compute import call

COUNT = 40_000


def _full(value: float) -> Node:
    return ops.leaf(np.full(COUNT, value))


DRAWS: dict[str, tuple[Callable[[RandomStream], Node], float, float]] = {
    "uniform": (lambda s: random.uniform((COUNT,), F64, s), 1 / 2, 1 / 12),
    "uniform f32": (lambda s: random.uniform((COUNT,), F32, s), 1 / 2, 1 / 12),
    "positive": (lambda s: random.positive_uniform((COUNT,), s), 1 / 2, 1 / 12),
    "normal": (lambda s: random.normal((COUNT,), F64, s), 0, 1),
    "exponential": (lambda s: random.exponential((COUNT,), F64, s), 1, 1),
    "whole numbers": (lambda s: random.whole_numbers((COUNT,), 3, 6, s), 5.5, 35 / 12),
    "gamma below 1": (lambda s: distributions.gamma(_full(0.4), s), 0.4, 0.4),
    "gamma": (lambda s: distributions.gamma(_full(7.0), s), 7, 7),
    "poisson of few": (lambda s: distributions.poisson(_full(2.5), s), 2.5, 2.5),
    "poisson of many": (lambda s: distributions.poisson(_full(40.0), s), 40, 40),
    "binomial of few": (lambda s: distributions.binomial(_full(9.0), _full(0.3), s), 2.7, 1.89),
    "binomial of many": (lambda s: distributions.binomial(_full(90.0), _full(0.6), s), 54, 21.6),
    "dirichlet": (
        lambda s: distributions.dirichlet(ops.leaf(np.full((COUNT, 2), 2.0)), s), 1 / 2, 1 / 20),
    "categories": (
        lambda s: random.categories(ops.leaf(np.array([1.0, 0.0, 3.0])), COUNT, s), 1.5, 0.75),
}  # fmt: skip
"""Per distribution: draws, their mean and their variance."""


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("tier", ["compile", "auto"])
def test_moments_are_the_distributions(
    name: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "tier", tier)
    draw, mean, variance = DRAWS[name]
    (found,) = call(lambda: draw(RandomStream(11)))
    (again,) = call(lambda: draw(RandomStream(11)))
    np.testing.assert_array_equal(found, again)
    bound = 5 * np.sqrt(variance / COUNT)
    assert abs(found.mean() - mean) < bound
    assert abs(found.var() / variance - 1) < 0.06


def test_a_stream_goes_on() -> None:
    stream = RandomStream(5)
    first, second = (call(lambda: random.uniform((8,), F64, stream))[0] for _ in range(2))
    assert not set(first.tolist()) & set(second.tolist())
    stream.begin(5)
    np.testing.assert_array_equal(call(lambda: random.uniform((8,), F64, stream))[0], first)


def test_what_is_drawn_without_replacement_is_all_different() -> None:
    weights = np.array([0.5, 0.0, 2.0, 1.0])
    (places,) = call(random.categories_apart, weights, 3, RandomStream(2))
    assert sorted(places.tolist()) == [0, 2, 3]
    (order,) = call(random.permutation, 50, RandomStream(2))
    assert sorted(order.tolist()) == list(range(50))
