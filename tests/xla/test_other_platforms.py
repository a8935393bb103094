"""Forms that are emitted for other platforms only, run on this CPU: they give the same values."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from lazytensor.backends import xla
from lazytensor.backends.xla import slot_buffers
from lazytensor.backends.xla.module import module_of
from lazytensor.core import ops
from lazytensor.core.ir.op import Op
from lazytensor.core.runtime.scheduler import fetch
from tests.ops.sample import Sample
from tests.ops.test_laws import assert_all_same, computed, samples_of
from tests.xla.test_plain import allowed


@pytest.fixture(params=["cuda", "tpu"])
def platform(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, compiled: None, platform: str) -> None:
    """Emit for the platform, and take what it lacks: this CPU has it."""
    monkeypatch.setattr(xla, "module_of", partial(module_of, platform=platform))
    monkeypatch.setattr(slot_buffers, "are_joined", lambda _: False)
    monkeypatch.setattr("lazytensor.backends.xla.limits.LIMITS", {})


@pytest.mark.parametrize("op", [ops.convolution, ops.dot_general], ids=lambda op: op.name)
def test_products_that_are_split_are_the_same(op: Op) -> None:
    samples: list[Sample] = samples_of(op)
    expected = computed(samples, "interpret")
    actual = computed(samples, "compile")
    assert_all_same(list(map(allowed, samples)), actual, expected)


@pytest.mark.parametrize("shape", [(1000,), (64,), (65, 3), (3, 9000, 2)])
def test_running_sums_by_blocks_are_the_same(shape: tuple[int, ...]) -> None:
    axis = max(range(len(shape)), key=lambda i: shape[i])
    whole = np.random.default_rng(0).integers(-9, 9, shape)
    for array in (whole, whole.astype(float)):
        found = fetch(ops.cumsum(ops.leaf(array), axis=axis, reverse=False))
        assert np.array_equal(found, array.cumsum(axis))
        found = fetch(ops.cummax(ops.leaf(array), axis=axis, reverse=True))
        turned = np.flip(np.maximum.accumulate(np.flip(array, axis), axis), axis)
        assert np.array_equal(found, turned)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_logarithms_of_powers_are_exact(dtype: str) -> None:
    powers = np.array([1.0, 2.0, 4.0, 2.0**20, 0.5, 2.0**-30], dtype)
    assert np.array_equal(fetch(ops.log2(ops.leaf(powers))), np.log2(powers))
