"""`numpy.random`: NumPy's own streams, to the bit."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest

import lazytensor.numpy as lnp
from lazytensor.core.settings import settings
from lazytensor.frontends.numpy.arrays.array import Lazy
from tests.core.processes import run
from tests.numpy.agreement import assert_agree
from tests.numpy.expressions import assert_equal, table


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "disk", False)
    monkeypatch.setattr(settings, "tier", "interpret")


@pytest.mark.parametrize("line", table("random"))
def test_as_numpy(line: str) -> None:
    assert_equal(line, rtol=0)


@pytest.mark.parametrize("make", ["default_rng", "RandomState"])
def test_a_stream_goes_on(make: str) -> None:
    """Draws of every kind, one after another, from one generator."""

    def program(np: Any) -> Any:
        rng = getattr(np.random, make)(7)
        found = [rng.normal(size=3), rng.uniform(np.arange(3), 5), rng.standard_normal(1)]
        found += [rng.permutation(4), rng.choice(np.arange(9), 2), rng.poisson(3.0, 2)]
        x = np.arange(6.0).reshape(3, 2)
        rng.shuffle(x)
        return [*found, x, rng.exponential(), rng.multivariate_normal([0, 0], np.eye(2))]

    assert_agree(program, rtol=0)


def test_draws_are_lazy_arrays() -> None:
    assert isinstance(lnp.random.rand(3), Lazy)
    assert isinstance(lnp.random.default_rng(0).normal(size=2), Lazy)
    assert isinstance(lnp.random.RandomState(0).randn(2), Lazy)
    assert isinstance(lnp.random.default_rng(0).normal(), float)


def test_generators_are_numpys_too() -> None:
    rng = lnp.random.default_rng(0)
    assert isinstance(rng, numpy.random.Generator)
    assert isinstance(rng, lnp.random.Generator)
    assert lnp.random.default_rng(rng) is rng
    assert isinstance(lnp.random.RandomState(0), numpy.random.RandomState)
    assert isinstance(rng.spawn(2)[0], lnp.random.Generator)
    assert lnp.random.SeedSequence is numpy.random.SeedSequence


@pytest.mark.parametrize("make", ["default_rng", "RandomState"])
def test_pickling(make: str) -> None:
    rng = getattr(lnp.random, make)(3)
    rng.standard_normal(3)
    again = pickle.loads(pickle.dumps(rng))
    assert rng.standard_normal(5).tolist() == again.standard_normal(5).tolist()


def test_state() -> None:
    rng = lnp.random.RandomState(3)
    state = rng.get_state()
    first = rng.randn(3).tolist()
    rng.set_state(state)
    assert rng.randn(3).tolist() == first
    rng.seed(3)
    assert rng.randn(3).tolist() == first


@pytest.mark.parametrize("draw", ["numpy.random.rand()", "random.random()"])
def test_the_first_compile_draws_nothing(draw: str) -> None:
    """Linear algebra imports jax, which draws from NumPy's stream."""
    program = f"""
        import random, sys
        import numpy
        import lazytensor.numpy as np
        numpy.random.seed(7), random.seed(7)
        expected = {draw}
        numpy.random.seed(7), random.seed(7)
        numpy.asarray(np.linalg.qr(np.ones((150, 150)))[0])
        print("jax" in sys.modules, {draw} == expected)
    """
    assert run(program, LAZYTENSOR_TIER="compile").stdout.split() == ["True", "True"]
